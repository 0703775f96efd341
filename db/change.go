package db

import (
	"context"
	"errors"

	"library-catalogue/graph/model"
)

var errNoFeed = errors.New("the feed of changes is not built yet")

// Changes returns a page of changes, oldest first.
func (s *Store) Changes(ctx context.Context, args model.ChangeArgs) (*model.ChangePage, error) {
	return nil, unavailable(errNoFeed)
}

// Follow calls fn with each page of new changes, in order, until ctx ends or fn fails. Errors:
// Unavailable for a subscriber that is too slow, and PositionGone for an unknown position.
func (s *Store) Follow(ctx context.Context, args model.ChangeArgs, fn func(context.Context, *model.ChangePage) error) error {
	return unavailable(errNoFeed)
}

// History returns the changes of one row, newest first. after is a position, or nil.
func (s *Store) History(ctx context.Context, typ model.CatalogueType, id model.ID, first int, after *string) (*model.ChangePage, error) {
	return nil, unavailable(errNoFeed)
}

// Position returns the newest position that the Snapshot sees.
func (s *Snapshot) Position(ctx context.Context) (string, error) {
	return "", unavailable(errNoFeed)
}

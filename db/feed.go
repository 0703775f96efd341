package db

import (
	"context"

	"library-catalogue/graph/model"
)

// Follow calls fn
func (s *Store) Follow(ctx context.Context, args model.ChangeArgs, fn func(context.Context, *model.ChangePage) error) error {
	return nil
}

package loader

import (
	"context"
	"slices"
	"sync"
	"time"

	"library-catalogue/db"
	"library-catalogue/graph/model"
)

// Past loads rows as they were at moments. Announced rows are fetched together with the first of
// them.
type Past[T any] struct {
	batch batch[db.Past, *T]

	mu      sync.Mutex
	pending []db.Past
}

func (p *Past[T]) init(wait time.Duration, rows db.Reader[T]) {
	p.batch.wait, p.batch.fetch = wait, rows.AsOf
}

// Load returns a row, or nil if it did not exist.
func (p *Past[T]) Load(ctx context.Context, key db.Past) (*T, error) {
	if err := p.loadPending(ctx, key); err != nil {
		return nil, err
	}
	return p.batch.load(ctx, key)
}

// loadPending fetches the announced rows if key is one of them.
func (p *Past[T]) loadPending(ctx context.Context, key db.Past) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.pending, key) {
		return nil
	}
	pending := p.pending
	p.pending = nil
	return p.batch.fetchLevel(ctx, pending)
}

// expect announces a row.
func (p *Past[T]) expect(moment model.Moment, id model.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending = append(p.pending, db.Past{Moment: moment, ID: id})
}

// History returns a page of the changes of a row, newest first. Rows that are requested at the same
// time share a look-up.
func (l *Loaders) History(ctx context.Context, id model.ID, args *model.HistoryArgs) (*model.ChangePage, error) {
	return l.histories.load(ctx, id, nil, args)
}

// primeHistory announces the rows that the rows of a history refer to.
func (l *Loaders) primeHistory(page *model.ChangePage) {
	for _, c := range page.Nodes {
		switch {
		case c.Book != nil:
			l.PastGenres.expect(*c.Book.Moment, c.Book.GenreID)
		case c.Genre != nil:
			l.PastCategories.expect(*c.Genre.Moment, c.Genre.CategoryID)
		}
	}
}

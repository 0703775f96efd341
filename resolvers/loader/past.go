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
type Past[T any] interface {
	// Load returns a row, or nil if it did not exist.
	Load(ctx context.Context, key db.Past) (*T, error)
	// expect announces a row.
	expect(at model.Position, id model.ID)
}

type pastLoader[T any] struct {
	batch batch[db.Past, *T]

	mu      sync.Mutex
	pending []db.Past
}

// newPast returns the loader of rows. prime announces the rows that a row refers to.
func newPast[T any](wait time.Duration, rows db.Reader[T], prime func(*T)) Past[T] {
	p := new(pastLoader[T])
	p.batch.wait = wait
	p.batch.fetch = func(ctx context.Context, keys []db.Past) (map[db.Past]*T, error) {
		found, err := rows.AsOf(ctx, keys)
		if err != nil {
			return nil, err
		}
		for _, row := range found {
			prime(row)
		}
		return found, nil
	}
	return p
}

func (p *pastLoader[T]) Load(ctx context.Context, key db.Past) (*T, error) {
	if err := p.loadPending(ctx, key); err != nil {
		return nil, err
	}
	return p.batch.load(ctx, key)
}

// loadPending fetches the announced rows if key is one of them.
func (p *pastLoader[T]) loadPending(ctx context.Context, key db.Past) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.pending, key) {
		return nil
	}
	pending := p.pending
	p.pending = nil
	return p.batch.fetchLevel(ctx, pending)
}

func (p *pastLoader[T]) expect(at model.Position, id model.ID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending = append(p.pending, db.Past{Position: at, ID: id})
}

// History returns a page of the changes of a row, newest first. Rows that are requested at the same
// time share a look-up.
func (l *Loaders) History(ctx context.Context, id model.ID, args *model.HistoryArgs) (*model.ChangePage, error) {
	return l.loadHistory(ctx, id, l.siblings(id, args.Type), args)
}

// siblings returns the ids of a list of a response that has the row, or nil.
func (l *Loaders) siblings(id model.ID, typ model.CatalogueType) []model.ID {
	switch typ {
	case model.TypeBook:
		return l.Books.siblings(id)
	case model.TypeGenre:
		return l.Genres.siblings(id)
	}
	return l.Categories.siblings(id)
}

// primeHistory announces the rows that the rows of a history refer to.
func (l *Loaders) primeHistory(page *model.ChangePage) {
	for _, c := range page.Nodes {
		switch {
		case c.Book != nil:
			l.primePastBook(c.Book)
		case c.Genre != nil:
			l.primePastGenre(c.Genre)
		}
	}
}

func (l *Loaders) primePastBook(b *model.Book)   { l.PastGenres.expect(*b.AsOf, b.GenreID) }
func (l *Loaders) primePastGenre(g *model.Genre) { l.PastCategories.expect(*g.AsOf, g.CategoryID) }

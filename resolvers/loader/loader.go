// Package loader batches the look-ups of one request: what many fields ask for
// one by one is fetched in one statement (graph-gophers/dataloader). It holds
// no rule of the catalogue.
package loader

import (
	"context"
	"sync"
	"time"

	"library-catalogue/db"
	"library-catalogue/graph/model"
)

// Wait is how long a batch waits for further keys.
const Wait = 200 * time.Microsecond

// Loaders are the batches of one request. What they fetched is kept until Clear.
type Loaders struct {
	Books      *Rows[model.Book]
	Genres     *Rows[model.Genre]
	Categories *Rows[model.Category]

	store  *db.Store
	memory *Memory
	wait   time.Duration
	make   sync.Once // the batches above, when they are first asked for

	mu       sync.Mutex
	revision *model.Revision // as of the first call of Revision; nil before it
	written  *int64          // the revision of genres and categories that a write saw; nil before one
	kept     *taxonomy       // of either revision; nil where it is not in memory
	edges    *Edges          // nil before the first call of EdgesFrom
}

// Edges are the batches of rows that belong to a parent.
type Edges struct {
	BooksOfGenre     *Children[*model.Book]
	BooksOfCategory  *Children[*model.Book]
	GenresOfCategory *Children[*model.Genre]
}

type contextKey struct{}

// With gives a context with loaders of its own, before which memory is asked.
// wait is how long a batch waits for further keys, as a rule Wait.
func With(ctx context.Context, store *db.Store, memory *Memory, wait time.Duration) context.Context {
	return context.WithValue(db.WithSearches(ctx), contextKey{}, &Loaders{store: store, memory: memory, wait: wait})
}

// From gives the loaders of ctx. It panics where With was not called.
func From(ctx context.Context) *Loaders {
	l := ctx.Value(contextKey{}).(*Loaders)
	l.make.Do(func() {
		store, wait := l.store, l.wait
		l.Books = newRows(wait, l.books, (*model.Book).RowID, l.SawBooks)
		l.Genres = remember(l, newRows(wait, store.GenresByID, (*model.Genre).RowID, l.SawGenres),
			func(t *taxonomy) map[model.ID]*model.Genre { return t.genres })
		l.Categories = remember(l, newRows(wait, store.CategoriesByID, (*model.Category).RowID, func([]*model.Category) {}),
			func(t *taxonomy) map[model.ID]*model.Category { return t.categories })
	})
	return l
}

// EdgesFrom gives the edges of ctx. It panics where With was not called.
func EdgesFrom(ctx context.Context) *Edges {
	l := From(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.edges == nil {
		store, wait := l.store, l.wait
		l.edges = &Edges{
			BooksOfGenre:     newChildren(wait, store.BooksOfGenres, store.CountBooksOfGenres, l.SawBooks).grouped(wait, store.GroupBooksOfGenres, l.SawGroups),
			BooksOfCategory:  newChildren(wait, store.BooksOfCategories, store.CountBooksOfCategories, l.SawBooks).grouped(wait, store.GroupBooksOfCategories, l.SawGroups),
			GenresOfCategory: newChildren(wait, store.GenresOfCategories, store.CountGenresOfCategories, l.SawGenres),
		}
	}
	return l.edges
}

// Revision tells where the catalogue stands: as of a moment after With, and the
// same at every call until Clear.
func Revision(ctx context.Context) (model.Revision, error) {
	return ctx.Value(contextKey{}).(*Loaders).at(ctx)
}

// SawBooks says that these books are being answered: if the genre of one is
// asked for, the genres of all are fetched.
func (l *Loaders) SawBooks(books []*model.Book) {
	ids := make([]model.ID, len(books))
	for i, b := range books {
		ids[i] = b.GenreID
	}
	l.Genres.expect(ids)
}

// SawGenres says that these genres are being answered: if the category of one
// is asked for, the categories of all are fetched.
func (l *Loaders) SawGenres(genres []*model.Genre) {
	ids := make([]model.ID, len(genres))
	for i, g := range genres {
		ids[i] = g.CategoryID
	}
	l.Categories.expect(ids)
}

// SawGroups says that these groups of books are being answered: if the genre or
// the category of one is asked for, those of all are fetched.
func (l *Loaders) SawGroups(groups []*model.BookGroup) {
	var genres, categories []model.ID
	for _, g := range groups {
		if g.GenreID != 0 {
			genres = append(genres, g.GenreID)
		}
		if g.CategoryID != 0 {
			categories = append(categories, g.CategoryID)
		}
	}
	l.Genres.expect(genres)
	l.Categories.expect(categories)
}

// SawTaxonomy says that a write of this request was the last one, and which revision
// of genres and categories it saw and did not move.
func (l *Loaders) SawTaxonomy(ctx context.Context, revision int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !db.Writing(ctx) {
		l.written = &revision
	}
}

func (l *Loaders) at(ctx context.Context) (model.Revision, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.revision == nil {
		r, err := l.store.Revision(ctx)
		if err != nil {
			return r, err
		}
		l.revision = &r
	}
	return *l.revision, nil
}

// books reads books, and with them where the catalogue stands, if that is not known
// yet: their genres are then in memory without a further statement.
func (l *Loaders) books(ctx context.Context, ids []model.ID) ([]*model.Book, error) {
	books, at, err := l.store.BooksAt(ctx, ids)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.revision == nil && !db.Writing(ctx) {
		l.revision = at
	}
	return books, err
}

// remember puts the memory before the rows of a type.
func remember[T any](l *Loaders, rows *Rows[T], of func(*taxonomy) map[model.ID]*T) *Rows[T] {
	rows.memory = func(ctx context.Context) (map[model.ID]*T, error) {
		kept, err := l.taxonomy(ctx)
		if kept == nil {
			return nil, err
		}
		return of(kept), nil
	}
	fetch := rows.fetch
	rows.fetch = func(ctx context.Context, ids []model.ID) ([]*T, error) {
		kept, err := l.taxonomy(ctx)
		if err != nil {
			return nil, err
		}
		if kept == nil && !db.Writing(ctx) {
			l.memory.missed()
		}
		return fetch(ctx, ids)
	}
	return rows
}

// taxonomy gives all genres and categories as they are for this request; nil where
// the memory has no such.
func (l *Loaders) taxonomy(ctx context.Context) (*taxonomy, error) {
	if db.Writing(ctx) || l.memory.empty() {
		return nil, nil // the transaction may hold changes of its own
	}
	revision, err := l.taxonomyAt(ctx)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept == nil {
		l.kept = l.memory.at(revision)
	}
	return l.kept, nil
}

// taxonomyAt tells where genres and categories stand.
func (l *Loaders) taxonomyAt(ctx context.Context) (int64, error) {
	l.mu.Lock()
	written := l.written
	l.mu.Unlock()
	if written != nil {
		return *written, nil
	}
	revision, err := l.at(ctx)
	return revision.Taxonomy, err
}

// Clear forgets all that was fetched. A write calls it, since it may have
// changed any of it.
func (l *Loaders) Clear() {
	l.Books.clear()
	l.Genres.clear()
	l.Categories.clear()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.revision, l.written, l.kept, l.edges = nil, nil, nil, nil
}

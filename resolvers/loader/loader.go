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
	Books      Rows[model.Book]
	Genres     Rows[model.Genre]
	Categories Rows[model.Category]

	store  *db.Store
	memory *ReferenceCache
	wait   time.Duration

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

// loading is a context with what belongs to one request.
type loading struct {
	context.Context
	loaders  Loaders
	searches db.Searches
}

// Value implements context.Context.
func (c *loading) Value(key any) any {
	switch key {
	case contextKey{}:
		return &c.loaders
	case db.SearchesKey{}:
		return &c.searches
	}
	return c.Context.Value(key)
}

// With gives a context with loaders of its own, before which memory is asked.
// wait is how long a batch waits for further keys, as a rule Wait.
func With(ctx context.Context, store *db.Store, memory *ReferenceCache, wait time.Duration) context.Context {
	c := &loading{Context: ctx, loaders: Loaders{store: store, memory: memory, wait: wait}}
	l := &c.loaders
	l.Books.init(l, &books)
	l.Genres.init(l, &genres)
	l.Categories.init(l, &categories)
	return c
}

// From gives the loaders of ctx. It panics where With was not called.
func From(ctx context.Context) *Loaders { return ctx.Value(contextKey{}).(*Loaders) }

// How the rows of each type are loaded.
var (
	books = kind[model.Book]{
		id: (*model.Book).RowID, fetch: (*Loaders).fetchBooks, saw: (*Loaders).PrimeBooks,
	}
	genres = kind[model.Genre]{
		id: (*model.Genre).RowID, saw: (*Loaders).PrimeGenres,
		fetch: func(l *Loaders, ctx context.Context, ids []model.ID) ([]*model.Genre, error) {
			return l.store.GenresByID(ctx, ids)
		},
		kept: func(t *taxonomy) map[model.ID]*model.Genre { return t.genres },
	}
	categories = kind[model.Category]{
		id: (*model.Category).RowID, saw: func(*Loaders, []*model.Category) {},
		fetch: func(l *Loaders, ctx context.Context, ids []model.ID) ([]*model.Category, error) {
			return l.store.CategoriesByID(ctx, ids)
		},
		kept: func(t *taxonomy) map[model.ID]*model.Category { return t.categories },
	}
)

// EdgesFrom gives the edges of ctx. It panics where With was not called.
func EdgesFrom(ctx context.Context) *Edges {
	l := From(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.edges == nil {
		store, wait := l.store, l.wait
		l.edges = &Edges{
			BooksOfGenre:     newChildren(wait, store.BooksOfGenres, store.CountBooksOfGenres, l.PrimeBooks).grouped(wait, store.GroupBooksOfGenres, l.PrimeGroups),
			BooksOfCategory:  newChildren(wait, store.BooksOfCategories, store.CountBooksOfCategories, l.PrimeBooks).grouped(wait, store.GroupBooksOfCategories, l.PrimeGroups),
			GenresOfCategory: newChildren(wait, store.GenresOfCategories, store.CountGenresOfCategories, l.PrimeGenres),
		}
	}
	return l.edges
}

// Revision tells where the catalogue stands: as of a moment after With, and the
// same at every call until Clear.
func Revision(ctx context.Context) (model.Revision, error) {
	return From(ctx).at(ctx)
}

// PrimeBooks says that these books are being answered: if the genre of one is
// asked for, the genres of all are fetched.
func (l *Loaders) PrimeBooks(books []*model.Book) {
	ids := make([]model.ID, len(books))
	for i, b := range books {
		ids[i] = b.GenreID
	}
	l.Genres.expect(ids)
}

// PrimeGenres says that these genres are being answered: if the category of one
// is asked for, the categories of all are fetched.
func (l *Loaders) PrimeGenres(genres []*model.Genre) {
	ids := make([]model.ID, len(genres))
	for i, g := range genres {
		ids[i] = g.CategoryID
	}
	l.Categories.expect(ids)
}

// PrimeGroups says that these groups of books are being answered: if the genre or
// the category of one is asked for, those of all are fetched.
func (l *Loaders) PrimeGroups(groups []*model.BookGroup) {
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

// PrimeTaxonomy says that a write of this request was the last one, and which revision
// of genres and categories it saw and did not move.
func (l *Loaders) PrimeTaxonomy(ctx context.Context, revision int64) {
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

// fetchBooks reads books, and with them where the catalogue stands, if that is not known
// yet: their genres are then in memory without a further statement.
func (l *Loaders) fetchBooks(ctx context.Context, ids []model.ID) ([]*model.Book, error) {
	books, at, err := l.store.BooksAt(ctx, ids)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.revision == nil && !db.Writing(ctx) {
		l.revision = at
	}
	return books, err
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

// missed tells the memory that rows had to be fetched because it has not got them.
func (l *Loaders) missed(ctx context.Context) error {
	kept, err := l.taxonomy(ctx)
	if kept == nil && err == nil && !db.Writing(ctx) {
		l.memory.missed()
	}
	return err
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
	return revision.Reference, err
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

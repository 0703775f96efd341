// Package loader batches the look-ups of one request: one statement fetches the rows of many fields
// (graph-gophers/dataloader). It contains no rule of the catalogue.
//
// Each look-up has one batch function, for GraphQL and REST. A single key goes through dataloader's
// Load, which waits for other keys. A caller that knows all keys of a level, such as the planned
// executor, calls the batch function immediately, which is faster (BenchmarkLoaders,
// BenchmarkPlan).
package loader

import (
	"context"
	"sync"
	"time"

	"library-catalogue/db"
	"library-catalogue/graph/model"
)

// Wait is how long a batch waits for more keys. The fields of one level are resolved in less time,
// and a statement takes longer.
const Wait = 200 * time.Microsecond

// Loaders are the batches of one Snapshot. They cache all that they fetch. The generic ones are interfaces,
// because a package compiles the methods of each generic struct that a type it uses contains.
type Loaders struct {
	Books      Rows[model.Book]
	Genres     Rows[model.Genre]
	Categories Rows[model.Category]

	PastGenres     Past[model.Genre]
	PastCategories Past[model.Category]

	Snapshot *db.Snapshot

	booksOfISBN batch[string, []*model.Book]
	changeSets  batch[model.ChangeSetID, *model.ChangeSet]
	loadHistory func(ctx context.Context, row model.ID, siblings []model.ID,
		args *model.HistoryArgs) (*model.ChangePage, error)

	cache *Cache
	wait  time.Duration

	mu        sync.Mutex
	reference *referenceData // data of the Snapshot's revision; nil if it is not cached
	relations *Relations     // nil before the first call of Relations
}

// Relations are the batches for children of parents.
type Relations struct {
	BooksOfGenre     Children[*model.Book]
	BooksOfCategory  Children[*model.Book]
	GenresOfCategory Children[*model.Genre]
}

type contextKey struct{}

// With returns a context with loaders for a Snapshot. wait is how long a batch waits for more keys,
// usually Wait.
func With(ctx context.Context, snapshot *db.Snapshot, cache *Cache, wait time.Duration) context.Context {
	l := &Loaders{Snapshot: snapshot, cache: cache, wait: wait}
	l.Books, l.Genres, l.Categories = newRows(l, &books), newRows(l, &genres), newRows(l, &categories)
	l.PastGenres = newPast(wait, snapshot.Genres, l.primePastGenre)
	l.PastCategories = newPast(wait, snapshot.Categories, func(*model.Category) {})
	l.booksOfISBN.wait, l.booksOfISBN.fetch = wait, l.fetchBooksOfISBN
	l.changeSets.wait, l.changeSets.fetch = wait, snapshot.ChangeSets
	l.loadHistory = newPerParent(wait, snapshot.History, l.primeHistory).load
	return context.WithValue(ctx, contextKey{}, l)
}

// From returns the loaders of ctx. It panics without With.
func From(ctx context.Context) *Loaders { return ctx.Value(contextKey{}).(*Loaders) }

// BooksOfISBN returns the first books of an ISBN with 13 digits. It does not wait for other ISBNs, because a timer
// would cost as much as the statement.
func (l *Loaders) BooksOfISBN(ctx context.Context, isbn string) ([]*model.Book, error) {
	lists, err := l.booksOfISBN.loadMany(ctx, []string{isbn})
	if err != nil {
		return nil, err
	}
	return lists[0], nil
}

// ChangeSet returns a change set, or nil. Sets that are requested at the same time share a look-up.
func (l *Loaders) ChangeSet(ctx context.Context, id model.ChangeSetID) (*model.ChangeSet, error) {
	return l.changeSets.load(ctx, id)
}

func (l *Loaders) fetchBooksOfISBN(ctx context.Context, isbns []string) (map[string][]*model.Book, error) {
	books := map[string][]*model.Book{}
	for _, isbn := range isbns {
		found, err := l.Snapshot.BooksByISBN(ctx, isbn)
		if err != nil {
			return nil, err
		}
		l.PrimeBooks(found)
		books[isbn] = found
	}
	return books, nil
}

// Definitions of how the rows of each type are loaded.
var (
	books = rowType[model.Book]{
		name: "books", id: (*model.Book).RowID, prime: (*Loaders).PrimeBooks,
		rows:  func(s *db.Snapshot) db.Reader[model.Book] { return s.Books },
		fetch: (*db.Snapshot).BooksByID,
	}
	genres = rowType[model.Genre]{
		name: "genres", id: (*model.Genre).RowID, prime: (*Loaders).PrimeGenres,
		rows: func(s *db.Snapshot) db.Reader[model.Genre] { return s.Genres },
		fetch: func(s *db.Snapshot, ctx context.Context, ids []model.ID) ([]*model.Genre, error) {
			return s.Genres.ByID(ctx, ids)
		},
		reference: func(d *referenceData) map[model.ID]*model.Genre { return d.genres },
	}
	categories = rowType[model.Category]{
		name: "categories", id: (*model.Category).RowID,
		prime: func(l *Loaders, rows []*model.Category) { l.Categories.list(rows) },
		rows:  func(s *db.Snapshot) db.Reader[model.Category] { return s.Categories },
		fetch: func(s *db.Snapshot, ctx context.Context, ids []model.ID) ([]*model.Category, error) {
			return s.Categories.ByID(ctx, ids)
		},
		reference: func(d *referenceData) map[model.ID]*model.Category { return d.categories },
	}
)

// Relations returns the batches for children of parents.
func (l *Loaders) Relations() *Relations {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.relations == nil {
		s := l.Snapshot
		l.relations = &Relations{
			BooksOfGenre:     newChildren[model.Book](l, s.BooksOfGenre, l.PrimeBooks, s.BooksOfGenre.Groups),
			BooksOfCategory:  newChildren[model.Book](l, s.BooksOfCategory, l.PrimeBooks, s.BooksOfCategory.Groups),
			GenresOfCategory: newChildren[model.Genre](l, s.GenresOfCategory, l.PrimeGenres, nil),
		}
	}
	return l.relations
}

// PrimeBooks announces books of a response: loading the genre of one fetches the genres of all.
func (l *Loaders) PrimeBooks(books []*model.Book) {
	l.Books.list(books)
	ids := make([]model.ID, len(books))
	for i, b := range books {
		ids[i] = b.GenreID
	}
	l.Genres.expect(ids)
}

// PrimeGenres announces genres of a response: loading the category of one fetches the categories of
// all.
func (l *Loaders) PrimeGenres(genres []*model.Genre) {
	l.Genres.list(genres)
	ids := make([]model.ID, len(genres))
	for i, g := range genres {
		ids[i] = g.CategoryID
	}
	l.Categories.expect(ids)
}

// PrimeGroups announces groups of books of a response: loading the genre or category of one fetches
// all of them.
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

// referenceData returns the cached genres and categories of the Snapshot's revision, or nil.
func (l *Loaders) referenceData(ctx context.Context) (*referenceData, error) {
	if l.Snapshot.Writing() || l.cache.empty() {
		return nil, nil // the transaction may have changed them
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reference != nil {
		return l.reference, nil
	}
	err := l.Snapshot.ReadReference(ctx, func(revision int64) bool {
		l.reference = l.cache.at(revision)
		return l.reference != nil
	})
	return l.reference, err
}

// reportMiss reports to the reference cache that it lacks the Snapshot's revision.
func (l *Loaders) reportMiss(ctx context.Context) error {
	data, err := l.referenceData(ctx)
	if data == nil && err == nil && !l.Snapshot.Writing() {
		l.cache.reportMiss()
	}
	return err
}

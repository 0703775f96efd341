// Package loader batches the look-ups of one request: what many fields ask for
// one by one is fetched in one statement (graph-gophers/dataloader). It holds
// no rule of the catalogue.
package loader

import (
	"context"
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

	BooksOfGenre     *Children[*model.Book]
	BooksOfCategory  *Children[*model.Book]
	GenresOfCategory *Children[*model.Genre]
}

type contextKey struct{}

// With gives a context with loaders of its own. wait is how long a batch waits
// for further keys, as a rule Wait.
func With(ctx context.Context, store *db.Store, wait time.Duration) context.Context {
	l := new(Loaders)
	l.Books = newRows(wait, store.BooksByID, (*model.Book).RowID, l.SawBooks)
	l.Genres = newRows(wait, store.GenresByID, (*model.Genre).RowID, l.SawGenres)
	l.Categories = newRows(wait, store.CategoriesByID, (*model.Category).RowID, func([]*model.Category) {})
	l.BooksOfGenre = newChildren(wait, store.BooksOfGenres, store.CountBooksOfGenres, l.SawBooks)
	l.BooksOfCategory = newChildren(wait, store.BooksOfCategories, store.CountBooksOfCategories, l.SawBooks)
	l.GenresOfCategory = newChildren(wait, store.GenresOfCategories, store.CountGenresOfCategories, l.SawGenres)
	return context.WithValue(ctx, contextKey{}, l)
}

// From gives the loaders of ctx. It panics where With was not called.
func From(ctx context.Context) *Loaders { return ctx.Value(contextKey{}).(*Loaders) }

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

// Clear forgets all that was fetched. A write calls it, since it may have
// changed any of it.
func (l *Loaders) Clear() {
	l.Books.clear()
	l.Genres.clear()
	l.Categories.clear()
	l.BooksOfGenre.clear()
	l.BooksOfCategory.clear()
	l.GenresOfCategory.clear()
}

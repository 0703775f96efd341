package servertest

import (
	"context"
	"testing"

	"library-catalogue/db"
	"library-catalogue/graph/model"
)

// StoreBook stores a book of one page, with its genre and category.
func StoreBook(t testing.TB, store *db.Store) {
	t.Helper()
	ctx := context.Background()
	_, err := store.Categories.Create(ctx, &model.CreateCategoryInput{Name: "C"})
	Must(t, err)
	_, err = store.Genres.Create(ctx, &model.CreateGenreInput{Name: "G", CategoryID: 1})
	Must(t, err)
	_, err = store.Books.Create(ctx, &model.CreateBookInput{
		Name: "B", Pages: 1, PublishedAt: model.Date{Year: 2000, Month: 1, Day: 1}, Author: "A", GenreID: 1,
	})
	Must(t, err)
}

// TooMuch is a query with a price of 1,002,002,001, most of it for the books.
const TooMuch = `{ categories(first: 1000) { nodes { genres(first: 1000) { nodes { all: books(first: 1000) { nodes { id } } } } } } }`

// Mutations has a document for each mutation. All but loadSample, which needs an empty
// catalogue, succeed after Shelves.
var Mutations = map[string]string{
	"createBook":     `mutation { createBook(input: {name: "New", pages: 1, publishedAt: "2000-01-01", author: "A", price: 1, genreId: 1}) { book { id } } }`,
	"updateBook":     `mutation { updateBook(input: {id: 1, patch: {name: "New"}}) { book { id } } }`,
	"deleteBook":     `mutation { deleteBook(input: {id: 1}) { deletedBookId } }`,
	"createGenre":    `mutation { createGenre(input: {name: "New", categoryId: 1}) { genre { id } } }`,
	"updateGenre":    `mutation { updateGenre(input: {id: 1, patch: {name: "New"}}) { genre { id } } }`,
	"deleteGenre":    `mutation { deleteGenre(input: {id: 1, onChildren: CASCADE}) { deletedGenreId } }`,
	"createCategory": `mutation { createCategory(input: {name: "New"}) { category { id } } }`,
	"updateCategory": `mutation { updateCategory(input: {id: 1, patch: {name: "New"}}) { category { id } } }`,
	"deleteCategory": `mutation { deleteCategory(input: {id: 1, onChildren: CASCADE}) { deletedCategoryId } }`,

	"upsertBook":       `mutation { upsertBook(input: {name: "New", pages: 1, publishedAt: "2000-01-01", author: "A", price: 1, genreId: 1}) { book { id } } }`,
	"upsertGenre":      `mutation { upsertGenre(input: {name: "New", categoryId: 1}) { genre { id } } }`,
	"upsertCategory":   `mutation { upsertCategory(input: {name: "New"}) { category { id } } }`,
	"createBooks":      `mutation { createBooks(input: {books: [{name: "New", pages: 1, publishedAt: "2000-01-01", author: "A", price: 1, genreId: 1}]}) { count } }`,
	"createGenres":     `mutation { createGenres(input: {genres: [{name: "New", categoryId: 1}]}) { count } }`,
	"createCategories": `mutation { createCategories(input: {categories: [{name: "New"}]}) { count } }`,
	"updateBooks":      `mutation { updateBooks(input: {filter: {id: {eq: 1}}, patch: {name: "New"}}) { count } }`,
	"updateGenres":     `mutation { updateGenres(input: {filter: {id: {eq: 1}}, patch: {name: "New"}}) { count } }`,
	"updateCategories": `mutation { updateCategories(input: {filter: {id: {eq: 1}}, patch: {name: "New"}}) { count } }`,
	"deleteBooks":      `mutation { deleteBooks(input: {filter: {id: {eq: 1}}}) { count } }`,
	"deleteGenres":     `mutation { deleteGenres(input: {filter: {id: {eq: 1}}, onChildren: CASCADE}) { count } }`,
	"deleteCategories": `mutation { deleteCategories(input: {filter: {id: {eq: 1}}, onChildren: CASCADE}) { count } }`,
	"restoreBook":      `mutation { restoreBook(input: {id: 1}) { book { id } } }`,
	"restoreGenre":     `mutation { restoreGenre(input: {id: 1}) { genre { id } } }`,
	"restoreCategory":  `mutation { restoreCategory(input: {id: 1}) { category { id } } }`,
	"markDifferent":    `mutation { markDifferent(input: {kind: SAME_BOOK, one: "1", other: "2"}) { different } }`,
	"loadSample":       `mutation { loadSample { count } }`,
}

// Revision returns the revision of the catalogue.
func Revision(t *testing.T, s *db.Store) int64 {
	t.Helper()
	r, err := s.Revision(t.Context())
	Must(t, err)
	return r.Catalogue
}

// BookInput and BookVariables are the fields of a book without its genre, in GraphQL and JSON.
const (
	BookInput     = `name: "B", pages: 1, publishedAt: "2000-01-01", author: "A", price: 1`
	BookVariables = `"name":"B","pages":1,"publishedAt":"2000-01-01","author":"A","price":1`
)

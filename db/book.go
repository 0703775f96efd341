package db

import (
	"context"

	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

var (
	bookTable = table[model.Book]{
		Table: query.Books, fields: model.BookFields,
		keys: func(b *model.Book) *string { return &b.Keys }, id: (*model.Book).RowID,
	}
	allBooks        = list[model.Book]{table: bookTable, from: "books r"}
	booksOfGenre    = list[model.Book]{table: bookTable, from: "books r", parent: "r.genre_id"}
	booksOfCategory = list[model.Book]{table: bookTable, from: "books r JOIN genres g ON g.id = r.genre_id", parent: "g.category_id"}
)

// BooksByID gives the books with these ids, in no order; what does not exist is
// left out.
func (s *Store) BooksByID(ctx context.Context, ids []model.ID) ([]*model.Book, error) {
	return byID(ctx, s, bookTable, ids)
}

// Books gives a page of all books, in its order.
func (s *Store) Books(ctx context.Context, p *model.Page) ([]*model.Book, error) {
	return allBooks.page(ctx, s, p, nil)
}

// CountBooks counts the books that match.
func (s *Store) CountBooks(ctx context.Context, m model.Match) (int, error) {
	return allBooks.count(ctx, s, m)
}

// BooksOfGenres gives the same page of the books of each genre.
func (s *Store) BooksOfGenres(ctx context.Context, genres []model.ID, p *model.Page) (map[model.ID][]*model.Book, error) {
	return booksOfGenre.pages(ctx, s, genres, p)
}

// CountBooksOfGenres counts the books of each genre that has any that match.
func (s *Store) CountBooksOfGenres(ctx context.Context, genres []model.ID, m model.Match) (map[model.ID]int, error) {
	return booksOfGenre.counts(ctx, s, genres, m)
}

// BooksOfCategories gives the same page of the books of each category.
func (s *Store) BooksOfCategories(ctx context.Context, categories []model.ID, p *model.Page) (map[model.ID][]*model.Book, error) {
	return booksOfCategory.pages(ctx, s, categories, p)
}

// CountBooksOfCategories counts the books of each category that has any that match.
func (s *Store) CountBooksOfCategories(ctx context.Context, categories []model.ID, m model.Match) (map[model.ID]int, error) {
	return booksOfCategory.counts(ctx, s, categories, m)
}

// GroupBooks gives the groups of all books.
func (s *Store) GroupBooks(ctx context.Context, g *model.Grouping) ([]*model.BookGroup, error) {
	groups, err := allBooks.groups(ctx, s, nil, g)
	return groups[0], err
}

// GroupBooksOfGenres gives the groups of the books of each genre.
func (s *Store) GroupBooksOfGenres(ctx context.Context, genres []model.ID, g *model.Grouping) (map[model.ID][]*model.BookGroup, error) {
	return booksOfGenre.groups(ctx, s, genres, g)
}

// GroupBooksOfCategories gives the groups of the books of each category.
func (s *Store) GroupBooksOfCategories(ctx context.Context, categories []model.ID, g *model.Grouping) (map[model.ID][]*model.BookGroup, error) {
	return booksOfCategory.groups(ctx, s, categories, g)
}

// CreateBook stores a book. A genre that does not exist is BadUserInput.
func (s *Store) CreateBook(ctx context.Context, in *model.CreateBookInput) (*model.Book, error) {
	book, _, err := s.CreateBookAt(ctx, in)
	return book, err
}

// UpdateBook changes a book. NotFound, Stale, or BadUserInput for a genre that
// does not exist.
func (s *Store) UpdateBook(ctx context.Context, id model.ID, p *model.BookPatch, version *int64) (*model.Book, error) {
	return update(ctx, s, bookTable, "Book", "genre_id", id, changesOf(p), version)
}

// DeleteBook deletes a book. NotFound or Stale.
func (s *Store) DeleteBook(ctx context.Context, id model.ID, version *int64) error {
	return s.Write(ctx, func(ctx context.Context) error {
		if err := s.lock(ctx, "books", "Book", id, version); err != nil {
			return err
		}
		_, err := s.exec(ctx, `DELETE FROM books WHERE id = $1`, id)
		return err
	})
}

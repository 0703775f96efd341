package db

import (
	"context"
	"errors"
	"slices"

	"library-catalogue/db/batch"
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

// BooksByID returns the books with these ids, in no order; what does not exist is
// left out.
func (s *Store) BooksByID(ctx context.Context, ids []model.ID) ([]*model.Book, error) {
	return byID(ctx, s, bookTable, ids)
}

// booksAt is books and the catalogue's revision as of the statement that read them.
type booksAt struct {
	books []*model.Book
	at    model.Revision // unknownRevision without books
}

// SharedBooksByID is as BooksByID, by a statement that calls share which wait at the
// same time.
func (s *Store) SharedBooksByID(ctx context.Context, ids []model.ID) ([]*model.Book, error) {
	if runsAlone(ctx) {
		return s.BooksByID(ctx, ids)
	}
	var at model.Revision
	note := readSetOf(ctx).begin(&at)
	found, err := s.booksByID.Do(ctx, ids)
	at = found.at
	note(err)
	return found.books, translate(err)
}

func (s *Store) booksAt(ctx context.Context, ids []model.ID) (found booksAt, err error) {
	found.books, found.at, err = byIDAt(withoutReadSet(ctx), s, bookTable, s.booksByIDSQL, ids)
	return found, err
}

func (s *Store) booksByIDBatcher() *batch.Batcher[[]model.ID, booksAt] {
	return batch.New(batch.Config[[]model.ID, booksAt]{
		RunOne: s.booksAt, RunBatch: s.booksAtBatch, Record: s.recordCounted, Go: s.goOrRun,
	})
}

func (s *Store) booksAtBatch(ctx context.Context, requests [][]model.ID) ([]booksAt, error) {
	all, err := s.booksAt(ctx, slices.Concat(requests...))
	if err != nil {
		return nil, err
	}
	found := make(map[model.ID]*model.Book, len(all.books))
	for _, book := range all.books {
		found[book.ID] = book
	}
	answers := make([]booksAt, len(requests))
	for i, ids := range requests {
		answers[i].at = all.at
		for _, id := range ids {
			if book := found[id]; book != nil {
				answers[i].books = append(answers[i].books, book)
			}
		}
	}
	return answers, nil
}

// Books returns a page of all books, in its order.
func (s *Store) Books(ctx context.Context, p *model.Page) ([]*model.Book, error) {
	return allBooks.page(ctx, s, p, nil)
}

// BookPositions returns where each book stands whose number in the order of a page is a
// multiple of every, at most limit of them, and the revision that they are of. Nothing
// may be searched for.
func (s *Store) BookPositions(ctx context.Context, p *model.Page, every, limit int) ([]*model.Position, model.Revision, error) {
	return allBooks.positions(ctx, s, p, every, limit)
}

// CorrectBooks returns what is searched for in place of a text; nil where the text is.
func (s *Store) CorrectBooks(ctx context.Context, text string) (*string, error) {
	return allBooks.correct(ctx, s, text)
}

// CountBooks counts the books that match.
func (s *Store) CountBooks(ctx context.Context, sel model.Selection) (int, error) {
	return allBooks.count(ctx, s, sel)
}

// BooksOfGenres returns the same page of the books of each genre.
func (s *Store) BooksOfGenres(ctx context.Context, genres []model.ID, p *model.Page) (map[model.ID][]*model.Book, error) {
	return booksOfGenre.pages(ctx, s, genres, p)
}

// CountBooksOfGenres counts the books of each genre that has any that match.
func (s *Store) CountBooksOfGenres(ctx context.Context, genres []model.ID, sel model.Selection) (map[model.ID]int, error) {
	return booksOfGenre.counts(ctx, s, genres, sel)
}

// BooksOfCategories returns the same page of the books of each category.
func (s *Store) BooksOfCategories(ctx context.Context, categories []model.ID, p *model.Page) (map[model.ID][]*model.Book, error) {
	return booksOfCategory.pages(ctx, s, categories, p)
}

// CountBooksOfCategories counts the books of each category that has any that match.
func (s *Store) CountBooksOfCategories(ctx context.Context, categories []model.ID, sel model.Selection) (map[model.ID]int, error) {
	return booksOfCategory.counts(ctx, s, categories, sel)
}

// GroupBooksOfGenres returns the groups of the books of each genre.
func (s *Store) GroupBooksOfGenres(ctx context.Context, genres []model.ID, g *model.Grouping) (map[model.ID][]*model.BookGroup, error) {
	return booksOfGenre.groups(ctx, s, genres, g)
}

// GroupBooksOfCategories returns the groups of the books of each category.
func (s *Store) GroupBooksOfCategories(ctx context.Context, categories []model.ID, g *model.Grouping) (map[model.ID][]*model.BookGroup, error) {
	return booksOfCategory.groups(ctx, s, categories, g)
}

// CreateBook stores a book. A genre that does not exist is BadUserInput.
func (s *Store) CreateBook(ctx context.Context, in *model.CreateBookInput) (*model.Book, error) {
	book, _, err := s.CreateBookAt(ctx, in)
	return book, err
}

// createdBook is a new book and the revision of genres and categories that its
// statement saw.
type createdBook struct {
	book      *model.Book
	reference int64
}

// CreateBookAt is as CreateBook, and returns the Reference of the revision that its
// statement saw. Calls that wait at the same time share a statement: of 32 callers at
// once each takes half the time on PostgreSQL, and a tenth on SQLite.
func (s *Store) CreateBookAt(ctx context.Context, in *model.CreateBookInput) (book *model.Book, reference int64, err error) {
	create := s.newBooks.Do
	if runsAlone(ctx) {
		create = s.createBook
	}
	created, err := create(ctx, in)
	if _, ended := errors.AsType[*model.Error](err); !ended && canceled(err) {
		err = inDoubt(err) // those who wait together may be stored all the same
	}
	return created.book, created.reference, translate(err)
}

func (s *Store) createBook(ctx context.Context, in *model.CreateBookInput) (created createdBook, err error) {
	created.book, err = create(ctx, s, newBooksAt(&created.reference), "genre_id", in.Book())
	return created, err
}

// newBooksAt is newBooks, whose INSERT also returns the Reference that it saw.
func newBooksAt(reference *int64) newRows[model.Book] {
	n := newBooks
	n.table.extra = []extraColumn{{`(SELECT reference FROM (` + revisionSQL + `) n)`, reference}}
	return n
}

func (s *Store) newBooksBatcher() *batch.Batcher[*model.CreateBookInput, createdBook] {
	return batch.New(batch.Config[*model.CreateBookInput, createdBook]{
		RunOne: s.createBook, RunBatch: s.createBookBatch, Record: s.recordCounted, Go: s.goOrRun,
	})
}

// createBookBatch stores books by one statement. Where it failed none was stored, so
// each can be stored alone, and none hears of what is wrong with another: a genre that
// is not there, or that somebody has locked.
func (s *Store) createBookBatch(ctx context.Context, inputs []*model.CreateBookInput) ([]createdBook, error) {
	books := make([]*model.Book, len(inputs))
	for i, in := range inputs {
		books[i] = in.Book()
	}
	var reference int64
	err := insert(ctx, s, newBooksAt(&reference), s.dialect.LockTimeout(batch.MaxLinger), books)
	if err != nil && !model.IsInDoubt(err) {
		return nil, errors.Join(batch.ErrSplit, err)
	}
	created := make([]createdBook, len(books))
	for i, book := range books {
		created[i] = createdBook{book, reference}
	}
	return created, err
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

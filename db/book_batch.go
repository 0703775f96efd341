package db

import (
	"context"
	"errors"
	"slices"
	"strconv"

	"library-catalogue/db/batch"
	"library-catalogue/db/changes"
	"library-catalogue/db/dialect"
	"library-catalogue/db/fault"
	"library-catalogue/graph/model"
)

// versionedBooks are books and the revision of the statement that read them.
type versionedBooks struct {
	books []*model.Book
	at    model.Revision // model.NoRevision without books
}

// BooksByID is like Books.ByID. Concurrent calls share a statement.
func (s *Snapshot) BooksByID(ctx context.Context, ids []model.ID) (books []*model.Book, err error) {
	if s.tx != nil {
		return s.Books.ByID(ctx, ids)
	}
	before, _ := s.Known()
	found, err := s.store.sharedBooksByID(ctx, ids)
	if err != nil {
		return nil, fault.Translate(err)
	}
	s.recordStatement(found.at, before)
	return found.books, nil
}

// maxCopies is the maximum number of books that BooksByISBN reads.
const maxCopies = 100

// BooksByISBN returns the first books of an ISBN with 13 digits, in order of their ids.
func (s *Snapshot) BooksByISBN(ctx context.Context, isbn string) (found []*model.Book, err error) {
	q := readStmt{text: s.store.byISBNSQL, args: []any{isbn}}
	err = s.read(ctx, q, func() scanRow { return bookMapping.appendTo(&found, nil) })
	return found, err
}

// byISBNSQL returns the statement of BooksByISBN. The index is on the folded text, which equals an ISBN.
func byISBNSQL(d *dialect.Dialect) string {
	return versioned("SELECT " + bookMapping.selected(d, "r") + " FROM books r WHERE " + d.SortKey("r.isbn_fold") +
		" = $1 AND r.isbn = $1 ORDER BY r.id LIMIT " +
		strconv.Itoa(maxCopies))
}

// readBooks reads books and their revision.
func (s *Store) readBooks(ctx context.Context, ids []model.ID) (found versionedBooks, err error) {
	snapshot := s.newSnapshot(nil)
	found.books, err = snapshot.Books.ByID(ctx, ids)
	found.at, _ = snapshot.Known()
	return found, err
}

func (s *Store) readBooksBatch(ctx context.Context, requests [][]model.ID) ([]versionedBooks, error) {
	all, err := s.readBooks(ctx, slices.Concat(requests...))
	if err != nil {
		return nil, err
	}
	found := make(map[model.ID]*model.Book, len(all.books))
	for _, book := range all.books {
		found[book.ID] = book
	}
	answers := make([]versionedBooks, len(requests))
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

// createdBook is a new book and the revision of genres and categories that its INSERT saw.
type createdBook struct {
	book      *model.Book
	reference int64
}

// CreateBook is like Books.Create. Concurrent calls share a statement. readBack can then read
// the book's genre and category from caches, at the revision that the INSERT saw.
func (s *Store) CreateBook(ctx context.Context, in *model.CreateBookInput, readBack *Snapshot) (*model.Book, error) {
	create := s.sharedCreateBook
	if txOf(ctx) != nil {
		create = s.createBook
	}
	created, err := create(ctx, newBookRequest{in, changes.Actor(ctx)})
	if _, ended := errors.AsType[*model.Error](err); !ended && fault.Canceled(err) {
		err = fault.InDoubt(err) // the batch may still be stored
	}
	if err != nil {
		return nil, fault.Translate(err)
	}
	readBack.created = &created.reference
	return created.book, nil
}

// newBookRequest is a new book and the actor to log, which a batch needs: a single INSERT takes it from ctx.
type newBookRequest struct {
	*model.CreateBookInput
	actor string
}

func (s *Store) createBook(ctx context.Context, in newBookRequest) (created createdBook, err error) {
	created.book, err = (&writer[model.Book]{s, &books, newBooksAt(&created.reference)}).Create(ctx, in)
	return created, err
}

// newBooksAt returns the INSERT of books that also returns the Reference.
func newBooksAt(reference *int64) newRows[model.Book] {
	n := newBooks
	n.mapping.extra = []extraColumn{{`(SELECT reference FROM (` + revisionSQL + `) n)`, reference}}
	return n
}

// createBookBatch stores books with one statement. If it fails, no book is stored and each request
// runs alone, so that a missing or locked genre of one request does not fail the others.
func (s *Store) createBookBatch(ctx context.Context, inputs []newBookRequest) ([]createdBook, error) {
	books := make([]*model.Book, len(inputs))
	var actors []string
	for i, in := range inputs {
		books[i] = in.Row()
		actors = append(actors, in.actor)
	}
	var reference int64
	n := newBooksAt(&reference)
	n.before = s.dialect.LockTimeout(batch.MaxLinger)
	n.actors = actors // also if all are empty: each book is a change set
	err := insert(ctx, s, n, books)
	if err != nil && !model.IsInDoubt(err) {
		return nil, errors.Join(batch.ErrSplit, err)
	}
	created := make([]createdBook, len(books))
	for i, book := range books {
		created[i] = createdBook{book, reference}
	}
	return created, err
}

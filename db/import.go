package db

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db/query"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

// importRows is how many rows one statement of an import finds or writes. The
// SQLite driver's time for a statement grows with the square of its parameters.
const importRows = 100

// importLock is the number of PostgreSQL's advisory lock that imports take.
const importLock = 7_305_140_115

// LockImports lets the transaction be the only import, of any process, until
// it ends: else two that bring the same book would both find that it is not
// there yet.
func (s *Store) LockImports(ctx context.Context) error {
	if !s.dialect.HasAdvisoryLocks {
		return nil // a writer is alone
	}
	_, err := s.exec(ctx, `SELECT pg_advisory_xact_lock($1)`, importLock)
	return err
}

// AnalyzeGrown is for the end of an import that added so many books. Where they are
// many beside those that were there, PostgreSQL is told to look at the tables: until it
// does so by itself, a minute later, it keeps plans that read small tables whole.
func (s *Store) AnalyzeGrown(ctx context.Context, added int) error {
	if !s.dialect.EstimatesRows {
		return nil // its plans do not depend on how many rows there are
	}
	var known float64
	err := s.getRow(ctx, &known, `SELECT reltuples FROM pg_class WHERE oid = 'books'::regclass`)
	if err != nil || float64(added) < 50+known/10 { // as autovacuum decides, unless it is told otherwise
		return err
	}
	_, err = s.exec(ctx, `ANALYZE books, books_search, genres, genres_search, categories, categories_search, vocabulary`)
	return err
}

// BooksKeyed returns the first book with each of these keys, in order of id, and
// holds them until the transaction ends, so that nobody else changes them.
func (s *Store) BooksKeyed(ctx context.Context, keys []model.BookKey) ([]*model.Book, error) {
	var ids []model.ID
	for part := range slices.Chunk(keys, importRows) {
		args := make([]any, 0, 3*len(part))
		for _, key := range part {
			args = append(args, key.Name, key.Author, collate.SortKey(key.Name))
		}
		// Both engines call the columns of VALUES column1, column2. A subquery for
		// each key makes PostgreSQL use the index books_name even where it has no
		// statistics yet, as while an import fills a new table; a join does not.
		var found []model.ID // 0 where there is none
		err := s.getRows(ctx, &found, s.numbered(`SELECT coalesce((
SELECT min(b.id) FROM books b WHERE `+s.dialect.SortKey("b.name_fold")+` = k.column3 AND b.name = k.column1 AND b.author = k.column2
), 0) FROM (VALUES `+tuples(len(part), 3)+`) AS k`), args...)
		if err != nil {
			return nil, err
		}
		ids = append(ids, slices.DeleteFunc(found, func(id model.ID) bool { return id == 0 })...)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return fetch(ctx, s, bookTable, `SELECT `+bookTable.selected(s.dialect, "r")+` FROM books r
WHERE `+s.dialect.In("r.id", "$1")+` ORDER BY r.id`+s.dialect.ForUpdate, s.dialect.Array(ids))
}

// FindBook returns the id of the first book with this key, which it holds until the
// transaction ends, or 0.
func (s *Store) FindBook(ctx context.Context, key model.BookKey) (model.ID, error) {
	books, err := s.BooksKeyed(ctx, []model.BookKey{key})
	if err != nil || len(books) == 0 {
		return 0, err
	}
	return books[0].ID, nil
}

// FindGenre is as FindBook, for a name within a category.
func (s *Store) FindGenre(ctx context.Context, name string, category model.ID) (model.ID, error) {
	return s.first(ctx, `SELECT id FROM genres WHERE name = $1 AND category_id = $2 ORDER BY id LIMIT 1`, name, category)
}

// FindCategory is as FindBook, for a name.
func (s *Store) FindCategory(ctx context.Context, name string) (model.ID, error) {
	return s.first(ctx, `SELECT id FROM categories WHERE name = $1 ORDER BY id LIMIT 1`, name)
}

func (s *Store) first(ctx context.Context, text string, args ...any) (model.ID, error) {
	var ids []model.ID
	err := s.getRows(ctx, &ids, text+s.dialect.ForUpdate, args...)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	return ids[0], nil
}

// ReplaceBooks returns books that are held by BooksKeyed new values. Every one is
// there, so that the INSERT always becomes an UPDATE: one that both engines
// know, and that PostgreSQL takes untyped parameters in.
func (s *Store) ReplaceBooks(ctx context.Context, books []*model.Book) error {
	columns := newBooks.columns()
	var set strings.Builder
	for _, column := range columns {
		if column != "name" && column != "author" { // which a book is known by
			set.WriteString(column + " = excluded." + column + ", ")
		}
	}
	for part := range slices.Chunk(books, importRows) {
		var args []any
		for _, b := range part {
			args = append(append(args, b.ID), newBooks.values(b)...)
		}
		_, err := s.exec(ctx, s.numbered(`INSERT INTO books AS r (id, `+strings.Join(columns, ", ")+`) VALUES `+tuples(len(part), len(columns)+1)+`
ON CONFLICT (id) DO UPDATE SET `+set.String()+`version = r.version + 1, updated_at = `+s.dialect.Now), args...)
		if err != nil {
			return retryForeignKey(err)
		}
	}
	return nil
}

// ErrNotEmpty is the error of Restore for a catalogue in which there is something.
var ErrNotEmpty = errors.New("the catalogue is not empty, and only an empty one takes a whole catalogue: give the URL of a new database")

// Restore runs fn in one transaction of an empty catalogue in which nobody else writes
// until it ends: all that fn stores is there then, or nothing is. New rows get ids behind
// those that fn has given. Unlike that of Write, fn is never run again.
func (s *Store) Restore(ctx context.Context, fn func(ctx context.Context) error) error {
	err := s.transact(ctx, s.writer, &sql.TxOptions{}, withTx(func(ctx context.Context) error {
		if _, err := s.exec(ctx, s.dialect.BeginRestore); err != nil {
			return err
		}
		var used bool
		err := s.getRow(ctx, &used, `SELECT EXISTS (SELECT 1 FROM categories) OR EXISTS (SELECT 1 FROM genres) OR EXISTS (SELECT 1 FROM books)`)
		if err != nil {
			return err
		}
		if used {
			return ErrNotEmpty
		}
		if err := fn(ctx); err != nil || !s.dialect.HasSequences {
			return err
		}
		for _, t := range []*query.Table{query.Categories, query.Genres, query.Books} {
			if _, err := s.exec(ctx, passIDsSQL(t.Name)); err != nil {
				return err
			}
		}
		return nil
	}))
	if errors.Is(err, errRetry) {
		return unavailable(err)
	}
	return err
}

// numbered returns a statement whose placeholders are ? as the engine wants it.
func (s *Store) numbered(text string) string { return sqlx.Rebind(s.dialect.BindType, text) }

// tuple writes (?, ?, …).
func tuple(columns int) string {
	return "(" + strings.TrimSuffix(strings.Repeat("?, ", columns), ", ") + ")"
}

// tuples writes (?, ?, …), (?, ?, …), …
func tuples(rows, columns int) string {
	return strings.TrimSuffix(strings.Repeat(tuple(columns)+", ", rows), ", ")
}

func anys[T any](values []T) []any {
	out := make([]any, len(values))
	for i, v := range values {
		out[i] = v
	}
	return out
}

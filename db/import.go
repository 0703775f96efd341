package db

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db/fault"
	"library-catalogue/db/query"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

// importRows is the number of rows in one statement of an import. The SQLite driver's time for a
// statement grows with the square of its parameters.
const importRows = 100

// importLock is the key of PostgreSQL's advisory lock for imports.
const importLock = 7_305_140_115

// LockImports blocks other imports, of any process, until the transaction ends. Without it, two
// imports of the same book would both find that it is missing.
func (s *Store) LockImports(ctx context.Context) error {
	if !s.dialect.HasAdvisoryLocks {
		return nil // SQLite has one writer
	}
	_, err := s.exec(ctx, `SELECT pg_advisory_xact_lock($1)`, importLock)
	return err
}

// AnalyzeGrown updates PostgreSQL's statistics after an import of many books, relative to the
// table. Autovacuum would do so a minute later, and until then plans read small tables in full.
func (s *Store) AnalyzeGrown(ctx context.Context, added int) error {
	if !s.dialect.EstimatesRows {
		return nil // its plans do not depend on row counts
	}
	var known float64
	err := s.getRow(ctx, &known, `SELECT reltuples FROM pg_class WHERE oid = 'books'::regclass`)
	if err != nil || float64(added) < 50+known/10 { // autovacuum's default threshold
		return err
	}
	_, err = s.exec(ctx, `ANALYZE books, books_search, genres, genres_search, categories, categories_search, vocabulary`)
	return err
}

// BooksKeyed returns the first book with each key, in order of id. It locks the books until the
// transaction ends.
func (s *Store) BooksKeyed(ctx context.Context, keys []model.BookKey) ([]*model.Book, error) {
	var ids []model.ID
	for part := range slices.Chunk(keys, importRows) {
		args := make([]any, 0, 3*len(part))
		for _, key := range part {
			args = append(args, key.Name, key.Author, collate.SortKey(key.Name))
		}
		// Both engines name the columns of VALUES column1, column2. With a subquery for each key,
		// unlike with a join, PostgreSQL uses the index books_name even without statistics, as in
		// the first import.
		var found []model.ID // 0: no book
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
	return fetch(ctx, s, bookMapping, `SELECT `+bookMapping.selected(s.dialect, "r")+` FROM books r
WHERE `+s.dialect.In("r.id", "$1")+` ORDER BY r.id`+s.dialect.ForUpdate, s.dialect.Array(ids))
}

// FindBook returns the id of the first book with this key, or 0. It locks the book until the
// transaction ends.
func (s *Store) FindBook(ctx context.Context, key model.BookKey) (model.ID, error) {
	books, err := s.BooksKeyed(ctx, []model.BookKey{key})
	if err != nil || len(books) == 0 {
		return 0, err
	}
	return books[0].ID, nil
}

// FindGenre is like FindBook, for the name of a genre in a category.
func (s *Store) FindGenre(ctx context.Context, name string, category model.ID) (model.ID, error) {
	return s.first(ctx, `SELECT id FROM genres WHERE name = $1 AND category_id = $2 ORDER BY id LIMIT 1`, name, category)
}

// FindCategory is like FindBook, for the name of a category.
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

// ReplaceBooks stores new values of books that BooksKeyed returned. The books exist, so the INSERT
// always becomes an UPDATE. Both engines support this form, and PostgreSQL accepts untyped
// parameters in it.
func (s *Store) ReplaceBooks(ctx context.Context, books []*model.Book) error {
	columns := newBooks.columns()
	var set strings.Builder
	for _, column := range columns {
		if column != "name" && column != "author" { // they identify the book
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

// ErrNotEmpty is the error of Restore for a catalogue that has rows.
var ErrNotEmpty = errors.New("the catalogue is not empty: give the URL of an empty database")

// usedSQL reports whether the catalogue has rows.
const usedSQL = `SELECT EXISTS (SELECT 1 FROM categories) OR EXISTS (SELECT 1 FROM genres) OR EXISTS (SELECT 1 FROM books)`

// Restore runs fn in one transaction of an empty catalogue and blocks other writers until it ends.
// All writes of fn are stored, or none, and logged after a reset of each type. It then moves the
// sequences past the ids that fn stored. Unlike Write, it never runs fn again.
func (s *Store) Restore(ctx context.Context, fn func(ctx context.Context) error) error {
	defer s.feed.Changed()
	err := s.transact(ctx, s.writePool, &sql.TxOptions{}, withTx(s.asActor(func(ctx context.Context) error {
		if _, err := s.exec(ctx, s.dialect.BeginRestore); err != nil {
			return err
		}
		var used bool
		err := s.getRow(ctx, &used, usedSQL)
		if err != nil {
			return err
		}
		if used {
			return ErrNotEmpty
		}
		if _, err := s.exec(ctx, s.dialect.LogReset); err != nil {
			return err
		}
		if err := fn(ctx); err != nil {
			return err
		}
		return s.passIDs(ctx)
	})))
	if errors.Is(err, model.ErrRetry) {
		return fault.Unavailable(err)
	}
	return err
}

// Errors of a copy that cannot go on.
var (
	ErrTargetChanged = errors.New("another program has changed the catalogue since the copy began: give the URL of an empty database")
	ErrSourceChanged = errors.New("the catalogue holds the copy of another one, or the source has changed since the copy began: give the URL of an empty database")
)

// Copying is a copy of another catalogue, stored in steps of one transaction each. The database
// records it, so that another process can go on with it.
type Copying struct {
	store            *Store
	source, revision int64
}

// BeginCopy begins the copy of a catalogue that has the revision source, or goes on with it. It
// returns ErrNotEmpty, ErrTargetChanged or ErrSourceChanged if the database holds anything else. The
// rows are logged after a reset of each type.
func (s *Store) BeginCopy(ctx context.Context, source int64) (*Copying, error) {
	c := &Copying{store: s, source: source}
	return c, s.Write(ctx, func(ctx context.Context) (err error) {
		if c.revision, err = s.lockForCopy(ctx); err != nil {
			return err
		}
		var used bool
		if err := s.getRow(ctx, &used, usedSQL); err != nil {
			return err
		}
		if !used {
			if _, err := s.exec(ctx, s.dialect.LogReset); err != nil {
				return err
			}
			return c.record(ctx, c.revision)
		}
		var begun []struct{ Source, Revision int64 }
		err = s.getRows(ctx, &begun, `SELECT source, revision FROM copies`)
		switch {
		case err != nil:
			return err
		case len(begun) == 0:
			return ErrNotEmpty
		case begun[0].Revision != c.revision:
			return ErrTargetChanged
		case begun[0].Source != source:
			return ErrSourceChanged
		}
		return nil
	})
}

// Step runs fn in one transaction, and blocks other writers until it ends. fn may run more than
// once. Step returns ErrTargetChanged if another program has written since the last step.
func (c *Copying) Step(ctx context.Context, fn func(ctx context.Context) error) error {
	var after int64
	err := c.store.Write(ctx, func(ctx context.Context) error {
		before, err := c.store.lockForCopy(ctx)
		if err != nil {
			return err
		}
		if before != c.revision {
			return ErrTargetChanged
		}
		if err := fn(ctx); err != nil {
			return err
		}
		if err := c.store.passIDs(ctx); err != nil {
			return err
		}
		r, err := c.store.readRevision(ctx, txOf(ctx))
		if err != nil {
			return err
		}
		after = r.Catalogue
		return c.record(ctx, after)
	})
	if err == nil {
		c.revision = after
	}
	return err
}

// lockForCopy blocks other writers until the transaction ends, and returns the revision.
func (s *Store) lockForCopy(ctx context.Context) (revision int64, err error) {
	if _, err := s.exec(ctx, s.dialect.BeginRestore); err != nil {
		return 0, err
	}
	r, err := s.readRevision(ctx, txOf(ctx))
	return r.Catalogue, err
}

func (c *Copying) record(ctx context.Context, revision int64) error {
	_, err := c.store.exec(ctx, c.store.numbered(`INSERT INTO copies (id, source, revision) VALUES (1, ?, ?)
ON CONFLICT (id) DO UPDATE SET source = excluded.source, revision = excluded.revision`), c.source, revision)
	return err
}

// passIDs moves the sequences past the ids of all rows.
func (s *Store) passIDs(ctx context.Context) error {
	if !s.dialect.HasSequences {
		return nil
	}
	for _, t := range []*query.Table{query.Categories, query.Genres, query.Books} {
		if _, err := s.exec(ctx, passIDsSQL(t.Name)); err != nil {
			return err
		}
	}
	return nil
}

// numbered replaces the placeholders ? with those of the engine.
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

package db

import (
	"cmp"
	"context"
	"iter"
	"slices"
	"strings"

	"github.com/lib/pq"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

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
	_, err = s.exec(ctx,
		`ANALYZE books, books_search, genres, genres_search, categories, categories_search, vocabulary`)
	return err
}

// BooksKeyed returns the books that have the name of a key and its author or its ISBN, in order of id. It locks them
// until the transaction ends. named has the names of keys (BookKey.Name) that stored books have, by any author.
func (s *Store) BooksKeyed(
	ctx context.Context, keys []model.BookKey,
) (books []*model.Book, named map[string]bool, err error) {
	wanted := make(map[[2]string]bool, 2*len(keys)) // name and author, name and ISBN
	names := make([]string, len(keys))
	for i, key := range keys {
		wanted[[2]string{key.Name, key.Author}], names[i] = true, key.Name
		if key.ISBN != "" {
			wanted[[2]string{key.Name, key.ISBN}] = true
		}
	}
	named = map[string]bool{}
	var ids []model.ID
	for part := range s.namesOf(names) {
		var found []struct {
			ID           model.ID
			Name, Author string
			ISBN         *string
		}
		if err := s.getRows(ctx, &found, s.alikeSQL("books", "r.id, r.name, r.author, r.isbn", len(part)),
			part...); err != nil {
			return nil, nil, err
		}
		for _, book := range found {
			key := (&model.Book{Name: book.Name, Author: book.Author, ISBN: book.ISBN}).Key()
			named[key.Name] = true
			if wanted[[2]string{key.Name, key.Author}] || key.ISBN != "" && wanted[[2]string{key.Name, key.ISBN}] {
				ids = append(ids, book.ID)
			}
		}
	}
	if len(ids) == 0 {
		return nil, named, nil
	}
	books, err = fetch(ctx, s, bookMapping, `SELECT `+bookMapping.selected(s.dialect, "r")+` FROM books r
WHERE `+s.dialect.In("r.id", "$1")+` ORDER BY r.id`+s.dialect.ForUpdate, s.dialect.Array(ids))
	return books, named, err
}

// namesOf yields the sort keys of names as arguments of alikeSQL: one array, or importRows keys at a time.
func (s *Store) namesOf(names []string) iter.Seq[[]any] {
	keys := make([]string, len(names))
	for i, name := range names {
		keys[i] = collate.SortKey(name)
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	if s.dialect.HasArrays {
		return slices.Values([][]any{{pq.Array(keys)}})
	}
	return slices.Chunk(anys(keys), importRows)
}

// alikeSQL returns the SELECT of the rows r by n sort keys of their names (namesOf), in order of id. Names
// with one identity have one sort key. PostgreSQL looks each key up in the index of names even without statistics, as
// in the first import, because OFFSET keeps it from a join.
func (s *Store) alikeSQL(table, columns string, n int) string {
	keys := `(VALUES ` + tuples(n, 1) + `) AS k`
	if s.dialect.HasArrays {
		keys = `unnest(CAST($1 AS text[])) AS k (column1)` // the name that VALUES gives its column
	}
	rows := table + ` r WHERE ` + s.dialect.SortKey("r.name_fold") + ` = k.column1`
	if s.dialect.HasLateral {
		rows = `LATERAL (SELECT r.* FROM ` + rows + ` OFFSET 0) r`
	}
	return s.numbered(`SELECT ` + columns + ` FROM ` + keys + ` CROSS JOIN ` + rows + ` ORDER BY r.id`)
}

// FindBook returns the id of the book that a new one means (model.MeetAgain), or 0. It locks the book until the
// transaction ends. The error is Conflict if several match.
func (s *Store) FindBook(ctx context.Context, row *model.Book) (model.ID, error) {
	key := row.Key()
	books, _, err := s.BooksKeyed(ctx, []model.BookKey{key})
	if err != nil {
		return 0, err
	}
	var keyed []model.KeyedBook
	for _, book := range books {
		keyed = append(keyed, model.KeyedBook{Book: book, Of: book.Key()})
	}
	switch met := model.MeetAgain(row, key, keyed); len(met) {
	case 0:
		return 0, nil
	case 1:
		return met[0].ID, nil
	default:
		return 0, model.Errorf(model.Conflict, "%s", model.AmbiguousBook(len(met)))
	}
}

// FindGenre returns the id of the genre with a name in a category: the one that is spelled alike, or else the first
// with the identity of the name, or 0. It locks the genre until the transaction ends.
func (s *Store) FindGenre(ctx context.Context, name string, category model.ID) (model.ID, error) {
	genres, err := s.Genres.Named(ctx, []string{name})
	if err != nil {
		return 0, err
	}
	genres = slices.DeleteFunc(genres, func(g *model.Genre) bool { return g.CategoryID != category })
	return s.held(ctx, "genres", choose(genres, func(g *model.Genre) (model.ID, bool) { return g.ID, g.Name == name }))
}

// FindCategory is like FindGenre, for the name of a category.
func (s *Store) FindCategory(ctx context.Context, name string) (model.ID, error) {
	categories, err := s.Categories.Named(ctx, []string{name})
	if err != nil {
		return 0, err
	}
	return s.held(ctx, "categories", choose(categories, func(c *model.Category) (model.ID, bool) {
		return c.ID, c.Name == name
	}))
}

// choose returns the id of the first row that is spelled alike, or else of the first, or 0.
func choose[T any](rows []*T, of func(*T) (id model.ID, alike bool)) (first model.ID) {
	for _, row := range rows {
		id, alike := of(row)
		if alike {
			return id
		}
		first = cmp.Or(first, id)
	}
	return first
}

// held locks a row until the transaction ends and returns its id, or 0 if it is gone.
func (s *Store) held(ctx context.Context, table string, id model.ID) (model.ID, error) {
	var ids []model.ID
	err := s.getRows(ctx, &ids, `SELECT id FROM `+table+` WHERE id = $1`+s.dialect.ForUpdate, id)
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
		set.WriteString(column + " = excluded." + column + ", ")
	}
	for part := range slices.Chunk(books, importRows) {
		var args []any
		for _, b := range part {
			args = append(append(args, b.ID), newBooks.values(b)...)
		}
		_, err := s.exec(ctx,
			s.numbered(`INSERT INTO books AS r (id, `+strings.Join(columns, ", ")+`) VALUES `+
				tuples(len(part), len(columns)+1)+`
ON CONFLICT (id) DO UPDATE SET `+set.String()+`version = r.version + 1, updated_at = `+s.dialect.Now), args...)
		if err != nil {
			return retryForeignKey(err)
		}
	}
	return nil
}

package db_test

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	_ "github.com/lib/pq"
	_ "modernc.org/sqlite"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// onEach runs a parallel test on each engine.
func onEach(t *testing.T, run func(t *testing.T, s *db.Store)) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) { run(t, open(t, url)) })
}

// onShelf runs a parallel test on each engine, with a shelf.
func onShelf(t *testing.T, run func(t *testing.T, s *db.Store, home shelf)) {
	onEach(t, func(t *testing.T, s *db.Store) { run(t, s, newShelf(t, s)) })
}

// open opens the database at url as one more process would.
func open(t *testing.T, url string) *db.Store { return openWith(t, url, db.Options{}) }

func openWith(t *testing.T, url string, options db.Options) *db.Store {
	t.Helper()
	s, err := db.Open(t.Context(), url, options)
	check(t, err)
	t.Cleanup(func() { _ = s.Close() }) // an error where the server was killed meanwhile
	return s
}

// migrated returns a store with the schema at url.
func migrated(t *testing.T, url string) *db.Store {
	t.Helper()
	s := open(t, url)
	check(t, s.Migrate(t.Context()))
	return s
}

// other opens the database at url as another program would, which knows nothing
// of the store.
func other(t *testing.T, url string) *sql.DB {
	t.Helper()
	driver := "postgres"
	if path, ok := strings.CutPrefix(url, "sqlite:"); ok {
		driver, url = "sqlite", "file:"+path+"?_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)"
	}
	program, err := sql.Open(driver, url)
	check(t, err)
	t.Cleanup(func() {
		if err := program.Close(); err != nil {
			t.Error(err)
		}
	})
	return program
}

// isSQLite tells the engines apart, where a test must.
func isSQLite(url string) bool { return strings.HasPrefix(url, "sqlite:") }

func exec(t *testing.T, program *sql.DB, text string, args ...any) {
	t.Helper()
	if _, err := program.ExecContext(t.Context(), text, args...); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

func ask[T any](t *testing.T, program *sql.DB, text string, args ...any) (answer T) {
	t.Helper()
	if err := program.QueryRowContext(t.Context(), text, args...).Scan(&answer); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return answer
}

// must returns a value that cannot fail to be there.
func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		check(t, err)
		return v
	}
}

// A shelf is the least that a book needs.
type shelf struct {
	category *model.Category
	genre    *model.Genre
	book     *model.Book
}

func newShelf(t *testing.T, s *db.Store) shelf {
	t.Helper()
	category := must[*model.Category](t)(s.Categories.Create(t.Context(), &model.CreateCategoryInput{Name: "Fiction"}))
	genre := must[*model.Genre](t)(s.Genres.Create(t.Context(), &model.CreateGenreInput{Name: "Fantasy", CategoryID: category.ID}))
	book := must[*model.Book](t)(s.Books.Create(t.Context(), newBook("The Hobbit", genre.ID)))
	return shelf{category, genre, book}
}

func newBook(name string, genre model.ID) *model.CreateBookInput {
	return &model.CreateBookInput{
		Name: name, Pages: 310, PublishedAt: model.Date{Year: 1937, Month: 9, Day: 21},
		Author: "J. R. R. Tolkien", Price: 1999, GenreID: genre,
	}
}

// addBooks stores n books of a genre and gives their ids, in order.
func addBooks(t *testing.T, program *sql.DB, n int, genre model.ID) (ids []model.ID) {
	t.Helper()
	rows, err := program.QueryContext(t.Context(), `INSERT INTO books (name, pages, published_at, author, price_cents, genre_id)
WITH RECURSIVE numbers (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM numbers WHERE i < $1)
SELECT 'One of many', i, '2000-01-01', 'Somebody', i, $2 FROM numbers RETURNING id`, n, genre)
	check(t, err)
	defer rows.Close()
	for rows.Next() {
		var id model.ID
		check(t, rows.Scan(&id))
		ids = append(ids, id)
	}
	check(t, rows.Err())
	slices.Sort(ids)
	return ids
}

// rename is the smallest patch of a book.
func rename(name string) *model.BookPatch {
	return &model.BookPatch{Name: graphql.OmittableOf(&name)}
}

// revision returns the catalogue's revision, as every reader sees it.
func revision(t *testing.T, s *db.Store) (revision int64) {
	t.Helper()
	err := s.ReadTransaction(t.Context(), model.NoReplica, func(ctx context.Context, snapshot *db.Snapshot) (err error) {
		revision, err = snapshot.Revision(ctx)
		return err
	})
	check(t, err)
	return revision
}

// wantCode demands an error with a code and a part of its message for users.
func wantCode(t *testing.T, err error, code model.Code, message string) {
	t.Helper()
	e, ok := errors.AsType[*model.Error](err)
	if !ok || e.Code != code || !strings.Contains(e.Message, message) {
		t.Errorf("the error is %v, want %s with %q", err, code, message)
	}
}

// together runs the functions at the same time and gives what they fail with.
func together(run ...func() error) error {
	var wait sync.WaitGroup
	start := make(chan struct{})
	failed := make([]error, len(run))
	for i, f := range run {
		wait.Go(func() {
			<-start
			failed[i] = f()
		})
	}
	close(start)
	wait.Wait()
	return errors.Join(failed...)
}

// times returns n functions that do the same.
func times(n int, f func() error) []func() error { return slices.Repeat([]func() error{f}, n) }

// check ends the test at an error.
func check(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

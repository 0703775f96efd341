package db_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
)

// TestCreateTogether stores books for many at once, some of a genre that is not
// there: each caller must get the own book or the own error, and nothing else
// may be stored.
func TestCreateTogether(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		home := newShelf(t, s)
		var statements atomic.Int64
		s.Observe(func(_ context.Context, statement stats.Statement) {
			if strings.HasPrefix(statement.Text, "INSERT INTO books") && !statement.Shared {
				statements.Add(1)
			}
		})
		const callers, each = 24, 20
		var run []func() error
		for i := range callers {
			run = append(run, func() error {
				for n := range each {
					in := newBook(fmt.Sprintf("%d of %d", n, i), home.genre.ID)
					if bad := (i+n)%17 == 0; bad {
						in.GenreID = 1 << 40
						if _, err := s.CreateBook(t.Context(), in, s.Unchecked(t.Context())); !model.IsCode(err, model.BadUserInput) {
							return fmt.Errorf("a book without a genre: %w", err)
						}
						continue
					}
					book, err := s.CreateBook(t.Context(), in, s.Unchecked(t.Context()))
					if err != nil {
						return err
					}
					found, err := s.Unchecked(t.Context()).Books.ByID(t.Context(), []model.ID{book.ID})
					if err != nil {
						return err
					}
					if book.Name != in.Name || len(found) != 1 || found[0].Name != in.Name {
						return fmt.Errorf("stored %q, got %q, found %v", in.Name, book.Name, found)
					}
				}
				return nil
			})
		}
		if err := together(run...); err != nil {
			t.Fatal(err)
		}
		stored, books := map[string]int{}, int64(0)
		for _, book := range must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.Page(t.Context(), &model.Page{Limit: 2 * callers * each})) {
			stored[book.Name]++
		}
		for i := range callers {
			for n := range each {
				want := 1
				if (i+n)%17 == 0 {
					want = 0
				}
				books += int64(want)
				if name := fmt.Sprintf("%d of %d", n, i); stored[name] != want {
					t.Errorf("%q is stored %d times, want %d", name, stored[name], want)
				}
			}
		}
		if statements.Load() >= books {
			t.Errorf("%d books took %d statements: none were stored together", books, statements.Load())
		}
	})
}

// TestBooksTogether reads books by their ids for many at once, the same and
// others, some of which do not exist, while books are created. Each caller must
// get the own ones, as they are at its call or later, and with few statements.
func TestBooksTogether(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		home := newShelf(t, s)
		var ids []model.ID
		for n := range 10 {
			ids = append(ids, must[*model.Book](t)(s.Books.Create(t.Context(), newBook(fmt.Sprint(n), home.genre.ID))).ID)
		}
		var statements atomic.Int64
		s.Observe(func(_ context.Context, statement stats.Statement) {
			if strings.Contains(statement.Text, "FROM revision") && strings.Contains(statement.Text, "books") && !statement.Shared {
				statements.Add(1)
			}
		})
		const callers, each = 24, 50
		run := []func() error{func() error {
			for n := range 20 {
				if _, err := s.Books.Create(t.Context(), newBook(fmt.Sprint("Another ", n), home.genre.ID)); err != nil {
					return err
				}
			}
			return nil
		}}
		for i := range callers {
			run = append(run, func() error {
				for n := range each {
					first, second := (i+n)%10, (i*n)%10
					asked := []model.ID{ids[first], 1 << 40, ids[second]}
					before, err := s.Revision(t.Context())
					if err != nil {
						return err
					}
					snapshot := s.Unchecked(t.Context())
					found, err := snapshot.BooksByID(t.Context(), asked)
					if err != nil {
						return err
					}
					at, known := snapshot.Known()
					if !known || at.Catalogue < before.Catalogue || at.Reference != before.Reference {
						return fmt.Errorf("read at %v, where the catalogue stood at %v before", at, before)
					}
					names := map[string]bool{}
					for _, book := range found {
						names[book.Name] = true
					}
					if !names[fmt.Sprint(first)] || !names[fmt.Sprint(second)] || len(names) > 2 {
						return fmt.Errorf("asked for %d and %d, found %v", first, second, names)
					}
				}
				return nil
			})
		}
		if err := together(run...); err != nil {
			t.Fatal(err)
		}
		if n := statements.Load(); n == 0 || n >= callers*each {
			t.Errorf("%d calls took %d statements: none were read together", callers*each, n)
		}
		if books, err := s.Unchecked(t.Context()).BooksByID(t.Context(), []model.ID{1 << 40}); len(books) != 0 || err != nil {
			t.Errorf("a book that is not there: %v, %v", books, err)
		}
	})
}

// TestLocksLeaveReads locks a row that more writes wait for than there are connections: reads go on.
func TestLocksLeaveReads(t *testing.T) {
	t.Parallel()
	url := catalogtest.Postgres(t)
	s, program := openWith(t, url, db.Options{MaxConns: db.MinConnections}), other(t, url)
	home := newShelf(t, s)
	tx := must[*sql.Tx](t)(program.Begin())
	must[sql.Result](t)(tx.Exec(`SELECT FROM books WHERE id = $1 FOR UPDATE`, home.book.ID))
	waiting := make(chan error, 1)
	go func() {
		waiting <- together(times(4*db.MinConnections, func() error {
			return second(s.Books.Update(t.Context(), home.book.ID, rename("New"), nil))
		})...)
	}()
	for ask[int](t, program, `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`) < db.MinConnections*3/4 {
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if books, err := s.Unchecked(ctx).BooksByID(ctx, []model.ID{home.book.ID}); len(books) != 1 || err != nil {
		t.Errorf("%d books, %v", len(books), err)
	}
	check(t, tx.Rollback())
	if err := <-waiting; err != nil {
		t.Error(err)
	}
}

// TestLockedGenre lets another program lock a genre: books of that genre wait,
// and those of others do not.
func TestLockedGenre(t *testing.T) {
	t.Parallel()
	url := catalogtest.Postgres(t)
	s := open(t, url)
	home := newShelf(t, s)
	locked := must[*model.Genre](t)(s.Genres.Create(t.Context(), &model.CreateGenreInput{Name: "Locked", CategoryID: home.category.ID}))
	program := must[*sql.DB](t)(sql.Open("postgres", url))
	defer program.Close()
	tx := must[*sql.Tx](t)(program.Begin())
	must[sql.Result](t)(tx.Exec(`SELECT FROM genres WHERE id = $1 FOR UPDATE`, locked.ID))

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	create := func(genre model.ID) func() error {
		return func() error { return second(s.Books.Create(ctx, newBook("A book", genre))) }
	}
	waiting := make(chan error, 1)
	go func() { waiting <- together(times(8, create(locked.ID))...) }()
	for range 5 {
		if err := together(times(16, create(home.genre.ID))...); err != nil {
			t.Fatal(err)
		}
	}
	select {
	case err := <-waiting:
		t.Errorf("nobody waited for the lock: %v", err)
	default:
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := <-waiting; err != nil {
		t.Error(err)
	}
}

package db_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

func TestOpenSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	const password = "correct-horse"
	for url, want := range map[string]string{
		"":                             "must begin with sqlite: or postgres://",
		"catalogue.db":                 "must begin with sqlite: or postgres://",
		"mysql://root@localhost/books": "must begin with sqlite: or postgres://",
		"sqlite:":                      "must name a file",
		"sqlite::memory:":              "must name a file",
		"sqlite:" + filepath.Join(t.TempDir(), "none", "x.db"):       "does not exist: create it first",
		"sqlite:" + t.TempDir():                                      "cannot open the SQLite database",
		"postgres://me:" + password + "@%zz/books":                   "the database URL is not valid",
		"postgres://me:" + password + "/x@localhost/books":           "the database URL is not valid",
		"postgres://me:12/" + password + "@localhost/books":          "the database URL is not valid",
		"postgres://me:12?" + password + "@localhost/books":          "PGPASSWORD",
		"postgres://me:12#" + password + "@localhost/books":          "the database URL is not valid",
		"postgres://me:" + password + "@localhost:1/books?sslmode=":  "",
		"postgres://me:" + password + "@localhost:1/b?sslmode=often": "is not valid",
		"postgres://me:" + password + "@127.0.0.1:1/books":           "does not answer",
	} {
		s, err := db.Open(t.Context(), url, db.Options{})
		if err == nil {
			s.Close()
			t.Errorf("%q: it opens", url)
			continue
		}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q does not say %q", url, err, want)
		}
		if strings.Contains(err.Error(), password) {
			t.Errorf("%q: %q tells the password", url, err)
		}
	}
}

// TestClose ends what runs in the background, and waits for it: nothing touches
// the database later.
func TestClose(t *testing.T) {
	onEach(t, func(t *testing.T, s *db.Store) {
		newShelf(t, s)
		ended := false
		began := make(chan struct{})
		ran := s.Background(func(ctx context.Context) {
			close(began)
			<-ctx.Done()
			ended = true
		})
		<-began
		if err := s.Close(); err != nil || !ran || !ended {
			t.Errorf("closed with %v; ran %t, ended %t", err, ran, ended)
		}
		if s.Background(func(context.Context) { t.Error("it runs on a closed store") }) {
			t.Error("a closed store runs something")
		}
		for range 2 {
			if _, err := s.Revision(t.Context()); err == nil {
				t.Error("a closed store has a revision")
			}
			if _, err := s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{}); err == nil {
				t.Error("a closed store counts")
			}
		}
		if err := s.Close(); err != nil {
			t.Errorf("closed again: %v", err)
		}
	})
}

// look reads the revision and the number of books in one view.
func look(t *testing.T, s *db.Store, revision *int64, books *int) error {
	return s.ReadTransaction(t.Context(), model.NoReplica, func(ctx context.Context, snapshot *db.Snapshot) (err error) {
		if *revision, err = snapshot.Revision(ctx); err != nil {
			return err
		}
		*books, err = snapshot.Books.Count(ctx, model.Selection{})
		return err
	})
}

// TestView holds a view to one snapshot, whatever is written meanwhile.
func TestView(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		home := newShelf(t, s)
		err := s.ReadTransaction(t.Context(), model.NoReplica, func(ctx context.Context, snapshot *db.Snapshot) error {
			for _, write := range []func() error{
				func() error { return nil },
				func() error { addBooks(t, program, 1, home.genre.ID); return nil },
				func() error {
					return second(s.Books.Update(t.Context(), home.book.ID, rename("Changed meanwhile"), nil))
				},
				func() error { return s.Genres.Delete(t.Context(), home.genre.ID, nil, model.Cascade) },
			} {
				if err := write(); err != nil {
					return err
				}
				if n := must[int](t)(snapshot.Books.Count(ctx, model.Selection{})); n != 1 {
					t.Errorf("%d books in the view, want 1", n)
				}
				books := must[[]*model.Book](t)(snapshot.Books.Page(ctx, &model.Page{Limit: 10}))
				if len(books) != 1 || books[0].Name != home.book.Name {
					t.Errorf("the view has changed: %v", books)
				}
				if genres := must[[]*model.Genre](t)(snapshot.Genres.ByID(ctx, []model.ID{home.genre.ID})); len(genres) != 1 {
					t.Error("the genre is gone from the view")
				}
				pages := must[map[model.ID][]*model.Book](t)(snapshot.BooksOfGenre.Pages(ctx, []model.ID{home.genre.ID}, &model.Page{Limit: 10}))
				if len(pages[home.genre.ID]) != 1 {
					t.Errorf("the genre's books in the view: %v", pages)
				}
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if n := must[int](t)(s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{})); n != 0 {
			t.Errorf("after the view there are %d books", n)
		}
	})
}

// TestViewGivesErrorsBack and writes nothing.
func TestViewGivesErrorsBack(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		mine := errors.New("mine")
		if err := s.ReadTransaction(t.Context(), model.NoReplica, func(context.Context, *db.Snapshot) error { return mine }); !errors.Is(err, mine) {
			t.Errorf("the view gave %v", err)
		}
	})
}

// failAfterWriting writes a good deal in one transaction, and fails.
func failAfterWriting(ctx context.Context, s *db.Store, home shelf) error {
	return s.Write(ctx, func(ctx context.Context) error {
		if _, err := s.Books.Create(ctx, newBook("Never", home.genre.ID)); err != nil {
			return err
		}
		if _, err := s.Books.Update(ctx, home.book.ID, rename("Never"), nil); err != nil {
			return err
		}
		if err := s.Categories.Delete(ctx, home.category.ID, nil, model.Cascade); err != nil {
			return err
		}
		if n, err := s.Unchecked(ctx).Books.Count(ctx, model.Selection{}); n != 0 || err != nil {
			return errors.Join(err, errors.New("the transaction does not see what it wrote"))
		}
		return errRolledBack
	})
}

var errRolledBack = errors.New("as the test wants")

func TestWriteIsWhole(t *testing.T) {
	onEach(t, func(t *testing.T, s *db.Store) {
		ctx := t.Context()
		home := newShelf(t, s)
		unchanged := func(after string) {
			t.Helper()
			books := must[[]*model.Book](t)(s.Unchecked(ctx).Books.Page(ctx, &model.Page{Limit: 10}))
			if len(books) != 1 || books[0].Version != 1 || books[0].ID != home.book.ID {
				t.Errorf("after %s the books are %v", after, books)
			}
			if n := must[int](t)(s.Unchecked(ctx).Categories.Count(ctx, model.Selection{})); n != 1 {
				t.Errorf("after %s there are %d categories", after, n)
			}
		}
		if err := failAfterWriting(ctx, s, home); !errors.Is(err, errRolledBack) {
			t.Error(err)
		}
		unchanged("an error")

		err := s.Write(ctx, func(ctx context.Context) error {
			if err := s.Write(ctx, func(ctx context.Context) error {
				return second(s.Books.Create(ctx, newBook("Inner", home.genre.ID)))
			}); err != nil {
				return err
			}
			return errRolledBack
		})
		if !errors.Is(err, errRolledBack) {
			t.Error(err)
		}
		unchanged("an error around a write that was done")

		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is lost")
				}
			}()
			_ = s.Write(ctx, func(ctx context.Context) error {
				if _, err := s.Books.Create(ctx, newBook("Half", home.genre.ID)); err != nil {
					t.Error(err)
				}
				panic("half way")
			})
		}()
		unchanged("a panic")

		// The context of a transaction that has ended writes nothing.
		var kept context.Context
		if err := s.Write(ctx, func(ctx context.Context) error { kept = ctx; return nil }); err != nil {
			t.Fatal(err)
		}
		_, err = s.Books.Create(kept, newBook("Late", home.genre.ID))
		wantCode(t, err, model.Unavailable, "")
		unchanged("a write that came late")

		err = s.Write(ctx, func(ctx context.Context) error {
			for range 3 {
				if _, err := s.Books.Create(ctx, newBook("Kept", home.genre.ID)); err != nil {
					return err
				}
			}
			if n := must[int](t)(s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{})); n != 1 {
				t.Errorf("others see %d books before the commit", n)
			}
			return nil
		})
		if n := must[int](t)(s.Unchecked(ctx).Books.Count(ctx, model.Selection{})); n != 4 || err != nil {
			t.Errorf("after a write there are %d books: %v", n, err)
		}
	})
}

// TestStatementsOfATransactionTakeTurns, since a connection runs one at a time
// and the fields of a query are resolved at once.
func TestStatementsOfATransactionTakeTurns(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		newShelf(t, s)
		read := func(ctx context.Context, snapshot *db.Snapshot) error {
			return together(times(16, func() error {
				books, err := snapshot.Books.Page(ctx, &model.Page{Limit: 10})
				if err == nil && len(books) != 1 {
					err = errors.New("the book is not there")
				}
				return err
			})...)
		}
		if err := s.ReadTransaction(t.Context(), model.NoReplica, read); err != nil {
			t.Error(err)
		}
		if err := s.Write(t.Context(), func(ctx context.Context) error { return read(ctx, s.Unchecked(ctx)) }); err != nil {
			t.Error(err)
		}
	})
}

// TestCancelled holds a call whose caller has gone to stop, and the store to
// work for the others.
func TestCancelled(t *testing.T) {
	onShelf(t, func(t *testing.T, s *db.Store, home shelf) {
		gone, leave := context.WithCancel(t.Context())
		leave()
		for name, call := range map[string]func(context.Context) error{
			"read":  func(ctx context.Context) error { return second(s.Unchecked(ctx).Books.Count(ctx, model.Selection{})) },
			"write": func(ctx context.Context) error { return second(s.Books.Create(ctx, newBook("Lost", home.genre.ID))) },
			"update": func(ctx context.Context) error {
				return second(s.Books.Update(ctx, home.book.ID, rename("Lost"), nil))
			},
			"view": func(ctx context.Context) error {
				return s.ReadTransaction(ctx, model.NoReplica, func(context.Context, *db.Snapshot) error { return nil })
			},
			"batch": func(ctx context.Context) error { return s.Write(ctx, func(context.Context) error { return nil }) },
		} {
			err := call(gone)
			wantCode(t, err, model.Unavailable, "")
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: the cause is %v", name, err)
			}
		}

		ctx, leave := context.WithCancel(t.Context())
		err := s.Write(ctx, func(ctx context.Context) error {
			if _, err := s.Books.Create(ctx, newBook("Half", home.genre.ID)); err != nil {
				t.Error(err)
			}
			leave()
			return second(s.Books.Create(ctx, newBook("Other half", home.genre.ID)))
		})
		wantCode(t, err, model.Unavailable, "")
		ctx, leave = context.WithCancel(t.Context())
		err = s.Write(ctx, func(ctx context.Context) error {
			defer leave()
			return second(s.Books.Create(ctx, newBook("Not committed", home.genre.ID)))
		})
		wantCode(t, err, model.Unavailable, "")

		for range 20 { // more often than there are connections to have spoilt
			if n := must[int](t)(s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{})); n != 1 {
				t.Errorf("%d books, want 1", n)
			}
			must[*model.Book](t)(s.Books.Update(t.Context(), home.book.ID, rename("Still there"), nil))
		}
	})
}

// TestCancelledWhileWaiting cancels a write that waits for another one.
func TestCancelledWhileWaiting(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		home := newShelf(t, s)
		err := s.Write(t.Context(), func(ctx context.Context) error {
			if _, err := s.Books.Update(ctx, home.book.ID, rename("First"), nil); err != nil {
				return err
			}
			impatient, leave := context.WithCancel(t.Context())
			waited := make(chan error)
			go func() {
				_, err := s.Books.Update(impatient, home.book.ID, rename("Second"), nil)
				waited <- err
			}()
			leave()
			wantCode(t, <-waited, model.Unavailable, "")
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if b := must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.ByID(t.Context(), []model.ID{home.book.ID})); b[0].Name != "First" || b[0].Version != 2 {
			t.Errorf("the book is %q at version %d", b[0].Name, b[0].Version)
		}
	})
}

// TestOneOfManyUpdates lets many change what they have read: one succeeds, the
// others are told.
func TestOneOfManyUpdates(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		stores := []*db.Store{open(t, url), open(t, url)}
		home := newShelf(t, stores[0])
		const many = 12
		failed := make([]error, many)
		var run []func() error
		for i := range many {
			run = append(run, func() error {
				expected := int64(1)
				_, failed[i] = stores[i%2].Books.Update(t.Context(), home.book.ID, rename("Mine"), &expected)
				return nil
			})
		}
		_ = together(run...)
		succeeded := 0
		for _, err := range failed {
			if err == nil {
				succeeded++
				continue
			}
			wantCode(t, err, model.Stale, "Book was changed by someone else")
		}
		if succeeded != 1 {
			t.Errorf("%d updates of the same version succeeded", succeeded)
		}
	})
}

// TestDeleteRacesCreate deletes genres while books are put into them: no book is
// left without a genre, and nobody is told anything but the truth.
func TestDeleteRacesCreate(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		home := newShelf(t, s)
		for _, policy := range []model.OnChildren{model.Restrict, model.Cascade} {
			for range 15 {
				genre := must[*model.Genre](t)(s.Genres.Create(t.Context(), &model.CreateGenreInput{Name: "Brief", CategoryID: home.category.ID}))
				run := times(4, func() error {
					_, err := s.Books.Create(t.Context(), newBook("In between", genre.ID))
					if model.IsCode(err, model.BadUserInput) {
						return nil
					}
					return err
				})
				run = append(run, func() error {
					err := s.Genres.Delete(t.Context(), genre.ID, nil, policy)
					if policy == model.Restrict && model.IsCode(err, model.Conflict) {
						return nil
					}
					return err
				})
				if err := together(run...); err != nil {
					t.Fatalf("%s: %v", policy, err)
				}
			}
		}
		program := other(t, url)
		if n := ask[int](t, program, "SELECT count(*) FROM books b LEFT JOIN genres g ON g.id = b.genre_id WHERE g.id IS NULL"); n != 0 {
			t.Errorf("%d books have no genre", n)
		}
	})
}

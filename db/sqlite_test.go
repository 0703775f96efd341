package db_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// TestNobodySeesBusy lets two processes write and read one file as fast as they
// can, while a third one opens and closes it, which also takes locks.
// It is not parallel: a lock of SQLite is waited for no longer than 10 seconds, and
// those that wait are not served in order.
func TestNobodySeesBusy(t *testing.T) {
	url := catalogtest.SQLite(t)
	stores := []*db.Store{open(t, url), open(t, url)}
	if _, writer := db.Pools(stores[0]); writer.Stats().MaxOpenConnections != 1 {
		t.Errorf("%d connections may write, want 1", writer.Stats().MaxOpenConnections)
	}
	home := newShelf(t, stores[0])
	const writers, writes = 3, 16 // of each store
	var run []func() error
	var left atomic.Int32
	left.Store(2 * writers)
	for _, s := range stores {
		for range writers {
			run = append(run, func() error {
				defer left.Add(-1)
				for i := range writes {
					var err error
					switch i % 4 {
					case 0:
						_, err = s.Books.Create(t.Context(), newBook("One of many", home.genre.ID))
					case 1:
						_, err = s.Books.Update(t.Context(), home.book.ID, rename(fmt.Sprint(i)), nil)
					case 2:
						_, _, err = s.Idempotent(t.Context(), "me", fmt.Sprint(i), "print", answering("done"))
					case 3:
						err = s.Write(t.Context(), func(ctx context.Context) error {
							b, err := s.Books.Create(ctx, newBook("Brief", home.genre.ID))
							if err != nil {
								return err
							}
							return s.Books.Delete(ctx, b.ID, nil, model.Cascade)
						})
					}
					if err != nil {
						return fmt.Errorf("write %d: %w", i, err)
					}
				}
				return nil
			})
		}
		for range 4 {
			run = append(run, func() error {
				for left.Load() > 0 {
					if _, err := s.Unchecked(t.Context()).BooksOfGenre.Pages(t.Context(), []model.ID{home.genre.ID}, &model.Page{Limit: 20, Backward: true}); err != nil {
						return fmt.Errorf("read: %w", err)
					}
					if err := s.ReadTransaction(t.Context(), model.NoReplica, func(ctx context.Context, snapshot *db.Snapshot) error {
						return second(snapshot.Books.Count(ctx, model.Selection{}))
					}); err != nil {
						return fmt.Errorf("view: %w", err)
					}
				}
				return nil
			})
		}
	}
	run = append(run, func() error {
		for left.Load() > 0 {
			s, err := db.Open(t.Context(), url, db.Options{})
			if err != nil {
				return fmt.Errorf("open: %w", err)
			}
			if _, err := s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{}); err != nil {
				return fmt.Errorf("read at once: %w", err)
			}
			if err := s.Close(); err != nil {
				return fmt.Errorf("close: %w", err)
			}
		}
		return nil
	})
	if err := together(run...); err != nil {
		t.Fatal(err)
	}
	if n := must[int](t)(stores[1].Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{})); n != 1+2*writers*writes/4 {
		t.Errorf("%d books, want %d", n, 1+2*writers*writes/4)
	}
}

// TestWaitsForAnotherProgram holds the write lock for a while: the store waits
// and then writes, and reads meanwhile.
func TestWaitsForAnotherProgram(t *testing.T) {
	t.Parallel()
	url := catalogtest.SQLite(t)
	s, program := open(t, url), other(t, url)
	home := newShelf(t, s)
	conn, err := program.Conn(t.Context())
	check(t, err)
	defer conn.Close()
	for _, statement := range []string{"BEGIN IMMEDIATE", "UPDATE books SET name = 'Theirs'"} {
		if _, err := conn.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	var wait sync.WaitGroup
	wait.Go(func() {
		b, err := s.Books.Update(t.Context(), home.book.ID, rename("Ours"), nil)
		if err != nil || b.Version != 3 {
			t.Errorf("the store's update: %+v, %v", b, err)
		}
	})
	for range 20 {
		if b := must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.ByID(t.Context(), []model.ID{home.book.ID})); b[0].Version != 1 {
			t.Errorf("a reader sees version %d before the commit", b[0].Version)
		}
	}
	if _, err := conn.ExecContext(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	wait.Wait()
}

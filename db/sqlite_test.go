package db_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// TestPragmas asks every connection that the store may have, since a pragma
// holds for one connection alone.
func TestPragmas(t *testing.T) {
	t.Parallel()
	s := open(t, catalogtest.SQLite(t))
	reader, writer := db.Pools(s)
	if n := writer.Stats().MaxOpenConnections; n != 1 {
		t.Errorf("%d connections may write, want 1", n)
	}
	for name, pool := range map[string]*sql.DB{"reader": reader, "writer": writer} {
		want := map[string]string{
			"journal_mode": "wal", "foreign_keys": "1", "synchronous": "2", "busy_timeout": "10000",
			"trusted_schema": "0", "query_only": "0",
		}
		if name == "reader" {
			want["query_only"] = "1"
		}
		var held []*sql.Conn
		for range pool.Stats().MaxOpenConnections {
			conn, err := pool.Conn(t.Context())
			check(t, err)
			held = append(held, conn)
			got := map[string]string{}
			for pragma := range want {
				var value string
				check(t, conn.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&value))
				got[pragma] = value
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, connection %d (-want +got):\n%s", name, len(held), diff)
			}
		}
		for _, conn := range held {
			if err := conn.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := reader.Exec("INSERT INTO categories (name) VALUES ('Written by a reader')"); err == nil {
		t.Error("a connection for reading writes")
	}
}

// TestNobodySeesBusy lets two processes write and read one file as fast as they
// can, while a third one opens and closes it, which also takes locks.
// It is not parallel: a lock of SQLite is waited for no longer than 10 seconds, and
// those that wait are not served in order.
func TestNobodySeesBusy(t *testing.T) {
	url := catalogtest.SQLite(t)
	stores := []*db.Store{open(t, url), open(t, url)}
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
					if _, err := s.Now(t.Context()).BooksOfGenre.Pages(t.Context(), []model.ID{home.genre.ID}, &model.Page{Limit: 20, Backward: true}); err != nil {
						return fmt.Errorf("read: %w", err)
					}
					if err := s.ReadTransaction(t.Context(), func(ctx context.Context, snapshot *db.Snapshot) error {
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
			if _, err := s.Now(t.Context()).Books.Count(t.Context(), model.Selection{}); err != nil {
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
	if n := must[int](t)(stores[1].Now(t.Context()).Books.Count(t.Context(), model.Selection{})); n != 1+2*writers*writes/4 {
		t.Errorf("%d books, want %d", n, 1+2*writers*writes/4)
	}
}

// TestOpenAndCloseAtOnce opens a new file from many processes, all of which try
// to make it a WAL database, and closes it, when the last one out removes the
// log.
func TestOpenAndCloseAtOnce(t *testing.T) {
	t.Parallel()
	for range 10 {
		url := dbtest.SQLite(t)
		err := together(times(6, func() error {
			for range 3 {
				s, err := db.Open(t.Context(), url, db.Options{})
				if err != nil {
					return err
				}
				if err := s.Close(); err != nil {
					return err
				}
			}
			return nil
		})...)
		check(t, err)
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
		if b := must[[]*model.Book](t)(s.Now(t.Context()).Books.ByID(t.Context(), []model.ID{home.book.ID})); b[0].Version != 1 {
			t.Errorf("a reader sees version %d before the commit", b[0].Version)
		}
	}
	if _, err := conn.ExecContext(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	wait.Wait()
}

// TestFileModes wants what SQLite keeps beside a database, like the database, to be
// for its owner alone, and leaves the mode of a file that is there as it is.
func TestFileModes(t *testing.T) {
	t.Parallel()
	url := catalogtest.SQLite(t)
	path := strings.TrimPrefix(url, "sqlite:")
	newShelf(t, open(t, url))
	for _, file := range []string{path, path + "-wal", path + "-shm"} {
		if info := must[os.FileInfo](t)(os.Stat(file)); info.Mode() != 0o600 {
			t.Errorf("%s has the mode %v", file, info.Mode())
		}
	}
	shared := filepath.Join(t.TempDir(), "shared.db")
	check(t, os.WriteFile(shared, nil, 0o640))
	newShelf(t, migrated(t, "sqlite:"+shared))
	if info := must[os.FileInfo](t)(os.Stat(shared)); info.Mode() != 0o640 {
		t.Errorf("the mode of a file that was there is %v", info.Mode())
	}
}

// TestLogStaysSmall writes 96 MB while at every moment somebody reads, so that SQLite
// by itself never writes its log from the beginning again.
func TestLogStaysSmall(t *testing.T) {
	t.Parallel()
	url := catalogtest.SQLite(t)
	s := open(t, url)
	ctx, stop := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	readers.Go(func() {
		end := func() {}
		for ctx.Err() == nil { // one begins before the other ends
			begun, ended := make(chan struct{}), make(chan struct{})
			readers.Go(func() {
				_ = s.ReadTransaction(ctx, func(context.Context, *db.Snapshot) error {
					close(begun)
					<-ended
					return nil
				})
			})
			select {
			case <-begun:
			case <-ctx.Done():
			}
			end()
			end = func() { close(ended) }
		}
		end()
	})
	answer := strings.Repeat("x", 1<<20)
	var largest int64
	for i := range 96 {
		if _, _, err := s.Idempotent(t.Context(), "me", fmt.Sprint(i), "print", answering(answer)); err != nil {
			t.Fatal(err)
		}
		info := must[os.FileInfo](t)(os.Stat(strings.TrimPrefix(url, "sqlite:") + "-wal"))
		largest = max(largest, info.Size())
	}
	stop()
	readers.Wait()
	if most := int64(64 << 20); largest > most { // what LimitWAL needs where it finds no moment until its third try
		t.Errorf("the write-ahead log had %d MB, want %d at most", largest>>20, most>>20)
	}
}

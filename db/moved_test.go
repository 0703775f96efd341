package db_test

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/graph/model"
)

// movable returns a store on an address, with its pool full of connections, and a function that
// makes the server read-only and moves the address to its promoted standby. Open connections stay
// with the old server.
func movable(t *testing.T) (s *db.Store, home shelf, demote, move func()) {
	t.Helper()
	cluster := dbtest.Durable(t)
	direct := cluster.Database(t)
	home = newShelf(t, migrated(t, direct))
	standby := cluster.Standby(t)
	line := newWire(t, direct)
	s = open(t, line.url)
	useAll(t, s)
	wantChecks(t, s, nil)
	program := other(t, direct)
	program.SetMaxIdleConns(-1) // a new connection is read-only after the server has told all others
	demote = func() {
		exec(t, program, `ALTER SYSTEM SET synchronous_standby_names = ''`)
		exec(t, program, `ALTER SYSTEM SET default_transaction_read_only = on`)
		exec(t, program, `SELECT pg_reload_conf()`)
		for !ask[bool](t, program, `SELECT current_setting('transaction_read_only') = 'on'`) {
		}
	}
	move = func() {
		standby.Promote(t)
		line.moveTo(socket(t, standby.On(t, direct)))
	}
	return s, home, demote, move
}

// TestAddressMoves moves the address of the database without cutting a connection. Writes are refused
// only while no server takes them, and no read is of the old server after a write.
func TestAddressMoves(t *testing.T) {
	t.Parallel()
	writes := map[string]func(context.Context, *db.Store, shelf) error{
		"a statement": func(ctx context.Context, s *db.Store, home shelf) error {
			return second(s.Books.Create(ctx, newBook("New", home.genre.ID)))
		},
		"a transaction": func(ctx context.Context, s *db.Store, home shelf) error {
			return second(s.Books.Update(ctx, home.book.ID, rename("New"), nil))
		},
		"a transaction with a key": func(ctx context.Context, s *db.Store, home shelf) error {
			_, _, err := s.Idempotent(ctx, "me", "key", "print", func(ctx context.Context) ([]byte, error) {
				return []byte("done"), second(s.Books.Create(ctx, newBook("New", home.genre.ID)))
			})
			return err
		},
	}
	for name, write := range writes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, home, demote, move := movable(t)
			demote()
			wantCode(t, write(t.Context(), s, home), model.Unavailable, "read-only or a standby")
			reader, _ := db.Pools(s)
			if stats := reader.Stats(); stats.Idle != stats.MaxOpenConnections {
				t.Errorf("a write that no server takes closed connections: %+v", stats)
			}
			move()
			check(t, together(times(40, func() error { return write(t.Context(), s, home) })...))
			check(t, together(times(reader.Stats().MaxOpenConnections, func() error {
				return s.ReadTransaction(t.Context(), model.NoReplica, func(ctx context.Context, snapshot *db.Snapshot) error {
					found, err := snapshot.Books.Page(ctx, &model.Page{Limit: 10, Order: model.Order{IDDescending: true}})
					if err == nil && found[0].Name != "New" {
						t.Errorf("a read of the old server: %q", found[0].Name)
					}
					return err
				})
			})...))
			wantChecks(t, s, nil)
		})
	}
}

// TestChecksOfMovedAddress compares the pool with a new connection of the checks.
func TestChecksOfMovedAddress(t *testing.T) {
	t.Parallel()
	s, home, demote, move := movable(t)
	demote()
	wantChecks(t, s, map[string]string{"database": "warn: The database is read-only or a standby."})
	move()
	db.CloseHealth(s) // as its lifetime does within a minute
	wantChecks(t, s, map[string]string{"pool": "warn: Some connections lead to a read-only server, others to the primary."})
	wantChecks(t, s, nil)
	check(t, second(s.Books.Create(t.Context(), newBook("New", home.genre.ID))))
}

// TestFormerPrimary promotes a standby while the former primary goes on. With both hosts in the URL, reads and writes
// come to the new one.
func TestFormerPrimary(t *testing.T) {
	t.Parallel()
	former := dbtest.Durable(t)
	direct := former.Database(t)
	home := newShelf(t, migrated(t, direct))
	successor := former.Replica(t)
	both, err := url.Parse(direct)
	check(t, err)
	query := both.Query()
	query.Set("host", filepath.Dir(socket(t, direct))+","+filepath.Dir(socket(t, successor.On(t, direct))))
	query.Set("port", "5432,5432")
	query.Set("target_session_attrs", "read-write")
	both.RawQuery = query.Encode()
	s := open(t, both.String())
	useAll(t, s)
	check(t, second(s.Books.Create(t.Context(), newBook("Of the former primary", home.genre.ID))))
	standby := other(t, successor.On(t, direct))
	for ask[int](t, standby, `SELECT count(*) FROM books`) < 2 {
	}
	successor.Promote(t)
	for i := range 3 { // more books than the former primary has
		check(t, second(open(t, successor.On(t, direct)).Books.Create(t.Context(), newBook(fmt.Sprint("New ", i), home.genre.ID))))
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for n := 0; n < 5 && ctx.Err() == nil; {
		n, err = s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{})
		check(t, err)
	}
	check(t, ctx.Err())
	check(t, together(times(40, func() error {
		return second(s.Books.Create(t.Context(), newBook("To the new primary", home.genre.ID)))
	})...))
	if n := ask[int](t, standby, `SELECT count(*) FROM books`); n != 45 {
		t.Errorf("the new primary has %d books, want 45", n)
	}
}

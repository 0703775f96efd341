package db_test

import (
	"context"
	"testing"

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
				return s.ReadTransaction(t.Context(), func(ctx context.Context, snapshot *db.Snapshot) error {
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

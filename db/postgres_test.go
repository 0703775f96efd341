package db_test

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// TestDeadlock makes a real one: two transactions that lock the same two books
// in opposite orders. PostgreSQL gives one of them up, which is run again.
func TestDeadlock(t *testing.T) {
	t.Parallel()
	s := open(t, catalogtest.Postgres(t))
	home := newShelf(t, s)
	other := must[*model.Book](t)(s.Books.Create(t.Context(), newBook("Another", home.genre.ID)))
	books := []model.ID{home.book.ID, other.ID}
	locked := []chan struct{}{make(chan struct{}), make(chan struct{})}
	var attempts atomic.Int32
	var run []func() error
	for i := range 2 {
		first := true
		run = append(run, func() error {
			return s.Write(t.Context(), func(ctx context.Context) error {
				attempts.Add(1)
				if _, err := s.Books.Update(ctx, books[i], rename("Once"), nil); err != nil {
					return err
				}
				if first {
					first = false
					close(locked[i])
					<-locked[1-i]
				}
				_, err := s.Books.Update(ctx, books[1-i], rename("Twice"), nil)
				return err
			})
		})
	}
	check(t, together(run...))
	if n := attempts.Load(); n < 3 {
		t.Errorf("%d attempts, want at least 3: the one that was given up is run again", n)
	}
	for _, b := range must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.ByID(t.Context(), books)) {
		if b.Version != 3 {
			t.Errorf("a book is at version %d, want 3", b.Version)
		}
	}
}

// TestConflicts has as many writers as connections change one book, where each change
// that is stored fails all the others.
func TestConflicts(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	url := cluster.Database(t)
	exec(t, other(t, url), `ALTER ROLE postgres SET default_transaction_isolation = 'repeatable read'`)
	home := newShelf(t, migrated(t, url))
	const connections = 50
	s := openWith(t, url, db.Options{MaxConns: connections})
	if err := together(times(connections, func() error {
		return second(s.Books.Update(t.Context(), home.book.ID, rename("New"), nil))
	})...); err != nil {
		t.Error(err)
	}
}

// TestDatabaseAway kills the server and starts it again: a request meanwhile
// is told, and afterwards the store works as if nothing had been, although all
// of its connections are dead.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	s := migrated(t, cluster.Database(t))
	home := newShelf(t, s)
	calls := map[string]func() error{
		"read":   func() error { return second(s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{})) },
		"page":   func() error { return second(s.Unchecked(t.Context()).Books.Page(t.Context(), &model.Page{Limit: 10})) },
		"write":  func() error { return second(s.Books.Create(t.Context(), newBook("New", home.genre.ID))) },
		"update": func() error { return second(s.Books.Update(t.Context(), home.book.ID, rename("New"), nil)) },
		"once": func() error {
			_, _, err := s.Idempotent(t.Context(), "me", "key", "print", answering("done"))
			return err
		},
		"view": func() error {
			return s.ReadTransaction(t.Context(), model.NoReplica, func(ctx context.Context, snapshot *db.Snapshot) error {
				return second(snapshot.Books.Count(ctx, model.Selection{}))
			})
		},
		"revision": func() error { return second(s.Revision(t.Context())) },
	}
	all := func(check func(name string, err error)) {
		for name, call := range calls {
			check(name, call())
		}
	}
	for range 2 {
		useAll(t, s)
		cluster.Kill(t)
		all(func(name string, err error) {
			if !model.IsCode(err, model.Unavailable) {
				t.Errorf("%s, while the database is away: %v", name, err)
			}
		})
		cluster.Start(t)
		for range 3 {
			all(func(name string, err error) {
				if err != nil {
					t.Errorf("%s, when it is back: %v", name, err)
				}
			})
		}
	}

	// Restarted before anybody could notice.
	useAll(t, s)
	cluster.Kill(t)
	cluster.Start(t)
	for range 3 {
		all(func(name string, err error) {
			if err != nil {
				t.Errorf("%s, after a restart: %v", name, err)
			}
		})
	}
}

// useAll opens every connection that a store may have, and uses all at once.
func useAll(t *testing.T, s *db.Store) {
	t.Helper()
	reader, _ := db.Pools(s)
	arrived := make(chan struct{})
	all := sync.OnceFunc(func() { close(arrived) })
	err := together(times(reader.Stats().MaxOpenConnections, func() error {
		err := s.ReadTransaction(t.Context(), model.NoReplica, func(context.Context, *db.Snapshot) error {
			if reader.Stats().InUse == reader.Stats().MaxOpenConnections {
				all()
			}
			<-arrived
			return nil
		})
		if err != nil {
			all() // the others would wait for ever
		}
		return err
	})...)
	check(t, err)
}

// TestBrokenBeforeTheAnswer breaks the connection when the server has answered
// and the store has not heard it. Before a commit the store may try again; of what
// commits it cannot know whether it is kept, and must not do it twice.
func TestBrokenBeforeTheAnswer(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	direct := cluster.Database(t)
	s := migrated(t, direct)
	home := newShelf(t, s)
	create := func(through *db.Store) error {
		return second(through.Books.Create(t.Context(), newBook("Perhaps", home.genre.ID)))
	}
	update := func(through *db.Store) error {
		return second(through.Books.Update(t.Context(), home.book.ID, rename("Perhaps"), nil))
	}
	done := func() int64 { // books that were stored, and changes of one
		books := must[int](t)(s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{}))
		return int64(books) + must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.ByID(t.Context(), []model.ID{home.book.ID}))[0].Version
	}
	for _, c := range []struct {
		sent string
		call func(*db.Store) error
		kept bool
	}{
		{"BEGIN", update, true},
		{"UPDATE books", update, true},
		{"COMMIT", update, false},
		{"INSERT INTO books", create, true}, // which is prepared
		{"Perhaps", create, false},          // its arguments
	} {
		t.Run(c.sent, func(t *testing.T) {
			line := newWire(t, direct)
			through := open(t, line.url)
			before := done()
			line.cutAfter(c.sent)
			err := c.call(through)
			if !line.wasCut() {
				t.Fatal("the connection was not broken")
			}
			if c.kept && err != nil {
				t.Errorf("it was not tried again: %v", err)
			} else if !c.kept && !model.IsInDoubt(err) {
				t.Errorf("whether it is stored is not known: %v", err)
			}
			if times := done() - before; times != 1 {
				t.Errorf("it was done %d times", times)
			}
			if err := c.call(through); err != nil {
				t.Errorf("on the next connection: %v", err)
			}
		})
	}
}

// TestBrokenMessage has the server send what is no message, on which lib/pq panics: no
// process ends, and the call is as one that was not answered.
func TestBrokenMessage(t *testing.T) {
	t.Parallel()
	direct := catalogtest.Postgres(t)
	home := newShelf(t, open(t, direct))
	line := newWire(t, direct)
	s := open(t, line.url)
	line.last = "1\x00\x00\x00\x04" + "t\x00\x00\x00\x04" // parsed; it has so many parameters that are not said
	line.cutAfter("SELECT count")
	came := make(chan error)
	s.Background(func(ctx context.Context) { came <- second(s.Unchecked(ctx).Books.Count(ctx, model.Selection{})) })
	if err := <-came; err != nil || !line.wasCut() {
		t.Errorf("a read is tried again: %v", err)
	}
	must[*model.Book](t)(s.Books.Create(t.Context(), newBook("First", home.genre.ID)))
	line.last = "2\x00\x00\x00\x04" + "D\x00\x00\x00\x0a\x00\x01\x00\x00\x10\x00" // bound; a row that ends early
	line.cutAfter("Perhaps")
	if _, err := s.Books.Create(t.Context(), newBook("Perhaps", home.genre.ID)); !model.IsInDoubt(err) {
		t.Errorf("of a write it is not known whether it is stored: %v", err)
	}
	if err := second(s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{})); err != nil {
		t.Error(err)
	}
}

// TestPanicBesideRequests lets what runs in the background panic.
func TestPanicBesideRequests(t *testing.T) {
	t.Parallel()
	s := open(t, catalogtest.SQLite(t))
	s.Background(func(context.Context) { panic("on purpose") })
	if err := s.Close(); err != nil || s.Panics() != 1 {
		t.Errorf("%v, %d panics were counted, want 1", err, s.Panics())
	}
}

// TestClosedBetween lets the server close each connection while nobody uses it,
// after a warning that nobody has read, as it does where another of its processes
// crashed. A write must go over a connection that is there.
func TestClosedBetween(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	direct := cluster.Database(t)
	home := newShelf(t, migrated(t, direct))
	line := newWire(t, direct)
	s := open(t, line.url)
	for i := range 3 {
		useAll(t, s)
		line.hangUp("N\x00\x00\x00\x0dSWARNING\x00\x00")
		if _, err := s.Books.Create(t.Context(), newBook("Certainly", home.genre.ID)); err != nil {
			t.Error(err)
		}
		if stored := must[int](t)(s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{})); stored != 1+i+1 {
			t.Errorf("%d books are stored, want %d", stored, 1+i+1)
		}
	}
}

// TestDeadNetwork lets the network swallow everything: no connection is broken,
// and no answer comes. A call must come back all the same.
func TestDeadNetwork(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	direct := cluster.Database(t)
	home := newShelf(t, migrated(t, direct))
	line := newWire(t, direct)
	s := open(t, line.url)
	if _, err := s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{}); err != nil {
		t.Fatal(err)
	}
	line.dead.Store(true)
	for name, call := range map[string]func(context.Context) error{
		"read":  func(ctx context.Context) error { return second(s.Unchecked(ctx).Books.Count(ctx, model.Selection{})) },
		"write": func(ctx context.Context) error { return second(s.Books.Create(ctx, newBook("Lost", home.genre.ID))) },
		"view": func(ctx context.Context) error {
			return s.ReadTransaction(ctx, model.NoReplica, func(context.Context, *db.Snapshot) error { return nil })
		},
	} {
		for _, patience := range []time.Duration{300 * time.Millisecond, time.Millisecond} {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			came := make(chan error, 1)
			go func() { came <- call(ctx) }()
			select {
			case err := <-came:
				wantCode(t, err, model.Unavailable, "")
			case <-time.After(time.Minute):
				t.Fatalf("%s, with %v to wait: it does not come back", name, patience)
			}
			cancel()
		}
	}
	line.dead.Store(false)
	if _, err := s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{}); err != nil {
		t.Errorf("when the network is back: %v", err)
	}
}

// TestTerminated ends the store's connections from inside the server, as an
// administrator or a fast shutdown does.
func TestTerminated(t *testing.T) {
	t.Parallel()
	url := catalogtest.Postgres(t)
	s, program := open(t, url), other(t, url)
	home := newShelf(t, s)
	for range 5 {
		exec(t, program, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
		if _, err := s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{}); err != nil {
			t.Errorf("read: %v", err)
		}
		exec(t, program, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
		if _, err := s.Books.Update(t.Context(), home.book.ID, rename("New"), nil); err != nil {
			t.Errorf("write: %v", err)
		}
	}
}

// TestServerGivesUp asks a server that does not wait for long.
func TestServerGivesUp(t *testing.T) {
	t.Parallel()
	url := catalogtest.Postgres(t)
	s, program := open(t, url), other(t, url)
	home := newShelf(t, s)
	holder, err := program.BeginTx(t.Context(), nil)
	check(t, err)
	defer holder.Rollback()
	if _, err := holder.Exec("UPDATE books SET name = 'Held'"); err != nil {
		t.Fatal(err)
	}
	for _, setting := range []string{"lock_timeout=1ms", "statement_timeout=50ms"} {
		limited := open(t, url+"&options=-c%20"+setting)
		_, err := limited.Books.Update(t.Context(), home.book.ID, rename("Waits"), nil)
		if !model.IsCode(err, model.Unavailable) {
			t.Errorf("with %s: %v", setting, err)
		}
	}
}

// TestPool holds the store to 16 connections, which stay open: opening one costs
// more than a statement.
func TestPool(t *testing.T) {
	t.Parallel()
	s := open(t, catalogtest.Postgres(t))
	useAll(t, s)
	if err := together(times(64, func() error {
		return s.ReadTransaction(t.Context(), model.NoReplica, func(ctx context.Context, snapshot *db.Snapshot) error {
			return second(snapshot.Books.Count(ctx, model.Selection{}))
		})
	})...); err != nil {
		t.Error(err)
	}
	reader, writer := db.Pools(s)
	if stats := reader.Stats(); stats.MaxOpenConnections != 16 || stats.Idle != 16 || stats.OpenConnections != 16 {
		t.Errorf("%+v", stats)
	}
	if reader != writer {
		t.Error("reads and writes have pools of their own")
	}
}

// TestKeysArePlannedOnce asks for rows by few keys over one connection, which tells how
// often PostgreSQL made a plan for these values alone. It does so five times to see
// what that is worth.
func TestKeysArePlannedOnce(t *testing.T) {
	t.Parallel()
	s := open(t, catalogtest.Postgres(t))
	home := newShelf(t, s)
	reader, writer := db.Pools(s)
	addBooks(t, writer, 2_000, home.genre.ID)
	reader.SetMaxOpenConns(1)
	for range 12 {
		must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.ByID(t.Context(), []model.ID{home.book.ID}))
		must[[]*model.Genre](t)(s.Unchecked(t.Context()).Genres.ByID(t.Context(), []model.ID{home.genre.ID}))
		must[map[model.ID][]*model.Book](t)(s.Unchecked(t.Context()).BooksOfGenre.Pages(t.Context(), []model.ID{home.genre.ID}, &model.Page{Limit: 10}))
	}
	rows, err := reader.QueryContext(t.Context(), `SELECT statement, generic_plans, custom_plans FROM pg_prepared_statements WHERE statement LIKE 'SELECT%unnest((SELECT%'`)
	check(t, err)
	defer rows.Close()
	seen := 0
	for ; rows.Next(); seen++ {
		var text string
		var kept, made int
		check(t, rows.Scan(&text, &kept, &made))
		if kept != 7 || made != 5 {
			t.Errorf("ran %d times with the plan that is kept, %d times with one of its own, want 7 and 5: %s", kept, made, text)
		}
	}
	if rows.Err() != nil || seen != 3 {
		t.Errorf("%d statements, want 3: %v", seen, rows.Err())
	}
}

// TestAnalyzeGrown lets PostgreSQL keep plans for a catalogue without books. After an
// import they are to be plans for many.
func TestAnalyzeGrown(t *testing.T) {
	t.Parallel()
	s := open(t, catalogtest.Postgres(t))
	home := newShelf(t, s)
	reader, writer := db.Pools(s)
	reader.SetMaxOpenConns(1)
	add := func(n int) {
		t.Helper()
		addBooks(t, writer, n, home.genre.ID)
		check(t, s.AnalyzeGrown(t.Context(), n))
	}
	known := func() (books int) {
		t.Helper()
		check(t, writer.QueryRowContext(t.Context(), `SELECT reltuples FROM pg_class WHERE oid = 'books'::regclass`).Scan(&books))
		return books
	}
	for range 8 {
		must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.ByID(t.Context(), []model.ID{home.book.ID}))
	}
	add(40)
	if n := known(); n > 0 {
		t.Errorf("after 40 more, PostgreSQL looked at %d books, which is not worth it", n)
	}
	add(3000)
	if n := known(); n != 3041 {
		t.Errorf("after 3,000 more, PostgreSQL knows of %d books, want 3041", n)
	}
	var statement string
	check(t, reader.QueryRowContext(t.Context(), `SELECT name FROM pg_prepared_statements WHERE statement LIKE '%k.id%'`).Scan(&statement))
	rows, err := reader.QueryContext(t.Context(), `EXPLAIN EXECUTE "`+statement+`" ('{1}')`)
	check(t, err)
	defer rows.Close()
	plan := ""
	for rows.Next() {
		var line string
		check(t, rows.Scan(&line))
		plan += line + "\n"
	}
	if rows.Err() != nil || !strings.Contains(plan, "Index Scan using books_pkey") {
		t.Errorf("a book by its id, %v:\n%s", rows.Err(), plan)
	}
}

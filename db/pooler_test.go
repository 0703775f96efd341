package db_test

import (
	"context"
	"database/sql"
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// TestPoolerLosesServer ends the servers' processes behind a pooler, while a write waits for a lock: the
// pooler says so to the client, and the write must not run again.
func TestPoolerLosesServer(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	direct := cluster.Database(t)
	home := newShelf(t, migrated(t, direct))
	s, program := open(t, cluster.Pooler(t, direct, 4)+"&pooler=transaction"), other(t, direct)
	for name, write := range map[string]func(context.Context) error{
		"a statement": func(ctx context.Context) error {
			return second(s.Books.Create(ctx, newBook("Perhaps", home.genre.ID)))
		},
		"a transaction": func(ctx context.Context) error {
			return second(s.Books.Update(ctx, home.book.ID, rename("Certainly"), nil))
		},
	} {
		t.Run(name, func(t *testing.T) {
			holder := must[*db.Store](t)(db.Open(t.Context(), direct, db.Options{}))
			defer holder.Close()
			ended := make(chan error, 1)
			check(t, holder.Write(t.Context(), func(ctx context.Context) error {
				check(t, second(holder.Genres.Update(ctx, home.genre.ID, &model.GenrePatch{}, nil)))
				check(t, second(holder.Books.Update(ctx, home.book.ID, rename("Held"), nil)))
				go func() { ended <- write(t.Context()) }()
				const waits = `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'`
				for ask[int](t, program, waits) == 0 {
					failOn(t, ended)
				}
				exec(t, program, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'`)
				return nil
			}))
			if err := <-ended; name == "a statement" && !model.IsInDoubt(err) || name != "a statement" && err != nil {
				t.Errorf("the answer is %v", err)
			}
		})
	}
	if n := must[int](t)(s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{})); n != 1 {
		t.Errorf("%d books, want 1", n)
	}
}

// TestPoolerWithoutServer writes through a pooler whose server does not answer. Nothing is sent to a server, so nothing
// is in doubt.
func TestPoolerWithoutServer(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	direct := cluster.Database(t)
	home := newShelf(t, migrated(t, direct))
	pooled := cluster.Pooler(t, direct, 4, "query_wait_timeout = 2", "server_login_retry = 1", "server_connect_timeout = 1")
	s := open(t, pooled+"&pooler=transaction")
	cluster.Kill(t)
	for range 3 {
		for kind, w := range writes {
			if err := w.write(t.Context(), s, home.genre.ID, "Never"); outcomeOf(err) != didNotRun || !model.IsCode(err, model.Unavailable) {
				t.Errorf("%s: %v", kind, err)
			}
		}
	}
	cluster.Start(t)
	if n := ask[int](t, other(t, direct), `SELECT count(*) FROM books WHERE name = 'Never'`); n != 0 {
		t.Errorf("%d books are stored", n)
	}
}

// TestMigrateThroughPooler migrates an empty database by several processes behind a pooler with two
// connections: no lock is left.
func TestMigrateThroughPooler(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	direct := cluster.Database(t)
	pooled := cluster.Pooler(t, direct, 2) + "&pooler=transaction"
	var run []func() error
	for range 4 {
		s := open(t, pooled)
		run = append(run, func() error { return s.Migrate(t.Context()) })
	}
	check(t, together(run...))
	program := other(t, direct)
	if n := ask[int](t, program, `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'`); n != 0 {
		t.Errorf("%d advisory locks are left", n)
	}
	newShelf(t, migrated(t, direct))
}

// TestPoolerIsNotNamed opens a store behind a pooler whose URL does not say so. The checks say it
// before a request fails, and each request that fails says it.
func TestPoolerIsNotNamed(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	direct := cluster.Database(t)
	newShelf(t, migrated(t, direct))
	pooled := cluster.Pooler(t, direct, 2)
	advice := map[string]string{"pool": "fail: A connection pooler loses prepared statements. Add pooler=transaction to the database URL, or connect directly."}
	wantChecks(t, open(t, pooled), advice)

	started := must[*db.Store](t)(db.New(t.Context(), pooled, db.Options{}))
	t.Cleanup(func() { _ = started.Close() })
	check(t, started.Start(t.Context()))
	for range 3 {
		check(t, second(started.Unchecked(t.Context()).Books.Page(t.Context(), &model.Page{Limit: 3})))
	}
	if n := db.Prepared(started); n != 0 {
		t.Errorf("%d statements are prepared", n)
	}

	s := open(t, pooled)
	read := func() error {
		return together(times(16, func() error {
			return second(s.Unchecked(t.Context()).Books.Page(t.Context(), &model.Page{Limit: 3}))
		})...)
	}
	err := read()
	for range 100 {
		if err == nil {
			err = read()
		}
	}
	wantCode(t, err, model.Unavailable, "Add pooler=transaction")
	check(t, read()) // nothing is prepared now
	wantChecks(t, s, map[string]string{"pool": "fail: A connection pooler"})
	wantChecks(t, open(t, pooled+"&pooler=transaction"), nil)
	if _, err := db.Open(t.Context(), direct+"&pooler=session", db.Options{}); err == nil || err.Error() != "the database URL is not valid: pooler must be transaction or prepared" {
		t.Errorf("an unknown pooler: %v", err)
	}
}

// TestPoolerPrepares prepares statements behind a pooler that keeps them: newer ones do in transaction mode, older
// ones in session mode only.
func TestPoolerPrepares(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	direct := cluster.Database(t)
	home := newShelf(t, migrated(t, direct))
	size, setting := 20, "pool_mode = session"
	if dbtest.PoolerPrepares(t) {
		size, setting = 2, "max_prepared_statements = 100"
	}
	s := open(t, cluster.Pooler(t, direct, size, setting)+"&pooler=prepared")
	check(t, together(times(16, func() error {
		if _, err := s.Books.Create(t.Context(), newBook("Prepared", home.genre.ID)); err != nil {
			return err
		}
		return second(s.Unchecked(t.Context()).Books.Page(t.Context(), &model.Page{Limit: 3}))
	})...))
	if n := db.Prepared(s); n == 0 {
		t.Error("no statement is prepared")
	}
	wantChecks(t, s, nil)

	s = open(t, cluster.Pooler(t, direct, 2)+"&pooler=prepared") // a wrong URL
	var err error
	for range 100 {
		if err == nil {
			err = together(times(16, func() error {
				return second(s.Unchecked(t.Context()).Books.Page(t.Context(), &model.Page{Limit: 3}))
			})...)
		}
	}
	wantCode(t, err, model.Unavailable, "Add pooler=transaction")
	wantChecks(t, s, map[string]string{"pool": "fail: A connection pooler"})
}

// TestPoolerSwapsServers runs a prepared statement on the server of another client, whose statement of
// the same name has other parameters or columns.
func TestPoolerSwapsServers(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	direct := cluster.Database(t)
	for query, args := range map[string][]any{`SELECT 1, 'text'`: nil, `SELECT 1 + $1`: {1}} {
		t.Run(query, func(t *testing.T) {
			pooled := cluster.Pooler(t, direct, 2)
			var clients [3]*sql.Conn
			for i := range clients {
				clients[i] = must[*sql.Conn](t)(other(t, pooled).Conn(t.Context()))
				defer clients[i].Close()
			}
			run := func(client int, text string) { check(t, second(clients[client].ExecContext(t.Context(), text))) }
			run(0, "BEGIN")
			run(1, "BEGIN")
			statement := must[*sql.Stmt](t)(clients[0].PrepareContext(t.Context(), query))
			defer statement.Close()
			defer must[*sql.Stmt](t)(clients[1].PrepareContext(t.Context(), `SELECT 1`)).Close()
			run(0, "COMMIT")
			run(2, "BEGIN") // it takes the server of the first client
			run(1, "COMMIT")
			wantCode(t, db.Translate(statement.QueryRow(args...).Err()), model.Unavailable, "Add pooler=transaction")
		})
	}
}

// TestPoolerReportsLoss has an older pooler report the loss of its server with an error that is not
// fatal: a read runs again, and a write is in doubt.
func TestPoolerReportsLoss(t *testing.T) {
	t.Parallel()
	direct := catalogtest.Postgres(t)
	home := newShelf(t, open(t, direct))
	line := newWire(t, direct)
	s := open(t, line.url)
	const report = "SERROR\x00C08P01\x00Mserver conn crashed?\x00\x00"
	line.last = "E\x00\x00\x00" + string(rune(4+len(report))) + report
	line.cutAfter("SELECT count")
	if err := second(s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{})); err != nil {
		t.Errorf("a read: %v", err)
	}
	must[*model.Book](t)(s.Books.Create(t.Context(), newBook("First", home.genre.ID)))
	line.cutAfter("Perhaps")
	if err := second(s.Books.Create(t.Context(), newBook("Perhaps", home.genre.ID))); !model.IsInDoubt(err) || line.cuts.Load() != 2 {
		t.Errorf("a write: %v", err)
	}
}

package db_test

import (
	"context"
	"database/sql"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
)

// subscribed follows a store and returns when its feed has the subscriber.
func subscribed(t *testing.T, s *db.Store) followed {
	t.Helper()
	n := s.FeedStats().Subscribers
	f := follow(t, s, model.ChangeArgs{})
	f.next(t, 0)
	for s.FeedStats().Subscribers == n {
		runtime.Gosched()
	}
	return f
}

// TestTickOfAnother holds the lock of ticks as a server in the middle of its tick: a feed gives up at once and tries
// again. When the connection of that server ends, the feed has all changes.
func TestTickOfAnother(t *testing.T) {
	t.Parallel()
	url := catalogtest.Postgres(t)
	s, program := open(t, url), other(t, url)
	var tries atomic.Int64
	s.Observe(func(_ context.Context, statement stats.Statement) {
		if strings.Contains(statement.Text, "advisory_xact_lock") {
			tries.Add(1)
		}
	})
	home := newShelf(t, s)
	f := subscribed(t, s)
	ticking := must[*sql.Tx](t)(other(t, url).BeginTx(t.Context(), nil))
	var pid int
	check(t, ticking.QueryRow(`SELECT pg_backend_pid() FROM pg_advisory_xact_lock(7305140136)`).Scan(&pid))
	must[*model.Book](t)(s.Books.Update(t.Context(), home.book.ID, rename("Second"), nil))
	for before := tries.Load(); tries.Load() < before+3; {
		if ask[bool](t, program, `SELECT EXISTS (SELECT FROM pg_locks JOIN pg_database d ON d.oid = database WHERE datname = current_database() AND locktype = 'advisory' AND NOT granted)`) {
			t.Fatal("the feed waits for the lock")
		}
	}
	exec(t, program, `SELECT pg_terminate_backend($1)`, pid)
	_ = ticking.Rollback()
	got, _ := f.next(t, 1)
	wantTold(t, got, "UPDATE BOOK 1 v2 Second")
}

// TestFewTicks lets eight servers write at once: together they make about one tick in 50 ms.
func TestFewTicks(t *testing.T) {
	t.Parallel()
	const servers, writes, most = 8, 100, 50 * time.Millisecond
	url := catalogtest.Postgres(t)
	program := other(t, url)
	home := newShelf(t, open(t, url))
	var running []*db.Store
	var following, writing sync.WaitGroup
	for range servers {
		s := open(t, url)
		running = append(running, s)
		f := subscribed(t, s)
		following.Go(func() { f.next(t, servers*writes) })
	}
	begun := ask[time.Time](t, program, `SELECT clock_timestamp()`)
	for _, s := range running {
		book := must[*model.Book](t)(s.Books.Create(t.Context(), newBook("New", home.genre.ID)))
		writing.Go(func() {
			for range writes - 1 {
				_ = second(s.Books.Update(t.Context(), book.ID, rename("Newer"), nil))
			}
		})
	}
	writing.Wait()
	following.Wait()
	took := ask[time.Time](t, program, `SELECT clock_timestamp()`).Sub(begun)
	ticks := ask[int](t, program, `SELECT count(*) FROM ticks WHERE at > $1`, begun)
	if t.Logf("%d ticks in %v", ticks, took); ticks > 2+3*int(took/most)/2 {
		t.Error("the servers tick too often")
	}
}

// TestIdleFeed wants a feed to read the log only after a tick, once for all subscribers.
func TestIdleFeed(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		var looks, reads atomic.Int64
		s.Observe(func(_ context.Context, statement stats.Statement) {
			switch {
			case statement.Text == "BEGIN":
				reads.Add(1)
			case strings.Contains(statement.Text, "FROM feed") || strings.Contains(statement.Text, "FROM ticks"):
				looks.Add(1)
			}
		})
		home := newShelf(t, s)
		streams := []followed{subscribed(t, s), subscribed(t, s), subscribed(t, s)}
		must[*model.Book](t)(s.Books.Update(t.Context(), home.book.ID, rename("Second"), nil))
		for _, f := range streams {
			f.next(t, 1)
		}
		wait := func(n int64) {
			for before := looks.Load(); looks.Load() < before+n; {
				runtime.Gosched()
			}
		}
		wait(6) // the last of them may have read the own tick once more
		before := reads.Load()
		wait(6)
		if n := reads.Load() - before; n > 0 {
			t.Errorf("%d transactions without a change", n)
		}
	})
}

// TestLogByIndex follows with plans that were made while the log was short: they read it by its indexes, because it grows.
func TestLogByIndex(t *testing.T) {
	t.Parallel()
	url := catalogtest.Postgres(t)
	s, program := open(t, url), other(t, url)
	home := newShelf(t, s)
	addBooks(t, program, 30, home.genre.ID)
	f := subscribed(t, s)
	exec(t, program, `ANALYZE changes`)
	const scans = `SELECT coalesce(seq_scan, 0), coalesce(idx_scan, 0) FROM pg_stat_user_tables WHERE relname = 'changes'`
	read := func() (whole, byIndex int) {
		check(t, program.QueryRowContext(t.Context(), scans).Scan(&whole, &byIndex))
		return whole, byIndex
	}
	before, indexed := read()
	for whole, n := before, indexed; n < indexed+20; whole, n = read() {
		if whole > before {
			t.Fatalf("the log was read whole %d times", whole-before)
		}
		must[*model.Book](t)(s.Books.Update(t.Context(), home.book.ID, rename("New"), nil))
		f.next(t, 1)
	}
}

package stmt_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"
	_ "modernc.org/sqlite"

	"library-catalogue/db/stmt"
)

// newPool returns a pool of at most max prepared statements. Its background functions run in place, with an ended
// context.
func newPool(t *testing.T, max int) *stmt.Pool {
	t.Helper()
	conns, err := sqlx.Open("sqlite", filepath.Join(t.TempDir(), "test.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conns.Close() })
	ended, end := context.WithCancel(t.Context())
	end()
	return stmt.NewPool(conns, max, func(fn func(context.Context)) bool { fn(ended); return true })
}

// TestPool prepares statements once and drops all beyond the maximum.
func TestPool(t *testing.T) {
	t.Parallel()
	pool := newPool(t, 3)
	for n, want := range []int{1, 2, 3, 1, 2} {
		for range 2 {
			var got int
			if err := stmt.Get(t.Context(), pool, &got, fmt.Sprint("SELECT ", n)); err != nil || got != n {
				t.Fatalf("%d: got %d, %v", n, got, err)
			}
		}
		if got := pool.Prepared(); got != want {
			t.Errorf("after %d statements %d are prepared, want %d", n+1, got, want)
		}
	}
	if err := stmt.Get(t.Context(), stmt.Unprepared(pool), new(int), "SELECT 10"); err != nil || pool.Prepared() != 2 {
		t.Errorf("unprepared: %v, %d prepared", err, pool.Prepared())
	}
	pool.Unprepared.Store(true)
	if err := stmt.Get(t.Context(), pool, new(int), "SELECT 11"); err != nil || pool.Prepared() != 2 {
		t.Errorf("behind a pooler: %v, %d prepared", err, pool.Prepared())
	}
}

// TestTracked tells a statement that returned rows from one that failed before, in a pool and in a transaction.
func TestTracked(t *testing.T) {
	t.Parallel()
	pool := newPool(t, 10)
	tx, err := pool.BeginTxx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for name, on := range map[string]stmt.Handle{"pool": pool, "transaction": stmt.Tx{Tx: tx, Pool: pool}, "direct": stmt.Direct(tx)} {
		type row struct{ A, B int }
		var rows []row
		tracked := &stmt.Tracked{Handle: on}
		err := stmt.Select(t.Context(), tracked, &rows, "SELECT $1 AS a, 2 AS b UNION ALL SELECT 3, 4", 1)
		if diff := cmp.Diff([]row{{1, 2}, {3, 4}}, rows); diff != "" || err != nil || !tracked.HasRows {
			t.Errorf("%s: %v, rows %t, %s", name, err, tracked.HasRows, diff)
		}
		if err := stmt.Get(t.Context(), tracked, new(int), "SELECT 1 WHERE 1 = 0"); !errors.Is(err, sql.ErrNoRows) {
			t.Errorf("%s: no row: %v", name, err)
		}
		tracked = &stmt.Tracked{Handle: on}
		if err := stmt.Get(t.Context(), tracked, new(int), "SELECT nothing"); err == nil || tracked.HasRows {
			t.Errorf("%s: a wrong statement: %v, rows %t", name, err, tracked.HasRows)
		}
	}
}

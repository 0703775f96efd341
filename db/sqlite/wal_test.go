package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"library-catalogue/db/sqlite"
)

// TestLimitWAL writes 96 MB while at every moment a read is open, so that SQLite alone
// never restarts its log.
func TestLimitWAL(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "catalogue.db")
	writer := open(t, path, sqlite.ReadWrite, 1)
	if _, err := writer.Exec(`CREATE TABLE t (a BLOB)`); err != nil {
		t.Fatal(err)
	}
	reader := open(t, path, sqlite.ReadOnly, 4)
	ctx, stop := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := sqlite.LimitWAL(ctx, path, writer); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	})
	running.Go(func() {
		end := func() {}
		for ctx.Err() == nil { // each read begins before the previous one ends
			begun, ended := make(chan struct{}), make(chan struct{})
			running.Go(func() {
				defer close(begun)
				tx, err := reader.BeginTxx(ctx, nil)
				if err != nil {
					return
				}
				var n int
				_ = tx.Get(&n, `SELECT count(*) FROM t`)
				begun <- struct{}{}
				<-ended
				_ = tx.Rollback()
			})
			<-begun
			end()
			end = func() { close(ended) }
		}
		end()
	})
	var largest int64
	for range 96 {
		if _, err := writer.Exec(`INSERT INTO t VALUES (zeroblob(1 << 20))`); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		largest = max(largest, info.Size())
	}
	stop()
	running.Wait()
	if most := int64(64 << 20); largest > most { // its size if only the third attempt finds a moment without readers
		t.Errorf("the write-ahead log had %d MB, want %d at most", largest>>20, most>>20)
	}
}

package sqlite_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/errgroup"

	"library-catalogue/db/sqlite"
)

// open opens a database as the store does.
func open(t *testing.T, path string, mode sqlite.Mode, connections int) *sqlx.DB {
	t.Helper()
	pool, err := sqlite.Open(t.Context(), path, mode, connections)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	return pool
}

// TestPragmas reads the pragmas of every connection of a pool, because each has its own.
func TestPragmas(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "catalogue.db")
	const connections = 3
	for _, mode := range []struct {
		sqlite.Mode
		queryOnly string
	}{{sqlite.ReadWrite, "0"}, {sqlite.ReadOnly, "1"}} {
		pool := open(t, path, mode.Mode, connections)
		want := map[string]string{
			"journal_mode": "wal", "foreign_keys": "1", "synchronous": "2", "busy_timeout": "10000",
			"trusted_schema": "0", "query_only": mode.queryOnly,
		}
		if n := pool.Stats().MaxOpenConnections; n != connections {
			t.Errorf("%d connections, want %d", n, connections)
		}
		for range connections {
			conn, err := pool.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func(conn *sql.Conn) { conn.Close() }(conn) // all are held until the end
			got := map[string]string{}
			for pragma := range want {
				var value string
				if err := conn.QueryRowContext(t.Context(), "PRAGMA "+pragma).Scan(&value); err != nil {
					t.Fatal(err)
				}
				got[pragma] = value
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("query_only %s (-want +got):\n%s", mode.queryOnly, diff)
			}
		}
	}
	if _, err := open(t, path, sqlite.ReadOnly, 1).Exec("CREATE TABLE t (a)"); err == nil {
		t.Error("a connection for reading writes")
	}
}

// TestOpenAndCloseAtOnce opens a new file from many pools, all of which try to make it a
// WAL database, and closes it. The last one removes the log.
func TestOpenAndCloseAtOnce(t *testing.T) {
	t.Parallel()
	for range 10 {
		path := filepath.Join(t.TempDir(), "catalogue.db")
		var group errgroup.Group
		for range 12 {
			group.Go(func() error {
				for range 3 {
					pool, err := sqlite.Open(t.Context(), path, sqlite.ReadWrite, 1)
					if err != nil {
						return err
					}
					if err := pool.Close(); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestFileModes creates a database with access for its owner only, and keeps the mode of
// an existing file.
func TestFileModes(t *testing.T) {
	t.Parallel()
	fresh, shared := filepath.Join(t.TempDir(), "fresh.db"), filepath.Join(t.TempDir(), "shared.db")
	if err := os.WriteFile(shared, nil, 0o640); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]os.FileMode{fresh: 0o600, shared: 0o640} {
		if _, err := open(t, path, sqlite.ReadWrite, 1).Exec("CREATE TABLE t (a)"); err != nil {
			t.Fatal(err)
		}
		for _, suffix := range []string{"", "-wal", "-shm"} {
			info, err := os.Stat(path + suffix)
			if err != nil {
				t.Fatal(err)
			}
			if info.Mode() != want {
				t.Errorf("%s%s has the mode %v, want %v", filepath.Base(path), suffix, info.Mode(), want)
			}
		}
	}
}

// Package sqlite opens SQLite databases with the settings of the catalogue, limits the write-ahead
// log, and creates, checks and restores backups.
package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"time"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"library-catalogue/graph/model/collate"
)

func init() {
	sqlx.BindDriver("sqlite", sqlx.DOLLAR)
	// Only queries may use them. Triggers and indexes must not, because other programs lack them.
	for name, of := range map[string]func(string) string{"fold": collate.Fold, "natural_key": collate.NaturalKey} {
		sqlite.MustRegisterDeterministicScalarFunction(name, 1,
			func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
				text, ok := args[0].(string)
				if !ok {
					return nil, nil
				}
				return of(text), nil
			})
	}
}

// Mode is the purpose of connections.
type Mode url.Values

// The modes. A transaction that writes locks the file when it begins, because it might fail to get
// the lock later.
var (
	ReadWrite = Mode{"_txlock": {"immediate"}}
	ReadOnly  = Mode{"_pragma": {"query_only(1)"}}
)

// busyTimeout bounds the wait for a lock of another process.
const busyTimeout = 10 * time.Second

func busyPragma(timeout time.Duration) string {
	return fmt.Sprintf("busy_timeout(%d)", timeout.Milliseconds())
}

// Open opens connections to a file. It creates a missing file with access for its owner only;
// SQLite uses the same mode for the files next to it.
func Open(ctx context.Context, path string, mode Mode, connections int) (*sqlx.DB, error) {
	pool, err := open(ctx, path, mode, connections)
	if err != nil {
		return nil, fmt.Errorf("cannot open the SQLite database %s: %w", path, err)
	}
	return pool, nil
}

func open(ctx context.Context, path string, mode Mode, connections int) (*sqlx.DB, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = file.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	params := url.Values{"_txlock": mode["_txlock"], "_pragma": append([]string{
		busyPragma(busyTimeout), "journal_mode(WAL)", "foreign_keys(1)", "synchronous(FULL)", "trusted_schema(0)",
	}, mode["_pragma"]...)}
	pool, err := sqlx.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+params.Encode())
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(connections)
	pool.SetMaxIdleConns(connections)
	if err := pingUntilFree(ctx, pool.DB); err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return pool, nil
}

// pingUntilFree opens a connection. If several processes convert a file to a WAL database at the
// same time, all but one get SQLITE_BUSY immediately, despite busy_timeout.
func pingUntilFree(ctx context.Context, pool *sql.DB) error {
	for began := time.Now(); ; {
		err := pool.PingContext(ctx)
		e, ours := errors.AsType[*sqlite.Error](err)
		if !ours || e.Code()&0xff != sqlite3.SQLITE_BUSY || time.Since(began) > busyTimeout {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(5 * time.Millisecond):
		}
	}
}

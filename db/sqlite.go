package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"library-catalogue/db/dialect"
	"library-catalogue/graph/model"
)

func init() {
	sqlx.BindDriver("sqlite", sqlx.DOLLAR)
	// For queries alone: triggers and indexes must do without, so that other
	// programs can write.
	sqlite.MustRegisterDeterministicScalarFunction("fold", 1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		text, ok := args[0].(string)
		if !ok {
			return nil, nil
		}
		return model.Fold(text), nil
	})
}

// openSQLite opens the file of a database URL, which is made where it is not there. One
// connection writes, so that writers of this process wait in line in Go, and a
// writer of another process is waited for by busy_timeout.
func openSQLite(ctx context.Context, raw string) (*Store, error) {
	path := strings.TrimPrefix(raw, sqlitePrefix)
	open := func(connections int, params url.Values) (*sqlx.DB, error) {
		params["_pragma"] = append([]string{
			fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds()), "journal_mode(WAL)", "foreign_keys(1)", "synchronous(FULL)", "trusted_schema(0)",
		}, params["_pragma"]...)
		pool, err := sqlx.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+params.Encode())
		if err != nil {
			return nil, err
		}
		pool.SetMaxOpenConns(connections)
		pool.SetMaxIdleConns(connections)
		if err := pingUntilFree(ctx, pool.DB); err != nil {
			pool.Close()
			return nil, fmt.Errorf("the SQLite database %s cannot be opened: %w", path, err)
		}
		return pool, nil
	}
	writer, err := open(1, url.Values{"_txlock": {"immediate"}})
	if err != nil {
		return nil, err
	}
	reader, err := open(max(4, runtime.NumCPU()), url.Values{"_pragma": {"query_only(1)"}})
	if err != nil {
		writer.Close()
		return nil, err
	}
	prober, err := open(1, url.Values{"_pragma": {"query_only(1)"}})
	if err != nil {
		return nil, errors.Join(err, writer.Close(), reader.Close())
	}
	return &Store{dialect: dialect.SQLite, reader: newPool(reader), writer: newPool(writer), prober: onlyOne(prober.DB)}, nil
}

// busyTimeout is how long a lock of another process is waited for.
const busyTimeout = 10 * time.Second

// pingUntilFree opens a connection. Of processes that make a file a WAL database
// at the same moment all but one are told that it is busy, for which
// busy_timeout does not wait.
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

// classifySQLite follows https://www.sqlite.org/rescode.html.
func classifySQLite(e *sqlite.Error) fault {
	if e.Code() == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY {
		return foreignKey
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return full
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT:
		return late
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY:
		return unavailable
	}
	return unknown
}

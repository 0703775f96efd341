package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jmoiron/sqlx"
	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

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
	return &Store{dialect: sqliteDialect{}, reader: newPool(reader), writer: newPool(writer), prober: onlyOne(prober.DB)}, nil
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

type sqliteDialect struct{}

func (sqliteDialect) name() string         { return "sqlite" }
func (sqliteDialect) goose() goose.Dialect { return goose.DialectSQLite3 }
func (sqliteDialect) exclude(context.Context, *pool) (func(), error) {
	return func() {}, nil
}
func (sqliteDialect) in(column, placeholder string) string {
	return column + " IN (SELECT value FROM json_each(" + placeholder + "))"
}
func (d sqliteDialect) byKeys(table string) string {
	return table + " r WHERE " + d.in("r.id", "$1")
}
func (sqliteDialect) now() string                    { return "strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')" }
func (sqliteDialect) forUpdate() string              { return "" } // a writer is alone
func (sqliteDialect) forReference() string           { return "" }
func (sqliteDialect) impatient(time.Duration) string { return "" }

func (sqliteDialect) covered(*model.Page) bool { return false }

func (sqliteDialect) newRows(columns []string, _ string, rows int) string {
	return "VALUES " + tuples(rows, len(columns))
}

func (sqliteDialect) newValues(rows [][]any) []any { return slices.Concat(rows...) }
func (sqliteDialect) lateral() bool                { return false }
func (sqliteDialect) rowValues() bool              { return false }
func (sqliteDialect) snapshot() *sql.TxOptions     { return &sql.TxOptions{ReadOnly: true} }

func (sqliteDialect) olderThan(column string, hours int) string {
	return column + " < strftime('%Y-%m-%dT%H:%M:%f000Z', 'now', '-" + strconv.Itoa(hours) + " hours')"
}

func (sqliteDialect) cursor(string, int) (declare, fetch string) { return "", "" }

func (sqliteDialect) keys(ids []model.ID) any {
	text, _ := json.Marshal(ids) // numbers always have a JSON text
	return string(text)
}

func (sqliteDialect) array(values any) any {
	text, _ := json.Marshal(values) // numbers and texts always have a JSON text
	return string(text)
}

func (sqliteDialect) day(column string) string    { return column }
func (sqliteDialect) moment(column string) string { return column }

func (sqliteDialect) year(date string) string { return "CAST(substr(" + date + ", 1, 4) AS integer)" }

func (sqliteDialect) folded(column string) (string, bool) {
	if strings.HasSuffix(column, ".description") { // long, and triggers would fold it slowly
		return "fold(" + column + ")", false
	}
	return column + "_fold", true
}

func (sqliteDialect) sortKey(folded string) string { return "substr(" + folded + ", 1, 100)" }

func (sqliteDialect) bytewise(text string) string { return text }

func (sqliteDialect) match(w *statement, _ string, op model.Op, text, operand string) string {
	length := strconv.Itoa(utf8.RuneCountInString(operand))
	switch op {
	case model.StartsWithFolded:
		return "substr(" + text + ", 1, " + length + ") = " + w.arg(operand)
	case model.EndsWithFolded:
		return "substr(" + text + ", max(1, length(" + text + ") - " + length + " + 1)) = " + w.arg(operand)
	}
	return "instr(" + text + ", " + w.arg(operand) + ") > 0"
}

// classify follows https://www.sqlite.org/rescode.html.
func (sqliteDialect) classify(err error) fault {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return unknown
	}
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

// Package stmt runs statements in pools of connections and in transactions. A pool prepares each statement
// once, so that the database parses and plans it once.
package stmt

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db/fault"
	"library-catalogue/graph/model"
)

// Handle runs statements: a pool or a transaction.
type Handle interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
}

// Pool is a connection pool that prepares statements. Transactions use the prepared statements too.
type Pool struct {
	*sqlx.DB
	Unprepared atomic.Bool // statements run unprepared, because a pooler may change the server

	max        int                              // prepared statements
	background func(func(context.Context)) bool // runs a function in a goroutine

	mu       sync.RWMutex
	prepared map[string]*sql.Stmt
}

// Max is the default maximum number of prepared statements. Beyond it all are dropped, and those in
// use are prepared again.
const Max = 500

// closeAfter delays closing dropped statements, because a caller may still use one.
const closeAfter = 5 * time.Second

// NewPool returns a pool of at most max prepared statements.
func NewPool(db *sqlx.DB, max int, background func(func(context.Context)) bool) *Pool {
	return &Pool{DB: db, max: max, background: background, prepared: map[string]*sql.Stmt{}}
}

// Prepared returns the number of prepared statements.
func (p *Pool) Prepared() int {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return len(p.prepared)
}

// cached returns the prepared statement of a text, or nil.
func (p *Pool) cached(text string) *sql.Stmt {
	if p.Unprepared.Load() {
		return nil
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.prepared[text]
}

// statement returns the prepared statement of a text and prepares it if needed; nil means that the text runs
// unprepared. That may need a connection, so the caller must not hold one.
func (p *Pool) statement(ctx context.Context, text string) (*sql.Stmt, error) {
	if stmt := p.cached(text); stmt != nil || p.Unprepared.Load() {
		return stmt, nil
	}
	stmt, err := p.PrepareContext(ctx, text)
	if fault.ConnectionLost(err) {
		return nil, errors.Join(model.ErrRetry, err) // nothing ran
	}
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if first := p.prepared[text]; first != nil { // another goroutine was faster
		// Close needs the connection that prepared it. A transaction may hold that connection and
		// wait for another one that waits for p.mu.
		p.background(func(context.Context) { _ = stmt.Close() })
		return first, nil
	}
	if len(p.prepared) >= p.max {
		old := p.prepared
		p.background(func(ctx context.Context) {
			select {
			case <-ctx.Done():
			case <-time.After(closeAfter):
			}
			for _, stmt := range old {
				_ = stmt.Close()
			}
		})
		p.prepared = map[string]*sql.Stmt{}
	}
	p.prepared[text] = stmt
	return stmt, nil
}

// QueryContext implements Handle.
func (p *Pool) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	stmt, err := p.statement(ctx, text) //nolint:sqlclosecheck // it stays prepared
	if err != nil {
		return nil, err
	}
	if stmt == nil {
		return p.DB.QueryContext(ctx, text, args...)
	}
	return stmt.QueryContext(ctx, args...)
}

// Tx is a transaction.
type Tx struct {
	*sqlx.Tx
	Pool *Pool
}

// QueryContext implements Handle. It uses the prepared statements of the pool.
func (t Tx) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if stmt := t.Pool.cached(text); stmt != nil {
		return t.StmtContext(ctx, stmt).QueryContext(ctx, args...) //nolint:sqlclosecheck // the end of the transaction closes it
	}
	return t.Tx.QueryContext(ctx, text, args...)
}

// Unprepared returns a Handle that runs statements unprepared.
func Unprepared(h Handle) Handle {
	switch h := h.(type) {
	case *Tracked:
		h.Handle = Unprepared(h.Handle)
	case *Pool:
		return h.DB
	case Tx:
		return h.Tx
	}
	return h
}

// Tracked is a Handle that records its last statement.
type Tracked struct {
	Handle
	Text    string
	HasRows bool // the statement returned rows
}

// QueryContext implements Handle.
func (t *Tracked) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	t.Text = text
	rows, err := t.Handle.QueryContext(ctx, text, args...)
	t.HasRows = err == nil
	return rows, err
}

// ExecContext implements Handle.
func (t *Tracked) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	t.Text = text
	return t.Handle.ExecContext(ctx, text, args...)
}

// Get sets a value or a struct to the one row of a statement. Without a row it returns sql.ErrNoRows.
func Get(ctx context.Context, h Handle, into any, text string, args ...any) error {
	one := reflect.ValueOf(into).Elem()
	all := reflect.New(reflect.SliceOf(one.Type()))
	if err := Select(ctx, h, all.Interface(), text, args...); err != nil {
		return err
	}
	if all.Elem().Len() == 0 {
		return sql.ErrNoRows
	}
	one.Set(all.Elem().Index(0))
	return nil
}

// Select appends the rows of a statement to a slice of values or of structs.
func Select(ctx context.Context, h Handle, into any, text string, args ...any) error {
	rows, err := h.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	all := reflect.ValueOf(into).Elem()
	row := reflect.New(all.Type().Elem())
	if _, scans := row.Interface().(sql.Scanner); row.Elem().Kind() == reflect.Struct && !scans {
		return sqlx.StructScan(rows, into)
	}
	for rows.Next() {
		if err := rows.Scan(row.Interface()); err != nil {
			return err
		}
		all.Set(reflect.Append(all, row.Elem()))
	}
	return rows.Err()
}

// Package stmt runs statements in pools of connections and in transactions. A pool prepares each statement
// once, so that the database parses and plans it once.
package stmt

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/jmoiron/sqlx/reflectx"

	"library-catalogue/db/fault"
	"library-catalogue/graph/model"
)

// Handle runs statements: a pool or a transaction.
type Handle interface {
	// Statement returns the statement of a text, prepared or not. It needs no Close.
	Statement(ctx context.Context, text string) (Statement, error)
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
}

// Statement is a statement that returns rows, such as an *sql.Stmt.
type Statement interface {
	QueryContext(ctx context.Context, args ...any) (*sql.Rows, error)
}

// queryer runs texts: an *sqlx.DB or an *sqlx.Tx.
type queryer interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
}

// Direct returns a Handle that runs statements unprepared.
func Direct(on queryer) Handle { return direct{on} }

type direct struct{ queryer }

func (d direct) Statement(_ context.Context, text string) (Statement, error) {
	return unprepared{d.queryer, text}, nil
}

// unprepared is a Statement.
type unprepared struct {
	on   queryer
	text string
}

func (s unprepared) QueryContext(ctx context.Context, args ...any) (*sql.Rows, error) {
	return s.on.QueryContext(ctx, s.text, args...)
}

// Pool is a connection pool that prepares statements. Transactions use the prepared statements too.
type Pool struct {
	*sqlx.DB
	Unprepared atomic.Bool // statements run unprepared, because a pooler may change the server

	max        int                              // prepared statements
	background func(func(context.Context)) bool // runs a function in a goroutine

	mu        sync.RWMutex
	prepared  map[string]*sql.Stmt
	preparing map[string]bool // by PrepareSoon
}

// Max is the default maximum number of prepared statements. Beyond it all are dropped, and those in
// use are prepared again.
const Max = 500

// closeAfter delays closing dropped statements, because a caller may still use one.
const closeAfter = 5 * time.Second

// NewPool returns a pool of at most max prepared statements.
func NewPool(db *sqlx.DB, max int, background func(func(context.Context)) bool) *Pool {
	return &Pool{DB: db, max: max, background: background, prepared: map[string]*sql.Stmt{},
		preparing: map[string]bool{}}
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

// PrepareSoon prepares a text in the background, so that later transactions find it prepared. A text that cannot be
// prepared has its error when it runs.
func (p *Pool) PrepareSoon(text string) {
	if p.cached(text) != nil || p.Unprepared.Load() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.preparing[text] {
		return
	}
	p.preparing[text] = p.background(func(ctx context.Context) {
		_, _ = p.statement(ctx, text) //nolint:sqlclosecheck // it stays in the pool
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.preparing, text)
	})
}

// Statement implements Handle.
func (p *Pool) Statement(ctx context.Context, text string) (Statement, error) {
	stmt, err := p.statement(ctx, text)
	if stmt == nil {
		return unprepared{p.DB, text}, err
	}
	return stmt, err
}

// Tx is a transaction.
type Tx struct {
	*sqlx.Tx
	Pool *Pool
}

// Statement implements Handle. It uses the prepared statements of the pool.
func (t Tx) Statement(ctx context.Context, text string) (Statement, error) {
	if stmt := t.Pool.cached(text); stmt != nil {
		return t.StmtContext(ctx, stmt), nil
	}
	return unprepared{t.Tx, text}, nil
}

// Unprepared returns a Handle that runs statements unprepared.
func Unprepared(h Handle) Handle {
	switch h := h.(type) {
	case *Tracked:
		h.Handle = Unprepared(h.Handle)
	case *Pool:
		return Direct(h.DB)
	case Tx:
		return Direct(h.Tx)
	}
	return h
}

// Tracked is a Handle that records whether its last statement returned rows.
type Tracked struct {
	Handle
	HasRows bool
}

// Statement implements Handle.
func (t *Tracked) Statement(ctx context.Context, text string) (Statement, error) {
	stmt, err := t.Handle.Statement(ctx, text)
	return trackedStatement{stmt, t}, err
}

// trackedStatement notes in t that it returned rows.
type trackedStatement struct {
	Statement
	t *Tracked
}

func (s trackedStatement) QueryContext(ctx context.Context, args ...any) (*sql.Rows, error) {
	rows, err := s.Statement.QueryContext(ctx, args...)
	s.t.HasRows = err == nil
	return rows, err
}

// Query runs a statement that returns rows.
func Query(ctx context.Context, h Handle, text string, args ...any) (*sql.Rows, error) {
	stmt, err := h.Statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// Get sets a value or a struct to the one row of a statement. Without a row it returns sql.ErrNoRows.
func Get(ctx context.Context, h Handle, into any, text string, args ...any) error {
	rows, err := Query(ctx, h, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		return cmp.Or(rows.Err(), sql.ErrNoRows)
	}
	if err := scan(&sqlx.Rows{Rows: rows, Mapper: mapper}, into); err != nil {
		return err
	}
	return rows.Close()
}

// Select appends the rows of a statement to a slice of values or of structs.
func Select(ctx context.Context, h Handle, into any, text string, args ...any) error {
	rows, err := Query(ctx, h, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	all, mapped := reflect.ValueOf(into).Elem(), &sqlx.Rows{Rows: rows, Mapper: mapper}
	for rows.Next() {
		row := reflect.New(all.Type().Elem())
		if err := scan(mapped, row.Interface()); err != nil {
			return err
		}
		all.Set(reflect.Append(all, row.Elem()))
	}
	return rows.Err()
}

// mapper finds the field of a column as sqlx does.
var mapper = reflectx.NewMapperFunc("db", sqlx.NameMapper)

// scan scans the current row into a value or a struct.
func scan(rows *sqlx.Rows, row any) error {
	if _, scans := row.(sql.Scanner); !scans && reflect.TypeOf(row).Elem().Kind() == reflect.Struct {
		return rows.StructScan(row)
	}
	return rows.Scan(row)
}

package db

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db/fault"
	"library-catalogue/graph/model"
)

// pool is a connection pool. It prepares each statement once, so that the database parses and plans
// it once. Transactions use the prepared statements too.
type pool struct {
	*sqlx.DB
	background  func(func(context.Context)) bool // the Store's Background
	maxPrepared int
	unprepared  atomic.Bool // statements run unprepared, because a pooler may change the server

	mu       sync.RWMutex
	prepared map[string]*sqlx.Stmt
}

// maxPrepared is the maximum number of prepared statements. Beyond it all are dropped, and those in
// use are prepared again.
const maxPrepared = 500

// closeAfter delays closing dropped statements, because a caller may still use one.
const closeAfter = 5 * time.Second

func (s *Store) newPool(db *sqlx.DB) *pool {
	p := &pool{DB: db, background: s.Background, maxPrepared: s.options.maxPrepared, prepared: map[string]*sqlx.Stmt{}}
	p.unprepared.Store(s.pooled())
	return p
}

// nothingPrepared is the pool of transactions on replicas, whose statements run unprepared.
var nothingPrepared = func() *pool {
	p := new(pool)
	p.unprepared.Store(true)
	return p
}()

// cached returns the prepared statement of a text, or nil.
func (p *pool) cached(text string) *sqlx.Stmt {
	if p.unprepared.Load() {
		return nil
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.prepared[text]
}

type preparer interface {
	// statement returns the prepared statement of a text; nil means that the text runs unprepared.
	statement(ctx context.Context, text string) (*sqlx.Stmt, error)
}

// statement returns the prepared statement of a text and prepares it if needed. That may need a
// connection, so the caller must not hold one.
func (p *pool) statement(ctx context.Context, text string) (*sqlx.Stmt, error) {
	if stmt := p.cached(text); stmt != nil || p.unprepared.Load() {
		return stmt, nil
	}
	stmt, err := p.PreparexContext(ctx, text)
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
	if len(p.prepared) >= p.maxPrepared {
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
		p.prepared = map[string]*sqlx.Stmt{}
	}
	p.prepared[text] = stmt
	return stmt, nil
}

// QueryContext implements sqlx.QueryerContext.
func (p *pool) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	stmt, err := p.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	if stmt == nil {
		return p.DB.QueryContext(ctx, text, args...)
	}
	return stmt.QueryContext(ctx, args...)
}

// QueryxContext implements sqlx.QueryerContext.
func (p *pool) QueryxContext(ctx context.Context, text string, args ...any) (*sqlx.Rows, error) {
	stmt, err := p.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	if stmt == nil {
		return p.DB.QueryxContext(ctx, text, args...)
	}
	return stmt.QueryxContext(ctx, args...)
}

// QueryRowxContext implements sqlx.QueryerContext.
func (p *pool) QueryRowxContext(ctx context.Context, text string, args ...any) *sqlx.Row {
	stmt, err := p.statement(ctx, text)
	if err != nil || stmt == nil { // Row reports the error of this attempt
		return p.DB.QueryRowxContext(ctx, text, args...)
	}
	return stmt.QueryRowxContext(ctx, args...)
}

// txHandle runs statements in a transaction. It uses the pool's prepared statements.
type txHandle struct {
	*sqlx.Tx
	pool *pool
}

// statement implements preparer.
//
//nolint:unparam // the pool's statement has errors
func (t txHandle) statement(ctx context.Context, text string) (*sqlx.Stmt, error) {
	if stmt := t.pool.cached(text); stmt != nil {
		return t.StmtxContext(ctx, stmt), nil
	}
	return nil, nil
}

// QueryContext implements sqlx.QueryerContext.
func (t txHandle) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	if stmt, _ := t.statement(ctx, text); stmt != nil {
		return stmt.QueryContext(ctx, args...)
	}
	return t.Tx.QueryContext(ctx, text, args...)
}

// QueryRowxContext implements sqlx.QueryerContext.
func (t txHandle) QueryRowxContext(ctx context.Context, text string, args ...any) *sqlx.Row {
	if stmt, _ := t.statement(ctx, text); stmt != nil {
		return stmt.QueryRowxContext(ctx, args...)
	}
	return t.Tx.QueryRowxContext(ctx, text, args...)
}

// onlyIDs reports whether a selection depends on ids alone, which one plan serves well. With any
// other condition the best plan depends on the value, so the statement is planned for its own
// arguments.
func onlyIDs(sel model.Selection) bool { return sel.Search == "" && usesOnlyID(sel.Where) }

// usesOnlyID reports whether a condition compares ids with a value or a range.
func usesOnlyID(c *model.Condition) bool {
	switch {
	case c == nil:
		return true
	case c.Op == model.And:
		return !slices.ContainsFunc(c.Of, func(part *model.Condition) bool { return !usesOnlyID(part) })
	}
	return c.Field == "id" && slices.Contains([]model.Op{model.Eq, model.Gt, model.Gte, model.Lt, model.Lte}, c.Op)
}

// unprepared returns a handle that runs statements unprepared.
func unprepared(h handle) handle {
	switch h := h.(type) {
	case *trackedHandle:
		h.handle = unprepared(h.handle)
	case *pool:
		return h.DB
	case txHandle:
		return h.Tx
	}
	return h
}

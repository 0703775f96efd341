package db

import (
	"context"
	"database/sql"
	"sync"

	"github.com/jmoiron/sqlx"
)

// pool is a set of connections. A statement that is run on it, outside of a
// transaction, is prepared once, so that the database parses and plans it once.
type pool struct {
	*sqlx.DB

	mu       sync.RWMutex
	prepared map[string]*sqlx.Stmt
}

// maxPrepared is how many statements are kept prepared; what comes after them
// is parsed each time.
const maxPrepared = 500

func newPool(db *sqlx.DB) *pool { return &pool{DB: db, prepared: map[string]*sqlx.Stmt{}} }

// statement gives the prepared statement of a text, or nil where there is no
// place for it.
func (p *pool) statement(ctx context.Context, text string) (*sqlx.Stmt, error) {
	p.mu.RLock()
	stmt, n := p.prepared[text], len(p.prepared)
	p.mu.RUnlock()
	if stmt != nil || n >= maxPrepared {
		return stmt, nil
	}
	stmt, err := p.PreparexContext(ctx, text)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if first := p.prepared[text]; first != nil { // somebody was faster
		return first, stmt.Close()
	}
	p.prepared[text] = stmt
	return stmt, nil
}

// QueryContext implements sqlx.QueryerContext.
func (p *pool) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	stmt, err := p.statement(ctx, text)
	switch {
	case err != nil:
		return nil, err
	case stmt == nil:
		return p.DB.QueryContext(ctx, text, args...)
	}
	return stmt.QueryContext(ctx, args...)
}

// QueryxContext implements sqlx.QueryerContext.
func (p *pool) QueryxContext(ctx context.Context, text string, args ...any) (*sqlx.Rows, error) {
	stmt, err := p.statement(ctx, text)
	switch {
	case err != nil:
		return nil, err
	case stmt == nil:
		return p.DB.QueryxContext(ctx, text, args...)
	}
	return stmt.QueryxContext(ctx, args...)
}

// QueryRowxContext implements sqlx.QueryerContext.
func (p *pool) QueryRowxContext(ctx context.Context, text string, args ...any) *sqlx.Row {
	stmt, err := p.statement(ctx, text)
	if err != nil || stmt == nil { // the row then has the error of its own attempt
		return p.DB.QueryRowxContext(ctx, text, args...)
	}
	return stmt.QueryRowxContext(ctx, args...)
}

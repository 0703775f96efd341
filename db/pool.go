package db

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"library-catalogue/graph/model"
)

// pool is a set of connections. A statement that is run on it is prepared once,
// so that the database parses and plans it once; a transaction uses what was
// prepared outside of one.
type pool struct {
	*sqlx.DB
	maxPrepared int

	mu       sync.RWMutex
	prepared map[string]*sqlx.Stmt
}

// maxPrepared is how many statements are kept prepared; past that all are
// forgotten, which costs those in use one preparation each.
const maxPrepared = 500

// closeAfter is how long a forgotten statement stays open for those who have
// just been given it. A closed one answers with an error.
const closeAfter = 5 * time.Second

func (s *Store) newPool(db *sqlx.DB) *pool {
	return &pool{DB: db, maxPrepared: s.options.maxPrepared, prepared: map[string]*sqlx.Stmt{}}
}

// ready returns the prepared statement of a text, or nil where there is none.
func (p *pool) ready(text string) *sqlx.Stmt {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.prepared[text]
}

// preparer is a handle that has prepared statements.
type preparer interface {
	// statement returns the prepared statement of a text; nil: it is to be run as it is.
	statement(ctx context.Context, text string) (*sqlx.Stmt, error)
}

// statement returns the prepared statement of a text, and prepares it if need be.
// It may need a connection, so it is not for those who hold one.
func (p *pool) statement(ctx context.Context, text string) (*sqlx.Stmt, error) {
	if stmt := p.ready(text); stmt != nil {
		return stmt, nil
	}
	stmt, err := p.PreparexContext(ctx, text)
	if connectionLost(err) {
		return nil, errors.Join(errRetry, err) // nothing was run
	}
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if first := p.prepared[text]; first != nil { // somebody was faster
		// Closing needs the connection on which it was prepared. By now that may be
		// in a transaction, which may wait for one that waits for the lock here.
		go stmt.Close()
		return first, nil
	}
	if len(p.prepared) >= p.maxPrepared {
		old := p.prepared
		time.AfterFunc(closeAfter, func() {
			for _, stmt := range old {
				stmt.Close()
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
	return stmt.QueryContext(ctx, args...)
}

// QueryxContext implements sqlx.QueryerContext.
func (p *pool) QueryxContext(ctx context.Context, text string, args ...any) (*sqlx.Rows, error) {
	stmt, err := p.statement(ctx, text)
	if err != nil {
		return nil, err
	}
	return stmt.QueryxContext(ctx, args...)
}

// QueryRowxContext implements sqlx.QueryerContext.
func (p *pool) QueryRowxContext(ctx context.Context, text string, args ...any) *sqlx.Row {
	stmt, err := p.statement(ctx, text)
	if err != nil { // the row then has the error of its own attempt
		return p.DB.QueryRowxContext(ctx, text, args...)
	}
	return stmt.QueryRowxContext(ctx, args...)
}

// txHandle runs statements in a transaction, prepared where the pool has them
// so.
type txHandle struct {
	*sqlx.Tx
	pool *pool
}

// statement implements preparer.
func (t txHandle) statement(ctx context.Context, text string) (*sqlx.Stmt, error) {
	if stmt := t.pool.ready(text); stmt != nil {
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

// onlyIDs reports whether rows match by their own ids alone: then there is one good plan
// for all values. With any other condition what is best for a rare value is not for a
// frequent one, so that the statement is planned for its own values.
func onlyIDs(sel model.Selection) bool { return sel.Search == "" && isOfIDs(sel.Where) }

// isOfIDs reports whether a condition is about the rows' own ids, one or a range.
func isOfIDs(c *model.Condition) bool {
	switch {
	case c == nil:
		return true
	case c.Op == model.And:
		return !slices.ContainsFunc(c.Of, func(part *model.Condition) bool { return !isOfIDs(part) })
	}
	return c.Field == "id" && slices.Contains([]model.Op{model.Eq, model.Gt, model.Gte, model.Lt, model.Lte}, c.Op)
}

// unprepared returns the handle for a statement that is not to be prepared for others.
func unprepared(h handle) handle {
	switch h := h.(type) {
	case *remembering:
		h.handle = unprepared(h.handle)
	case *pool:
		return h.DB
	case txHandle:
		return h.Tx
	}
	return h
}

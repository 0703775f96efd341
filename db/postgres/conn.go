package postgres

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strings"
	"time"

	"github.com/lib/pq"
)

// ErrUnanswered says that a statement was sent, and that PostgreSQL did not say what
// became of it, or said that a commit is not sure. What it wrote may be stored.
var ErrUnanswered = errors.New("what became of a statement is not known")

// ErrConnect says that no connection could be opened, so that nothing was sent.
var ErrConnect = errors.New("no connection to PostgreSQL")

// conn is a connection of lib/pq. Each call on it carries the deadline of its context
// down to the network, at which lib/pq does not look while it reads.
type conn struct {
	pqConn
	wire   *wire
	bound  time.Duration // of a call whose context has no deadline
	unsure bool          // a commit of the present call was acknowledged with a warning
	failed bool          // a statement of the present transaction
}

// pqConn is what a connection of lib/pq implements.
type pqConn interface {
	driver.Conn
	driver.Tx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// pqStmt is what a prepared statement of lib/pq implements.
type pqStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

func newConn(opened driver.Conn, wire *wire, bound time.Duration) *conn {
	c := &conn{pqConn: opened.(pqConn), wire: wire, bound: bound}
	pq.SetNoticeHandler(opened, c.notice)
	return c
}

// notice looks for the warning that a commit is not sure: the wait for a synchronous
// standby was canceled, and the transaction is committed on this server alone. The
// name of the function that warns is in no language, as the message is.
func (c *conn) notice(notice *pq.Error) {
	if notice.Routine == "SyncRepWaitForLSN" {
		c.unsure = true
	}
}

// tidyTimeout bounds what follows a call that failed, and is not worth a wait.
const tidyTimeout = time.Second

// begin begins a call, which ends at its context's deadline. lib/pq then asks the server to
// cancel it, but not where the call has ended by itself: so the network waits longer.
func (c *conn) begin(ctx context.Context) {
	deadline, bounded := ctx.Deadline()
	if !bounded {
		deadline = time.Now().Add(c.bound)
	}
	c.unsure = false
	c.wire.begin(ctx, deadline.Add(tidyTimeout))
}

// tidy begins a call without a context, after which the connection is used again or
// closed.
func (c *conn) tidy() {
	c.wire.begin(context.Background(), time.Now().Add(tidyTimeout))
}

// end returns the error of a call. A connection that is still good had its answer.
// driver.ErrBadConn says that the statement was not run.
func (c *conn) end(err error) error {
	_, answered := errors.AsType[*pq.Error](err)
	c.failed = c.failed || answered
	switch {
	case c.unsure && (err == nil || errors.Is(err, io.EOF)):
		return fmt.Errorf("%w: the wait for a synchronous standby was canceled", ErrUnanswered)
	case err == nil, answered, c.IsValid(), !c.wire.sent, errors.Is(err, driver.ErrBadConn):
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnanswered, err)
}

// recovered makes a panic of lib/pq, which has met with bytes that are no message, the
// error of the call.
func (c *conn) recovered(err *error) {
	if failure := recover(); failure != nil {
		c.wire.Close()
		*err = fmt.Errorf("%w: lib/pq: panic: %v\n%s", ErrUnanswered, failure, debug.Stack())
	}
}

// IsValid implements driver.Validator.
func (c *conn) IsValid() bool { return !c.wire.broken.Load() && c.pqConn.IsValid() }

// Close implements driver.Conn.
func (c *conn) Close() error {
	c.tidy()
	return c.pqConn.Close()
}

// Ping implements driver.Pinger.
func (c *conn) Ping(ctx context.Context) (err error) {
	defer c.recovered(&err)
	c.begin(ctx)
	return c.pqConn.Ping(ctx)
}

// ExecContext implements driver.ExecerContext.
func (c *conn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (result driver.Result, err error) {
	defer c.recovered(&err)
	c.begin(ctx)
	result, err = c.pqConn.ExecContext(ctx, text, args)
	if err == nil && strings.HasPrefix(text, "ROLLBACK TO ") {
		c.failed = false // what failed was after the savepoint
	}
	return result, c.end(err)
}

// QueryContext implements driver.QueryerContext.
func (c *conn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (_ driver.Rows, err error) {
	defer c.recovered(&err)
	c.begin(ctx)
	result, err := c.pqConn.QueryContext(ctx, text, args)
	return c.rows(result, err)
}

// PrepareContext implements driver.ConnPrepareContext.
func (c *conn) PrepareContext(ctx context.Context, text string) (_ driver.Stmt, err error) {
	defer c.recovered(&err)
	c.begin(ctx)
	prepared, err := c.pqConn.PrepareContext(ctx, text)
	if err != nil {
		return nil, c.end(err)
	}
	return &stmt{prepared.(pqStmt), c}, nil
}

type stmt struct {
	pqStmt
	conn *conn
}

// ExecContext implements driver.StmtExecContext.
func (s *stmt) ExecContext(ctx context.Context, args []driver.NamedValue) (result driver.Result, err error) {
	defer s.conn.recovered(&err)
	s.conn.begin(ctx)
	result, err = s.pqStmt.ExecContext(ctx, args)
	return result, s.conn.end(err)
}

// QueryContext implements driver.StmtQueryContext.
func (s *stmt) QueryContext(ctx context.Context, args []driver.NamedValue) (_ driver.Rows, err error) {
	defer s.conn.recovered(&err)
	s.conn.begin(ctx)
	result, err := s.pqStmt.QueryContext(ctx, args)
	return s.conn.rows(result, err)
}

// Close implements driver.Stmt.
func (s *stmt) Close() (err error) {
	defer s.conn.recovered(&err)
	s.conn.tidy()
	return s.pqStmt.Close()
}

// rows are read within the call that they are the answer to.
type rows struct {
	driver.Rows
	conn *conn
}

func (c *conn) rows(result driver.Rows, err error) (driver.Rows, error) {
	if err != nil {
		return nil, c.end(err)
	}
	return &rows{result, c}, nil
}

// Next implements driver.Rows.
func (r *rows) Next(row []driver.Value) (err error) {
	defer r.conn.recovered(&err)
	return r.conn.end(r.Rows.Next(row))
}

// Close implements driver.Rows.
func (r *rows) Close() (err error) {
	defer r.conn.recovered(&err)
	return r.conn.end(r.Rows.Close())
}

// tx is a transaction. That its client has gone does not cancel a COMMIT under way.
type tx struct {
	driver.Tx
	conn   *conn
	ctx    context.Context
	cancel context.CancelFunc
}

// beginStatements begin the transactions that there are. lib/pq would say READ WRITE,
// against an administrator who has set default_transaction_read_only.
var beginStatements = map[driver.TxOptions]string{
	{}: "BEGIN",
	{Isolation: driver.IsolationLevel(sql.LevelRepeatableRead), ReadOnly: true}: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
}

// BeginTx implements driver.ConnBeginTx.
func (c *conn) BeginTx(ctx context.Context, options driver.TxOptions) (_ driver.Tx, err error) {
	defer c.recovered(&err)
	text, ok := beginStatements[options]
	if !ok {
		return nil, fmt.Errorf("there are no transactions with the options %+v", options)
	}
	c.begin(ctx)
	if _, err = c.pqConn.ExecContext(ctx, text, nil); err != nil {
		return nil, c.end(err)
	}
	c.failed = false
	t := &tx{Tx: c.pqConn, conn: c, ctx: context.WithoutCancel(ctx), cancel: func() {}}
	if deadline, bounded := ctx.Deadline(); bounded {
		t.ctx, t.cancel = context.WithDeadline(t.ctx, deadline)
	}
	return t, nil
}

// Commit implements driver.Tx. At the deadline lib/pq asks the server to cancel it, so
// that a wait for a standby that is away does not hold locks for ever. PostgreSQL
// answers the COMMIT of a transaction in which a statement failed by ROLLBACK alone.
func (t *tx) Commit() (err error) {
	if t.conn.failed {
		return errors.Join(pq.ErrInFailedTransaction, t.Rollback())
	}
	defer t.cancel()
	defer t.conn.recovered(&err)
	t.conn.begin(t.ctx)
	_, err = t.conn.pqConn.ExecContext(t.ctx, "COMMIT", nil)
	return t.conn.end(err)
}

// Rollback implements driver.Tx.
func (t *tx) Rollback() (err error) {
	defer t.cancel()
	defer t.conn.recovered(&err)
	t.conn.tidy()
	return t.conn.end(t.Tx.Rollback())
}

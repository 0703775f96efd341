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
	"github.com/lib/pq/pqerror"
)

// ErrUnanswered means that PostgreSQL did not confirm a statement that was sent, or confirmed a
// commit with a warning. Its writes may be stored.
var ErrUnanswered = errors.New("the outcome of a statement is unknown")

// ErrConnect means that no connection could be opened, so that nothing was sent.
var ErrConnect = errors.New("no connection to PostgreSQL")

// conn is a connection of lib/pq. It applies the deadline of each call's context to the network
// connection, because lib/pq ignores it while it reads.
type conn struct {
	pqConn
	connector  *Connector
	generation int64 // the connector's generation when this connection was opened
	wire       *wire
	unsure     bool // a warning came with the acknowledgement of a commit in this call
	failed     bool // a statement of this transaction failed
}

// pqConn is the interface of a connection of lib/pq.
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

// pqStmt is the interface of a prepared statement of lib/pq.
type pqStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

func newConn(opened driver.Conn, connector *Connector, generation int64, wire *wire) *conn {
	c := &conn{pqConn: opened.(pqConn), connector: connector, generation: generation, wire: wire}
	pq.SetNoticeHandler(opened, c.notice)
	return c
}

// notice detects the warning that the wait for a synchronous standby was canceled: the transaction
// is committed on this server alone. It checks the function's name, because the message is
// translated.
func (c *conn) notice(notice *pq.Error) {
	if notice.Routine == "SyncRepWaitForLSN" {
		c.unsure = true
	}
}

// cleanupTimeout bounds a call that follows a failed one.
const cleanupTimeout = time.Second

// begin starts a call, which ends at the deadline of its context. lib/pq then asks the server to
// cancel the statement, so the network's deadline is later.
func (c *conn) begin(ctx context.Context) {
	deadline, bounded := ctx.Deadline()
	if !bounded {
		deadline = time.Now().Add(c.connector.CallTimeout)
	}
	c.unsure = false
	c.wire.begin(ctx, deadline.Add(cleanupTimeout))
}

// beginCleanup starts a call without a context, before the connection is used again or closed.
func (c *conn) beginCleanup() {
	c.wire.begin(context.Background(), time.Now().Add(cleanupTimeout))
}

// end returns the error of a call. ErrUnanswered means that the outcome of the statement is unknown,
// driver.ErrBadConn that nothing was sent. After a statement was sent, lib/pq returns driver.ErrBadConn
// both for a fatal error, which a server sends instead of a result, and for the end of a TLS connection,
// which may follow the commit. A pooler that loses the server of a statement sends a fatal error, or
// protocol_violation without a routine.
func (c *conn) end(err error) error {
	refusal, answered := errors.AsType[*pq.Error](err)
	c.failed = c.failed || answered
	switch {
	case c.connector.Pooled && c.wire.unsent:
		return fmt.Errorf("%w: the pooler has no connection to the server", ErrConnect)
	case c.unsure && (err == nil || errors.Is(err, io.EOF)):
		return unansweredError{errWaitCanceled}
	case c.unsure,
		answered && refusal.Code == pqerror.ProtocolViolation && refusal.Routine == "",
		c.wire.sent && errors.Is(err, driver.ErrBadConn):
		return unansweredError{err}
	case err == nil, answered, c.intact(), !c.wire.sent:
		return err
	}
	return fmt.Errorf("%w: %w", ErrUnanswered, err)
}

var errWaitCanceled = errors.New("the wait for a synchronous standby was canceled")

// unansweredError is ErrUnanswered with a cause that database/sql must not see, because it would repeat a
// statement after driver.ErrBadConn.
type unansweredError struct{ cause error }

func (e unansweredError) Error() string { return fmt.Sprintf("%v: %v", ErrUnanswered, e.cause) }

func (e unansweredError) Unwrap() error { return ErrUnanswered }

// recovered turns a panic of lib/pq, which malformed messages cause, into the error of the call.
func (c *conn) recovered(err *error) {
	if failure := recover(); failure != nil {
		c.wire.Close()
		*err = fmt.Errorf("%w: lib/pq: panic: %v\n%s", ErrUnanswered, failure, debug.Stack())
	}
}

// intact reports whether the connection can take another statement.
func (c *conn) intact() bool { return !c.wire.broken.Load() && c.pqConn.IsValid() }

// retired reports whether the Connector retired this connection.
func (c *conn) retired() bool { return c.generation != c.connector.generation.Load() }

// IsValid implements driver.Validator. database/sql calls it when a caller returns the connection.
func (c *conn) IsValid() bool { return c.intact() && !c.retired() }

// ResetSession implements driver.SessionResetter. database/sql calls it when a caller takes an idle
// connection.
func (c *conn) ResetSession(ctx context.Context) error {
	if c.retired() {
		return driver.ErrBadConn
	}
	return c.pqConn.ResetSession(ctx)
}

// Close implements driver.Conn.
func (c *conn) Close() error {
	c.beginCleanup()
	return c.pqConn.Close()
}

// Ping implements driver.Pinger.
func (c *conn) Ping(ctx context.Context) (err error) {
	defer c.recovered(&err)
	c.begin(ctx)
	return c.pqConn.Ping(ctx)
}

// ExecContext implements driver.ExecerContext.
func (c *conn) ExecContext(
	ctx context.Context, text string, args []driver.NamedValue,
) (result driver.Result, err error) {
	defer c.recovered(&err)
	c.begin(ctx)
	result, err = c.pqConn.ExecContext(ctx, text, args)
	if err == nil && strings.HasPrefix(text, "ROLLBACK TO ") {
		c.failed = false // the savepoint was before the failed statement
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
	s.conn.beginCleanup()
	return s.pqStmt.Close()
}

// rows reads within the call that returned it.
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

// tx is a transaction. Canceling its context does not cancel a COMMIT.
type tx struct {
	driver.Tx
	conn   *conn
	ctx    context.Context
	cancel context.CancelFunc
}

// beginStatements are the supported transactions. lib/pq's own BEGIN says READ WRITE, which would
// override the administrator's default_transaction_read_only.
var beginStatements = map[driver.TxOptions]string{
	{}: "BEGIN",
	{Isolation: driver.IsolationLevel(sql.LevelReadCommitted)}: "BEGIN ISOLATION LEVEL READ COMMITTED",
	{Isolation: driver.IsolationLevel(sql.LevelRepeatableRead),
		ReadOnly: true}: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
}

// BeginTx implements driver.ConnBeginTx.
func (c *conn) BeginTx(ctx context.Context, options driver.TxOptions) (_ driver.Tx, err error) {
	defer c.recovered(&err)
	text, ok := beginStatements[options]
	if !ok {
		return nil, fmt.Errorf("unsupported transaction options %+v", options)
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

// Commit implements driver.Tx. At the deadline lib/pq asks the server to cancel the COMMIT, so that
// a wait for an unreachable standby cannot hold locks forever. PostgreSQL answers the COMMIT of a
// failed transaction only with ROLLBACK, so Commit returns an error instead.
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
	t.conn.beginCleanup()
	return t.conn.end(t.Tx.Rollback())
}

package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"library-catalogue/db/postgres"
)

// Write runs fn in one transaction: all that it writes with the context that it
// gets is stored, or, where it fails, nothing. A transaction that the database
// rolled back for another's sake, or whose connection broke, is run again.
func (s *Store) Write(ctx context.Context, fn func(ctx context.Context) error) error {
	if txOf(ctx) != nil {
		return fn(ctx)
	}
	return s.retry(ctx, func() error {
		return s.passTakenIDs(ctx, s.transact(ctx, s.writer, &sql.TxOptions{}, withTx(fn)))
	})
}

func (s *Store) transact(ctx context.Context, pool *pool, opts *sql.TxOptions, fn func(context.Context, *tx) error) (err error) {
	if !s.started.Load() {
		return unavailable(errNotStarted)
	}
	var sqlTx *sqlx.Tx
	begun := time.Now()
	err = s.retry(ctx, func() (err error) {
		sqlTx, err = pool.BeginTxx(ctx, opts)
		return translate(err)
	})
	s.record(ctx, "BEGIN", begun, err)
	if err != nil {
		return err
	}
	t := &tx{handle: txHandle{sqlTx, pool}, readOnly: opts.ReadOnly}
	done := false // stays so where fn panics
	defer func() {
		t.mu.Lock() // no statement of fn may be under way when the transaction ends
		defer t.mu.Unlock()
		t.ended = true
		if !done || opts.ReadOnly {
			_ = sqlTx.Rollback()
			return
		}
		begun := time.Now()
		if err = sqlTx.Commit(); errors.Is(err, postgres.ErrUnanswered) {
			err = inDoubt(err)
		}
		err = translate(err)
		s.record(ctx, "COMMIT", begun, err)
	}()
	err = fn(ctx, t)
	done = err == nil
	return err
}

// withTx lets what fn writes with the context that it gets be of the transaction.
func withTx(fn func(context.Context) error) func(context.Context, *tx) error {
	return func(ctx context.Context, t *tx) error { return fn(context.WithValue(ctx, txKey{}, t)) }
}

type txKey struct{}

// tx is a transaction. Its statements run one after the other, since a connection runs
// one at a time.
type tx struct {
	mu       sync.Mutex
	ended    bool
	handle   handle
	readOnly bool
}

// txOf returns the transaction that writes with ctx, or nil.
func txOf(ctx context.Context) *tx {
	t, _ := ctx.Value(txKey{}).(*tx)
	return t
}

// handle is what statements run on: a pool or a transaction.
type handle interface {
	sqlx.QueryerContext
	sqlx.ExecerContext
}

// run runs one statement: in the transaction, or else a write in one of its own, and a
// read on the pool. fn must have read all rows when it returns.
func (s *Store) run(ctx context.Context, t *tx, write bool, fn func(handle) error) (err error) {
	if t == nil && !s.started.Load() {
		return unavailable(errNotStarted)
	}
	h := &remembering{}
	begun := time.Now()
	defer func() { s.record(ctx, h.text, begun, err) }()
	if t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.ended {
			return translate(sql.ErrTxDone)
		}
		h.handle = t.handle
		return translate(fn(h))
	}
	h.handle = s.reader
	if write {
		h.handle = s.writer
	}
	return s.retry(ctx, func() error {
		h.begun = false
		err := fn(h)
		switch {
		case write && err == nil:
			s.diskFull.Store(false)
		case write && h.unanswered(err, s.dialect.TellsUnanswered):
			return inDoubt(err)
		}
		return s.passTakenIDs(ctx, translate(err))
	})
}

// getRow runs a statement of a write that returns one row, and getRows one of any number,
// as sqlx does.
func (s *Store) getRow(ctx context.Context, into any, text string, args ...any) error {
	return s.run(ctx, txOf(ctx), true, func(h handle) error { return sqlx.GetContext(ctx, h, into, text, args...) })
}

func (s *Store) getRows(ctx context.Context, into any, text string, args ...any) error {
	return s.run(ctx, txOf(ctx), true, func(h handle) error { return sqlx.SelectContext(ctx, h, into, text, args...) })
}

// exec runs a statement without rows and returns how many it changed.
func (s *Store) exec(ctx context.Context, text string, args ...any) (changed int64, err error) {
	err = s.run(ctx, txOf(ctx), true, func(h handle) error {
		result, err := h.ExecContext(ctx, text, args...)
		if err != nil {
			return err
		}
		changed, err = result.RowsAffected()
		return err
	})
	return changed, err
}

// passTakenIDs follows a write that failed with err. Where its new id was there already,
// since another program gave ids itself or moved the identity column, it moves that past
// all ids, so that the write can be run again.
func (s *Store) passTakenIDs(ctx context.Context, err error) error {
	e, ok := errors.AsType[*pq.Error](err)
	if !ok || e.Code != uniqueViolation {
		return err
	}
	if _, failed := s.writer.ExecContext(ctx, passIDsSQL(e.Table)); classify(failed) == deniedFault {
		return noID(fmt.Errorf("%w: the owner of the tables can run SELECT setval(pg_get_serial_sequence('%[2]s', 'id'), max(id)) FROM %[2]s: %[3]s", failed, e.Table, e.Message))
	}
	return err
}

// passIDsSQL moves PostgreSQL's sequence of a table's ids past those that are there.
func passIDsSQL(table string) string {
	return fmt.Sprintf(`SELECT setval(id, greatest(pg_sequence_last_value(id), (SELECT max(id) FROM %[1]s))) FROM CAST(pg_get_serial_sequence('%[1]s', 'id') AS regclass) AS id`, pq.QuoteIdentifier(table))
}

// spareAttempts are for conflicts with writers of other processes.
const spareAttempts = 16

// retry runs fn again where it fails with errRetry, more often than there are connections:
// all of them may be broken, and each writer that commits may fail all others. It does not
// pause, because the other transaction has then committed, or holds the locks to wait for.
func (s *Store) retry(ctx context.Context, fn func() error) error {
	for attempt := 1; ; attempt++ {
		if err := fn(); !s.mayRetry(ctx, err, attempt) {
			return finally(err)
		}
	}
}

// mayRetry reports whether what failed with an error at some attempt is run again.
func (s *Store) mayRetry(ctx context.Context, err error, attempt int) bool {
	return errors.Is(err, errRetry) && attempt <= s.Connections()+spareAttempts && ctx.Err() == nil
}

// finally returns the error of what is not run again.
func finally(err error) error {
	if errors.Is(err, errRetry) {
		return unavailable(err)
	}
	return err
}

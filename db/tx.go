package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"library-catalogue/db/changes"
	"library-catalogue/db/fault"
	"library-catalogue/db/postgres"
	"library-catalogue/db/stmt"
	"library-catalogue/graph/model"
)

// Write runs fn in one transaction. All writes with the context that fn gets are stored, or none if
// fn fails. Write retries on deadlocks, serialization failures and lost connections, so fn may run
// more than once.
func (s *Store) Write(ctx context.Context, fn func(ctx context.Context) error) error {
	if txOf(ctx) != nil {
		return fn(ctx)
	}
	return s.write(ctx, s.asActor(fn))
}

// write is Write without an actor, outside a transaction.
func (s *Store) write(ctx context.Context, fn func(ctx context.Context) error) error {
	release, err := s.admitWrite(ctx)
	if err != nil {
		return err
	}
	defer release()
	defer s.feed.Changed()
	return s.retry(ctx, func() error {
		return s.repair(ctx, s.transact(ctx, s.writePool, &sql.TxOptions{}, withTx(fn)))
	})
}

// admitWrite waits until fewer writes run than there are connections, so that writes that wait for a lock leave some
// for reads. SQLite has a pool for reads.
func (s *Store) admitWrite(ctx context.Context) (release func(), err error) {
	if s.writes == nil {
		return func() {}, nil
	}
	if err := s.writes.Acquire(ctx, 1); err != nil {
		return nil, fault.Unavailable(err)
	}
	return func() { s.writes.Release(1) }, nil
}

func (s *Store) transact(ctx context.Context, pool *stmt.Pool, opts *sql.TxOptions, fn func(context.Context, *tx) error) (err error) {
	if !s.started.Load() {
		return fault.Unavailable(errNotStarted)
	}
	var sqlTx *sqlx.Tx
	begun := time.Now()
	err = s.retry(ctx, func() (err error) {
		sqlTx, err = pool.BeginTxx(ctx, opts)
		return fault.Translate(err)
	})
	s.record(ctx, "BEGIN", begun, err)
	if err != nil {
		return err
	}
	t := &tx{handle: stmt.Tx{Tx: sqlTx, Pool: pool}, readOnly: opts.ReadOnly}
	done := false // stays false if fn panics
	defer func() {
		t.mu.Lock() // no statement of fn may run when the transaction ends
		defer t.mu.Unlock()
		t.ended = true
		if !done || opts.ReadOnly {
			_ = sqlTx.Rollback()
			return
		}
		begun := time.Now()
		if err = sqlTx.Commit(); errors.Is(err, postgres.ErrUnanswered) {
			err = fault.InDoubt(err)
		}
		err = fault.Translate(err)
		s.record(ctx, "COMMIT", begun, err)
	}()
	if err = fn(ctx, t); err == nil && !opts.ReadOnly {
		err = s.giveTimes(ctx, t)
	}
	done = err == nil
	return err
}

// giveTimes gives the changes of a transaction their time, unless ticks do.
func (s *Store) giveTimes(ctx context.Context, t *tx) error {
	text := s.log.SQL.Commit
	if text == "" {
		return nil
	}
	s.prepareSoon(text)
	return s.run(ctx, t, true, func(h stmt.Handle) error {
		var none []int64
		return stmt.Select(ctx, h, &none, text, changes.TimeNow().String())
	})
}

// prepareSoon prepares a statement that transactions run often, if compiling it takes long: SQLite compiles its triggers too.
func (s *Store) prepareSoon(text string) {
	if s.dialect.CompilesTriggers {
		s.writePool.PrepareSoon(text)
	}
}

// withTx passes the transaction to fn in its context.
func withTx(fn func(context.Context) error) func(context.Context, *tx) error {
	return func(ctx context.Context, t *tx) error { return fn(context.WithValue(ctx, txKey{}, t)) }
}

// asActor returns fn as a transaction whose changes are logged with the caller as the actor.
func (s *Store) asActor(fn func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		actor := changes.Actor(ctx)
		if actor == "" {
			return fn(ctx)
		}
		if _, err := s.exec(ctx, s.dialect.SetActor, actor); err != nil {
			return err
		}
		if err := fn(ctx); err != nil || s.dialect.ClearActor == "" {
			return err
		}
		_, err := s.exec(ctx, s.dialect.ClearActor)
		return err
	}
}

type txKey struct{}

// tx is a transaction. It runs one statement at a time, because a connection can.
type tx struct {
	mu       sync.Mutex
	ended    bool
	handle   stmt.Handle
	readOnly bool
	replica  bool
	failure  error // of the first failed statement on a replica
}

// failed returns the error of a statement. After an error of a replica the read runs again on the
// primary.
func (t *tx) failed(err error) error {
	if err == nil || !t.replica {
		return err
	}
	t.failure = cmp.Or(t.failure, err)
	return fmt.Errorf("%w: %w: a replica failed: %s", model.ErrSnapshotChanged, model.ErrRetry, err.Error()) // without its class
}

// txOf returns the transaction that writes with ctx, or nil.
func txOf(ctx context.Context) *tx {
	t, _ := ctx.Value(txKey{}).(*tx)
	return t
}

// run runs one statement: in t, or, if t is nil, on the pool for writes or for reads. fn must read
// all rows before it returns.
func (s *Store) run(ctx context.Context, t *tx, write bool, fn func(stmt.Handle) error) (err error) {
	if t == nil && !s.started.Load() {
		return fault.Unavailable(errNotStarted)
	}
	h := &stmt.Tracked{}
	begun := time.Now()
	defer func() { s.record(ctx, h.Text, begun, err) }()
	if t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.ended {
			return fault.Translate(sql.ErrTxDone)
		}
		h.Handle = t.handle
		return t.failed(fault.Translate(fn(h)))
	}
	h.Handle = s.readPool
	if write {
		h.Handle = s.writePool
		release, err := s.admitWrite(ctx)
		if err != nil {
			return err
		}
		defer release()
	}
	return s.retry(ctx, func() error {
		h.HasRows = false
		err := fn(h)
		switch {
		case write && err == nil:
			s.diskFull.Store(false)
			s.feed.Changed()
		case write && unanswered(h, err, s.dialect.TellsUnanswered):
			return fault.InDoubt(err)
		}
		return s.repair(ctx, fault.Translate(err))
	})
}

// unanswered reports whether the outcome of a write is unknown. If told is true, a context's error
// without rows means that no connection was free and nothing ran. SQLite's driver cannot tell, so any
// error of a context leaves the outcome unknown.
func unanswered(h *stmt.Tracked, err error, told bool) bool {
	return errors.Is(err, postgres.ErrUnanswered) && !errors.Is(err, model.ErrRetry) || fault.Canceled(err) && (h.HasRows || !told)
}

// getRow runs a statement that writes and returns one row; getRows returns any number.
func (s *Store) getRow(ctx context.Context, into any, text string, args ...any) error {
	return s.run(ctx, txOf(ctx), true, func(h stmt.Handle) error { return stmt.Get(ctx, h, into, text, args...) })
}

func (s *Store) getRows(ctx context.Context, into any, text string, args ...any) error {
	return s.run(ctx, txOf(ctx), true, func(h stmt.Handle) error { return stmt.Select(ctx, h, into, text, args...) })
}

// exec runs a statement without rows and returns how many rows it changed.
func (s *Store) exec(ctx context.Context, text string, args ...any) (changed int64, err error) {
	err = s.run(ctx, txOf(ctx), true, func(h stmt.Handle) error {
		result, err := h.ExecContext(ctx, text, args...)
		if err != nil {
			return err
		}
		changed, err = result.RowsAffected()
		return err
	})
	return changed, err
}

// repair handles the error of a write. It returns model.ErrRetry if the write can run again.
func (s *Store) repair(ctx context.Context, err error) error {
	return s.followAddress(ctx, s.passTakenIDs(ctx, err))
}

// followAddress handles a write that a read-only server refused, which stored nothing. If a new
// connection leads to a server that takes writes, the database's address has moved, for example
// after a failover. All older connections are then retired, and the write can run again.
func (s *Store) followAddress(ctx context.Context, err error) error {
	if fault.Of(err) != fault.ReadOnly {
		return err
	}
	moved, _, _ := s.probes.Do("", func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTimeout)
		defer cancel()
		probe := sql.OpenDB(s.connector)
		defer probe.Close()
		at, failed := s.session(ctx, probe)
		if failed != nil || at.readOnly {
			return false, nil
		}
		s.connector.Retire()
		return true, nil
	})
	if moved.(bool) {
		return errors.Join(model.ErrRetry, err)
	}
	return err
}

// passTakenIDs handles the error of a write. If the new id already exists, because another program
// set ids or moved the sequence, it moves the sequence past all ids. The write can then run again.
func (s *Store) passTakenIDs(ctx context.Context, err error) error {
	e, ok := errors.AsType[*pq.Error](err)
	if !ok || e.Code != fault.UniqueViolation {
		return err
	}
	if _, failed := s.writePool.ExecContext(ctx, passIDsSQL(e.Table)); fault.Of(failed) == fault.Denied {
		return fault.NoID(fmt.Errorf("%w: the owner of the tables can run SELECT setval(pg_get_serial_sequence('%[2]s', 'id'), max(id)) FROM %[2]s: %[3]s", failed, e.Table, e.Message))
	}
	return err
}

// passIDsSQL returns the statement that moves the sequence of a table past all its ids.
func passIDsSQL(table string) string {
	return fmt.Sprintf(`SELECT setval(id, greatest(pg_sequence_last_value(id), (SELECT max(id) FROM %[1]s))) FROM CAST(pg_get_serial_sequence('%[1]s', 'id') AS regclass) AS id`, pq.QuoteIdentifier(table))
}

// extraAttempts allow for conflicts with writers of other processes.
const extraAttempts = 16

// retry runs fn again if it fails with model.ErrRetry, more often than there are connections: all of them
// may be broken, and each writer that commits may fail all others. It does not pause, because the
// other transaction has then committed or holds the locks to wait for.
func (s *Store) retry(ctx context.Context, fn func() error) error {
	for attempt := 1; ; attempt++ {
		if err := fn(); !s.mayRetry(ctx, err, attempt) {
			return giveUp(err)
		}
	}
}

// mayRetry reports whether a failed attempt can run again.
func (s *Store) mayRetry(ctx context.Context, err error, attempt int) bool {
	return errors.Is(err, model.ErrRetry) && attempt <= s.Connections()+extraAttempts && ctx.Err() == nil
}

// giveUp turns model.ErrRetry into Unavailable.
func giveUp(err error) error {
	if errors.Is(err, model.ErrRetry) {
		return fault.Unavailable(err)
	}
	return err
}

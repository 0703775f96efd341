package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lib/pq"

	"library-catalogue/db/batch"
	"library-catalogue/db/fault"
	"library-catalogue/db/postgres"
	"library-catalogue/db/stats"
	"library-catalogue/db/stmt"
	"library-catalogue/graph/model"
)

type txKey struct{}

// tx is a transaction. It runs one statement at a time, because a connection can.
type tx struct {
	mu       sync.Mutex
	ended    bool
	handle   stmt.Handle
	readOnly bool
	replica  bool
	failure  error // error of the first failed statement on a replica
}

// failed returns the error of a statement. After an error of a replica the read runs again on the
// primary.
func (t *tx) failed(err error) error {
	if err == nil || !t.replica {
		return err
	}
	t.failure = cmp.Or(t.failure, err)
	// without its class
	return fmt.Errorf("%w: %w: a replica failed: %s", model.ErrSnapshotChanged, model.ErrRetry, err.Error())
}

// txOf returns the transaction that writes with ctx, or nil.
func txOf(ctx context.Context) *tx {
	t, _ := ctx.Value(txKey{}).(*tx)
	return t
}

// run runs one statement: in t, or, if t is nil, on the pool for writes or for reads. text is for the record. fn
// must read all rows before it returns. It may run again.
func (s *Store) run(ctx context.Context, t *tx, write bool, text string, fn func(stmt.Handle) error) (err error) {
	if t == nil && !s.started.Load() {
		return fault.Unavailable(errNotStarted)
	}
	begun := time.Now()
	defer func() { s.record(ctx, text, begun, err) }()
	if t != nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.ended {
			return fault.Translate(sql.ErrTxDone)
		}
		return t.failed(fault.Translate(fn(t.handle)))
	}
	for attempt := 1; !write; attempt++ { // retry, with fewer calls to follow
		if err := fault.Translate(fn(s.readPool)); !s.mayRetry(ctx, err, attempt) {
			return giveUp(err)
		}
	}
	release, err := s.admitWrite(ctx)
	if err != nil {
		return err
	}
	defer release()
	return s.retry(ctx, func() error {
		h := &stmt.Tracked{Handle: s.writePool}
		err := fn(h)
		switch {
		case err == nil:
			s.diskFull.Store(false)
			s.feed.Changed()
		case unanswered(h, err, s.dialect.TellsUnanswered):
			return fault.InDoubt(err)
		}
		return s.repair(ctx, fault.Translate(err))
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

// unanswered reports whether the outcome of a write is unknown. If told is true, a context's error
// without rows means that no connection was free and nothing ran. SQLite's driver cannot tell, so any
// error of a context leaves the outcome unknown.
func unanswered(h *stmt.Tracked, err error, told bool) bool {
	return errors.Is(err, postgres.ErrUnanswered) && !errors.Is(err, model.ErrRetry) ||
		fault.Canceled(err) && (h.HasRows || !told)
}

// getRow runs a statement that writes and returns one row; getRows returns any number.
func (s *Store) getRow(ctx context.Context, into any, text string, args ...any) error {
	return s.run(ctx, txOf(ctx), true, text, func(h stmt.Handle) error { return stmt.Get(ctx, h, into, text, args...) })
}

func (s *Store) getRows(ctx context.Context, into any, text string, args ...any) error {
	return s.run(ctx, txOf(ctx), true, text, func(h stmt.Handle) error {
		return stmt.Select(ctx, h, into, text, args...)
	})
}

// exec runs a statement without rows and returns how many rows it changed.
func (s *Store) exec(ctx context.Context, text string, args ...any) (changed int64, err error) {
	err = s.run(ctx, txOf(ctx), true, text, func(h stmt.Handle) error {
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

// checkTimeout bounds the wait for the database and for a connection of the pool.
const checkTimeout = 1500 * time.Millisecond

// session is the server of a connection.
type session struct {
	readOnly bool
	process  string // unique among the processes of all servers
}

func (s *Store) session(ctx context.Context, on interface {
	QueryRowContext(ctx context.Context, text string, args ...any) *sql.Row
}) (at session, err error) {
	err = on.QueryRowContext(ctx, s.dialect.Session).Scan(&at.readOnly, &at.process)
	return at, err
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
		return fault.NoID(fmt.Errorf("%w: the owner of the tables can run SELECT "+
			"setval(pg_get_serial_sequence('%[2]s', 'id'), max(id)) FROM %[2]s: %[3]s", failed, e.Table, e.Message))
	}
	return err
}

// passIDsSQL returns the statement that moves the sequence of a table past all its ids.
func passIDsSQL(table string) string {
	return fmt.Sprintf(
		`SELECT setval(id, greatest(pg_sequence_last_value(id), (SELECT max(id) FROM %[1]s)))
FROM CAST(pg_get_serial_sequence('%[1]s', 'id') AS regclass) AS id`, pq.QuoteIdentifier(table))
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

// record records a statement that ended with err.
func (s *Store) record(ctx context.Context, text string, begun time.Time, err error) {
	statement := stats.Statement{Text: text, Begun: begun, Took: time.Since(begun), Fault: fault.ForStats(ctx, err)}
	switch {
	case statement.Fault == stats.FaultDiskFull:
		s.diskFull.Store(true)
	case errors.Is(err, fault.ErrPrepared):
		// The name of a prepared statement may also belong to another client's statement, which would
		// run without an error.
		s.readPool.Unprepared.Store(true)
	case err == nil && text == "COMMIT":
		s.diskFull.Store(false)
	}
	s.add(ctx, statement)
}

func (s *Store) add(ctx context.Context, statement stats.Statement) {
	stats.Of(ctx).Add(statement)
	if s.observe != nil {
		s.observe(ctx, statement)
	}
}

// recordShared returns the context of a batch and a function that records the batch's statements
// for one of its requests. A batch has fewer statements than Slowest returns.
func (s *Store) recordShared(ctx context.Context) (context.Context, func(request context.Context)) {
	ctx, batch := stats.With(ctx)
	return ctx, func(request context.Context) {
		for _, statement := range batch.Slowest() {
			statement.Shared = true
			s.add(request, statement)
		}
	}
}

// shared returns a function whose concurrent calls share a call of many (batch.Batcher); a call alone is one of one.
func shared[Q, A any](
	s *Store, one func(context.Context, Q) (A, error), many func(context.Context, []Q) ([]A, error),
) func(context.Context, Q) (A, error) {
	return batch.New(
		batch.Config[Q, A]{RunOne: one, RunBatch: many, Record: s.recordShared, Start: s.runInBackground}).Do
}

package db

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"

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

func (s *Store) transact(
	ctx context.Context, pool *stmt.Pool, opts *sql.TxOptions, fn func(context.Context, *tx) error,
) (err error) {
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
	return s.run(ctx, t, true, text, func(h stmt.Handle) error {
		var none []int64
		return stmt.Select(ctx, h, &none, text, changes.TimeNow().String())
	})
}

// prepareSoon prepares a statement that transactions run often, if compiling it takes long: SQLite compiles its
// triggers too.
func (s *Store) prepareSoon(text string) {
	if s.dialect.CompilesTriggers {
		s.writePool.PrepareSoon(text)
	}
}

// withTx passes the transaction to fn in its context.
func withTx(fn func(context.Context) error) func(context.Context, *tx) error {
	return func(ctx context.Context, t *tx) error { return fn(context.WithValue(ctx, txKey{}, t)) }
}

// asActor returns fn with the caller of ctx as the actor that the log has for its changes, and with their change set.
func (s *Store) asActor(fn func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if model.ChangeSetOf(ctx) == 0 {
			ctx = model.WithChangeSet(ctx)
		}
		if _, err := s.exec(ctx, s.dialect.SetActor, changes.Actor(ctx), model.ChangeSetOf(ctx)); err != nil {
			return err
		}
		if err := fn(ctx); err != nil || s.dialect.ClearActor == "" {
			return err
		}
		_, err := s.exec(ctx, s.dialect.ClearActor)
		return err
	}
}

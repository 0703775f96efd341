package db

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db/fault"
	"library-catalogue/db/postgres"
	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
)

// Observe sets a function that is called after every statement, including BEGIN and COMMIT. Call it
// before the Store is used.
func (s *Store) Observe(fn func(context.Context, stats.Statement)) { s.observe = fn }

// Pools returns the connection pools by name, for metrics.
func (s *Store) Pools() map[string]*sql.DB {
	if s.readPool == s.writePool {
		pools := map[string]*sql.DB{s.dialect.Name: s.readPool.DB.DB}
		if s.replicas != nil {
			for name, pool := range s.replicas.Pools() {
				pools[s.dialect.Name+" replica "+name] = pool
			}
		}
		return pools
	}
	return map[string]*sql.DB{
		s.dialect.Name + "-reader": s.readPool.DB.DB,
		s.dialect.Name + "-writer": s.writePool.DB.DB,
	}
}

// Replicas returns the state of the replicas, nil without any.
func (s *Store) Replicas() *stats.Replicas {
	if s.replicas == nil {
		return nil
	}
	return s.replicas.State()
}

// Waiting returns how long the oldest pending query of PostgreSQL has run, 0 if none is pending. It
// excludes the wait for a connection. It is always 0 on SQLite.
func (s *Store) Waiting() time.Duration { return s.waiting() }

// System returns the engine's name in OpenTelemetry's conventions.
func (s *Store) System() string { return s.dialect.System }

// record records a statement that ended with err.
func (s *Store) record(ctx context.Context, text string, begun time.Time, err error) {
	statement := stats.Statement{Text: text, Begun: begun, Took: time.Since(begun), Fault: fault.ForStats(ctx, err)}
	switch {
	case statement.Fault == stats.FaultDiskFull:
		s.diskFull.Store(true)
	case errors.Is(err, fault.ErrPrepared):
		// The name of a prepared statement may also belong to another client's statement, which would
		// run without an error.
		s.readPool.unprepared.Store(true)
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

// trackedHandle is a handle that records its last statement.
type trackedHandle struct {
	handle
	text    string
	hasRows bool // the statement returned rows
}

// unanswered reports whether the outcome of a write is unknown. If told is true, a context's error
// without rows means that no connection was free and nothing ran. SQLite's driver cannot tell, so any
// error of a context leaves the outcome unknown.
func (r *trackedHandle) unanswered(err error, told bool) bool {
	return errors.Is(err, postgres.ErrUnanswered) && !errors.Is(err, model.ErrRetry) || fault.Canceled(err) && (r.hasRows || !told)
}

// QueryContext implements sqlx.QueryerContext.
func (r *trackedHandle) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	r.text = text
	rows, err := r.handle.QueryContext(ctx, text, args...)
	r.hasRows = err == nil
	return rows, err
}

// QueryxContext implements sqlx.QueryerContext.
func (r *trackedHandle) QueryxContext(ctx context.Context, text string, args ...any) (*sqlx.Rows, error) {
	r.text = text
	rows, err := r.handle.QueryxContext(ctx, text, args...)
	r.hasRows = err == nil
	return rows, err
}

// QueryRowxContext implements sqlx.QueryerContext.
func (r *trackedHandle) QueryRowxContext(ctx context.Context, text string, args ...any) *sqlx.Row {
	r.text = text
	row := r.handle.QueryRowxContext(ctx, text, args...)
	r.hasRows = row.Err() == nil
	return row
}

// ExecContext implements sqlx.ExecerContext.
func (r *trackedHandle) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	r.text = text
	return r.handle.ExecContext(ctx, text, args...)
}

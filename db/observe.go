package db

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db/postgres"
	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
)

// Observe lets fn see every statement when it has ended, BEGIN and COMMIT too.
// It is called before the store is used.
func (s *Store) Observe(fn func(context.Context, stats.Statement)) { s.observe = fn }

// Pools returns the pools of connections by their names, for their figures.
func (s *Store) Pools() map[string]*sql.DB {
	if s.reader == s.writer {
		return map[string]*sql.DB{s.dialect.Name: s.reader.DB.DB}
	}
	return map[string]*sql.DB{
		s.dialect.Name + "-reader": s.reader.DB.DB,
		s.dialect.Name + "-writer": s.writer.DB.DB,
	}
}

// Waiting returns for how long PostgreSQL has owed an answer by now, on any
// connection; 0 where none waits, and always on SQLite. What waits for a
// connection does not wait for PostgreSQL.
func (s *Store) Waiting() time.Duration { return s.waiting() }

// System returns the kind of the database, as OpenTelemetry calls it.
func (s *Store) System() string { return s.dialect.System }

// record records a statement that has ended with err.
func (s *Store) record(ctx context.Context, text string, begun time.Time, err error) {
	statement := stats.Statement{Text: text, Begun: begun, Took: time.Since(begun), Fault: faultOf(ctx, err)}
	switch {
	case statement.Fault == stats.FaultDiskFull:
		s.diskFull.Store(true)
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

// recordShared returns the context of a batch, and a function that records the batch's
// statements for one of its requests. A batch has fewer of them than Slowest returns.
func (s *Store) recordShared(ctx context.Context) (context.Context, func(request context.Context)) {
	ctx, batch := stats.With(ctx)
	return ctx, func(request context.Context) {
		for _, statement := range batch.Slowest() {
			statement.Shared = true
			s.add(request, statement)
		}
	}
}

// faultOf says what is wrong with the database where err comes from that.
func faultOf(ctx context.Context, err error) stats.Fault {
	switch {
	case err == nil:
		return ""
	case errors.Is(err, errDiskFull):
		return stats.FaultDiskFull
	case errors.Is(err, errRetry):
		return stats.FaultRetried
	case model.IsCode(err, model.Internal):
		return stats.FaultInternal
	case !model.IsCode(err, model.Unavailable):
		return ""
	case errors.Is(err, context.Canceled), errors.Is(err, errTimeout) && errors.Is(ctx.Err(), context.Canceled):
		return stats.FaultCanceled
	case timedOut(err):
		return stats.FaultTimeout
	}
	return stats.FaultUnavailable
}

// timedOut reports whether an error is that something took too long.
func timedOut(err error) bool {
	network, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errTimeout) || ok && network.Timeout()
}

// remembering is a handle that remembers what it ran last.
type remembering struct {
	handle
	text  string
	begun bool // rows are being read
}

// unanswered reports whether the database did not say what became of a write. The error
// of a context is that of a wait for a connection, if no rows were read; of SQLite,
// which says no more, it may be that of the write.
func (r *remembering) unanswered(err error, told bool) bool {
	return errors.Is(err, postgres.ErrUnanswered) && !errors.Is(err, errRetry) || canceled(err) && (r.begun || !told)
}

// QueryContext implements sqlx.QueryerContext.
func (r *remembering) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	r.text = text
	rows, err := r.handle.QueryContext(ctx, text, args...)
	r.begun = err == nil
	return rows, err
}

// QueryxContext implements sqlx.QueryerContext.
func (r *remembering) QueryxContext(ctx context.Context, text string, args ...any) (*sqlx.Rows, error) {
	r.text = text
	rows, err := r.handle.QueryxContext(ctx, text, args...)
	r.begun = err == nil
	return rows, err
}

// QueryRowxContext implements sqlx.QueryerContext.
func (r *remembering) QueryRowxContext(ctx context.Context, text string, args ...any) *sqlx.Row {
	r.text = text
	row := r.handle.QueryRowxContext(ctx, text, args...)
	r.begun = row.Err() == nil
	return row
}

// ExecContext implements sqlx.ExecerContext.
func (r *remembering) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	r.text = text
	return r.handle.ExecContext(ctx, text, args...)
}

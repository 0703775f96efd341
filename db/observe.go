package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
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

// noted makes the note of a statement that has ended with err, and shows it to
// who observes.
func (s *Store) noted(ctx context.Context, text string, begun time.Time, err error) stats.Statement {
	note := stats.Statement{Text: text, Begun: begun, Took: time.Since(begun), Fault: faultOf(ctx, err)}
	switch {
	case note.Fault == stats.FaultDiskFull:
		s.diskFull.Store(true)
	case err == nil && text == "COMMIT":
		s.diskFull.Store(false)
	}
	if s.observe != nil {
		s.observe(ctx, note)
	}
	return note
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
	args  []any
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
	r.text, r.args = text, args
	rows, err := r.handle.QueryContext(ctx, text, args...)
	r.begun = err == nil
	return rows, err
}

// QueryxContext implements sqlx.QueryerContext.
func (r *remembering) QueryxContext(ctx context.Context, text string, args ...any) (*sqlx.Rows, error) {
	r.text, r.args = text, args
	rows, err := r.handle.QueryxContext(ctx, text, args...)
	r.begun = err == nil
	return rows, err
}

// QueryRowxContext implements sqlx.QueryerContext.
func (r *remembering) QueryRowxContext(ctx context.Context, text string, args ...any) *sqlx.Row {
	r.text, r.args = text, args
	row := r.handle.QueryRowxContext(ctx, text, args...)
	r.begun = row.Err() == nil
	return row
}

// ExecContext implements sqlx.ExecerContext.
func (r *remembering) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	r.text, r.args = text, args
	return r.handle.ExecContext(ctx, text, args...)
}

// add notes a statement for its request, and for who wants it explained.
func (s *Store) add(ctx context.Context, note stats.Statement, args []any) {
	record := stats.Of(ctx)
	record.Add(note)
	if e := record.Explanation(); e != nil {
		e.Add(ctx, stats.Explained{Statement: note, Arguments: shown(args), Plan: func(ctx context.Context) (json.RawMessage, error) {
			return s.plan(ctx, note.Text, args)
		}})
	}
}

// addTime notes what goes around statements.
func (s *Store) addTime(ctx context.Context, note stats.Statement) {
	record := stats.Of(ctx)
	record.AddTime(note)
	if e := record.Explanation(); e != nil {
		e.Add(ctx, stats.Explained{Statement: note})
	}
}

// maxShown is how many bytes of an argument are shown.
const maxShown = 200

// shown returns the arguments of a statement as a driver gets them; long ones are cut.
func shown(args []any) []any {
	values := make([]any, len(args))
	for i, arg := range args {
		value, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil { // the driver has a way of its own
			value = fmt.Sprint(arg)
		}
		if bytes, ok := value.([]byte); ok {
			value = string(bytes)
		}
		if text, ok := value.(string); ok && len(text) > maxShown {
			value = strings.ToValidUTF8(text[:maxShown], "") + "…"
		}
		values[i] = value
	}
	return values
}

// plan asks the database how it would run a statement, without running it.
func (s *Store) plan(ctx context.Context, text string, args []any) (plan json.RawMessage, err error) {
	ctx, _ = stats.With(ctx) // it is no statement of the request
	err = s.run(ctx, false, func(h handle) error {
		if s.dialect.System == "postgresql" {
			return sqlx.GetContext(ctx, unprepared(h), &plan, `EXPLAIN (FORMAT JSON) `+text, args...)
		}
		plan, err = explainSQLite(ctx, unprepared(h), text, args)
		return err
	})
	return plan, err
}

// explainSQLite returns the rows of EXPLAIN QUERY PLAN, which are a tree: parent is the
// id of the row that one is a part of.
func explainSQLite(ctx context.Context, h handle, text string, args []any) (json.RawMessage, error) {
	var steps []struct {
		ID     int    `json:"id"`
		Parent int    `json:"parent"`
		Unused int    `db:"notused" json:"-"`
		Detail string `json:"detail"`
	}
	if err := sqlx.SelectContext(ctx, h, &steps, `EXPLAIN QUERY PLAN `+text, args...); err != nil {
		return nil, err
	}
	return json.Marshal(steps)
}

package db

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db/stats"
)

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

// shown gives the arguments of a statement as a driver gets them; long ones are cut.
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
		if s.dialect.Postgres {
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

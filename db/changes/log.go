package changes

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"library-catalogue/db/dialect"
	"library-catalogue/db/fault"
	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

// DB runs the statements of a log.
type DB interface {
	// Get reads one row.
	Get(ctx context.Context, into any, text string, args ...any) error
	// Exec and Select run a statement that writes or locks, in the transaction of ctx if it has one.
	Exec(ctx context.Context, text string, args ...any) (changed int64, err error)
	Select(ctx context.Context, into any, text string, args ...any) error
	// Write runs fn in a transaction. Each statement sees what was committed before it.
	Write(ctx context.Context, fn func(context.Context) error) error
	// Read runs fn with a snapshot. If keepsPlans is true, its statements are prepared and planned once; else each is
	// planned for its own arguments.
	Read(ctx context.Context, keepsPlans bool, fn func(context.Context, Snapshot) error) error
	// Start runs fn in a goroutine, or in place with a canceled context after the DB was closed.
	Start(fn func(context.Context))
}

// Snapshot reads one state of the database.
type Snapshot interface {
	// Select reads rows.
	Select(ctx context.Context, into any, text string, args ...any) error
	// SetRows sets the rows of changes, by their ids, to the current rows.
	SetRows(ctx context.Context, typ model.CatalogueType, changes map[model.ID]*model.Change) error
}

// Log is the log of changes of a database.
type Log struct {
	Dialect *dialect.Dialect
	DB      DB
	SQL     *Statements
	engine

	refusesTicks atomic.Bool // the database refused the last tick, because it is read-only
}

// NewLog returns the log of a database.
func NewLog(d *dialect.Dialect, db DB) *Log {
	l := &Log{Dialect: d, DB: db}
	l.engine, l.SQL = &serial{Log: l}, &serialSQL
	if d == dialect.Postgres {
		l.engine, l.SQL = ticked{l}, &tickedSQL
	}
	return l
}

// Tick gives each committed change its place in the log and its time. Reads that begin after it see no change without
// a time from before the call. It does nothing on a database that refuses writes. It returns after maxTickWait, because
// a page of the log ends before changes without a time.
func (l *Log) Tick(ctx context.Context) error {
	err := l.ifWritable(l.tick(ctx, false))
	if errors.Is(err, errTickWaits) {
		return nil
	}
	return err
}

// Settle is Tick for a question about a time: it also waits for transactions that have taken their time and are not
// committed. Waits reports whether it failed because one of them took too long.
func (l *Log) Settle(ctx context.Context) error { return l.ifWritable(l.tick(ctx, true)) }

// Waits reports whether a tick failed because it waited too long for a writer.
func Waits(err error) bool { return errors.Is(err, errTickWaits) }

// ifWritable returns the error of a tick, but nil from a database that refuses writes.
func (l *Log) ifWritable(err error) error {
	if l.refusesTicks.Store(fault.Of(err) == fault.ReadOnly); l.refusesTicks.Load() {
		return nil
	}
	return err
}

// RefusesTicks reports whether the database refused the last tick, because it is read-only.
func (l *Log) RefusesTicks() bool { return l.refusesTicks.Load() }

// TimeNow returns the current time.
func TimeNow() model.Timestamp { return model.Timestamp(time.Now().UnixMicro()) }

// Newest returns the position after all changes that are logged now.
func (l *Log) Newest(ctx context.Context) (p model.Position, err error) {
	err = l.DB.Get(ctx, &p.Tick, l.SQL.Newest)
	return p, err
}

// Changes returns a page of changes, oldest first. It examines a bounded part of the log: with a rare filter a page may
// be empty although HasMore is true. Errors: BadUserInput, PositionGone.
func (l *Log) Changes(ctx context.Context, args model.ChangeArgs) (*model.ChangePage, error) {
	f, err := NewFilter(args)
	if err != nil {
		return nil, err
	}
	if args.First < 0 || args.First > model.MaxPageSize {
		return nil, model.BadArgument("first", "The first argument must be between 0 and %d.", model.MaxPageSize)
	}
	after, err := Parse(args.After)
	if err != nil {
		return nil, err
	}
	if err := l.Tick(ctx); err != nil {
		return nil, err
	}
	rows := max(1, args.First)
	if f.key != "" {
		rows = max(rows, readRows)
	}
	page, begin, err := l.read(ctx, f, after, rows)
	if err != nil {
		return nil, err
	}
	return page.nodes(begin, args.First), nil
}

// read reads a page of at most rows changes after a position, or from the beginning of the
// log if it is nil. It returns that position too. It never reads a replica, because a standby does not
// know which transactions run.
func (l *Log) read(
	ctx context.Context, f Filter, after *model.Position, rows int,
) (page *Page, begin model.Position, err error) {
	keepsPlans := f.where == nil // else the index depends on the operands
	err = l.DB.Read(ctx, keepsPlans, func(ctx context.Context, s Snapshot) error {
		window, err := l.window(ctx, s, after)
		if err != nil {
			return err
		}
		begin, page = window.begin, &Page{end: window.end, more: window.more}
		if window.empty() {
			return nil
		}
		b := query.New(l.Dialect)
		all, err := l.find(ctx, s, b, l.windowSQL(b, window, rows+1), f)
		if err != nil {
			return err
		}
		if len(all) > rows {
			all, page.more, page.end = all[:rows], true, l.PositionOf(all[rows-1].Tick, all[rows-1].Seq)
		}
		page.changes, err = l.resolve(ctx, s, all)
		return err
	})
	return page, begin, err
}

// brief is a change without its row.
type brief struct {
	Tick, Seq       int64
	RowID           model.ID `db:"row_id"`
	Type, Operation string
	Actor           string
	At              model.Timestamp
}

// found is a change as read from the log.
type found struct {
	brief
	Version    int64
	Matches    bool
	Superseded bool    // a later change of the row is logged
	After      *string // the row after this change, if it is superseded
	Name       *string // name of a deleted row
	Old        *string // the row before this change, if Filter.olds asks for it
	ChangeSet  *int64  `db:"change_set"`
}

// find reads the changes of a SELECT, in order, each with its successor of the same row.
func (l *Log) find(ctx context.Context, s Snapshot, b *query.Builder, from string, f Filter) (all []found, err error) {
	matches, old := f.matchSQL(b), "NULL"
	if f.olds {
		old = "CASE WHEN q.matches THEN CAST(q.old AS text) END"
	}
	text := `SELECT q.tick, q.seq, q.version, q.row_id, q.type, q.operation, q.actor, q.at, q.matches,
CASE WHEN q.matches THEN CAST((SELECT n.old FROM changes n WHERE n.row_id = q.row_id
AND n.seq = q.next) AS text) END AS after, q.next IS NOT NULL AS superseded,
CASE WHEN q.operation = 'd' THEN q.old ->> 'name' END AS name, ` + old + ` AS old,
q.change_set FROM (SELECT c.tick, c.seq, c.version, c.row_id, CAST(c.type AS text) AS type,
CAST(c.operation AS text) AS operation, coalesce(c.actor, '') AS actor, c.at, c.next, c.old, c.change_set,
` + matches + ` AS matches
FROM (SELECT f.*, (SELECT n.seq FROM changes n WHERE n.row_id = f.row_id AND n.type = f.type AND n.seq > f.seq
AND f.operation IN ('c', 'u') ORDER BY n.seq LIMIT 1) AS next FROM (` + from + `) f) c) q
ORDER BY q.tick, q.seq`
	err = s.Select(ctx, &all, text, b.Args...)
	return all, err
}

// resolve returns the changes that match, with their rows.
func (l *Log) resolve(ctx context.Context, s Snapshot, all []found) ([]logged, error) {
	var page []logged
	last := map[model.CatalogueType]map[model.ID]*model.Change{} // changes with the current row
	for _, c := range all {
		if !c.Matches {
			continue
		}
		at, typ := l.PositionOf(c.Tick, c.Seq), typesByCode[c.Type]
		change := &model.Change{
			Position: at.String(), Type: typ, RowID: c.RowID,
			Operation: operationsByCode[c.Operation], Version: c.Version, At: c.At, Actor: c.Actor, Deleted: c.Name,
			Set: SetOf(c.ChangeSet, c.RowID, c.Seq),
		}
		if c.Old != nil {
			change.Old = sync.OnceValue(func() any {
				row, err := types[typ].decode(c.RowID, VersionBefore(c.Operation, c.Version), *c.Old)
				if err != nil {
					return nil
				}
				return row
			})
		}
		page = append(page, logged{at, c.Seq, change})
		switch {
		case c.Operation == "d", c.Operation == "r":
		case !c.Superseded:
			if last[typ] == nil {
				last[typ] = map[model.ID]*model.Change{}
			}
			last[typ][c.RowID] = change
		case c.After != nil: // else purged, or a new row has the same id after a reset
			row, err := types[typ].decode(c.RowID, c.Version, *c.After)
			if err != nil {
				return nil, err
			}
			change.SetRow(row)
		}
	}
	for typ, changes := range last {
		if err := s.SetRows(ctx, typ, changes); err != nil {
			return nil, err
		}
	}
	return page, nil
}

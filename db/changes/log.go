package db

import (
	"context"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

// readChanges reads a page of at most rows changes after a position, or from the beginning of the
// log if it is nil. It returns that position too. It never reads a replica, because a standby does not
// know which transactions run.
func (s *Store) readChanges(ctx context.Context, f changeFilter, after *position, rows int) (page *changePage, begin position, err error) {
	err = s.transact(ctx, s.readPool, s.dialect.Snapshot, func(ctx context.Context, t *tx) error {
		window, err := s.readWindow(ctx, t, after)
		if err != nil {
			return err
		}
		begin, page = window.begin, &changePage{end: window.end, more: window.more}
		if window.empty() {
			return nil
		}
		b := query.New(s.dialect)
		found, err := s.selectChanges(ctx, t, b, s.windowSQL(b, window, rows+1), f)
		if err != nil {
			return err
		}
		if len(found) > rows {
			found, page.more, page.end = found[:rows], true, s.position(found[rows-1])
		}
		page.changes, err = s.resolve(ctx, t, found)
		return err
	})
	return page, begin, err
}

// foundChange is a change as read from the log.
type foundChange struct {
	Tick, Seq, Version int64
	RowID              model.ID `db:"row_id"`
	Type, Operation    string
	Actor              string
	At                 model.Timestamp
	Matches            bool
	Superseded         bool    // a later change of the row is logged
	After              *string // the row after this change, if it is superseded
}

// position returns the position after a change.
func (s *Store) position(c foundChange) position {
	if !s.dialect.HasTicks {
		return position{tick: c.Seq}
	}
	return position{tick: c.Tick, seq: c.Seq}
}

// selectChanges reads the changes of a SELECT, in order, each with its successor of the same row.
func (s *Store) selectChanges(ctx context.Context, t *tx, b *query.Builder, from string, f changeFilter) (found []foundChange, err error) {
	matches := s.matchSQL(b, f)
	text := `SELECT q.tick, q.seq, q.version, q.row_id, q.type, q.operation, q.actor, q.at, q.matches, CASE WHEN q.matches THEN CAST((SELECT n.old FROM changes n WHERE n.row_id = q.row_id AND n.seq = q.next) AS text) END AS after, q.next IS NOT NULL AS superseded
FROM (SELECT c.tick, c.seq, c.version, c.row_id, CAST(c.type AS text) AS type, CAST(c.operation AS text) AS operation, coalesce(c.actor, '') AS actor, c.at, c.next, ` + matches + ` AS matches
FROM (SELECT f.*, (SELECT n.seq FROM changes n WHERE n.row_id = f.row_id AND n.type = f.type AND n.seq > f.seq AND f.operation IN ('c', 'u') ORDER BY n.seq LIMIT 1) AS next FROM (` + from + `) f) c) q
ORDER BY q.tick, q.seq`
	err = s.run(ctx, t, false, func(h handle) error {
		found = nil
		rows, err := unprepared(h).QueryxContext(ctx, text, b.Args...)
		if err != nil {
			return err
		}
		return sqlx.StructScan(rows, &found)
	})
	return found, err
}

// matchSQL returns the condition that a change c passes a filter with its row before or after it.
func (s *Store) matchSQL(b *query.Builder, f changeFilter) string {
	codes := make([]string, len(f.types))
	for i, t := range f.types {
		codes[i] = "'" + loggedTypes[t].code + "'"
	}
	match := "(1 = 0)"
	if len(codes) > 0 {
		match = "c.type IN (" + strings.Join(codes, ", ") + ")"
	}
	row := ""
	if f.ids != nil {
		row += " AND " + s.dialect.In("c.row_id", b.Arg(s.dialect.Array(f.ids)))
	}
	if f.where != nil {
		t := loggedTypes[f.types[0]].table
		row += ` AND (c.old IS NOT NULL AND ` + b.FilterImage(f.where, t, "c.row_id", "c.old") +
			` OR EXISTS (SELECT 1 FROM changes n WHERE n.row_id = c.row_id AND n.seq = c.next AND n.old IS NOT NULL AND ` + b.FilterImage(f.where, t, "c.row_id", "n.old") + `)` +
			` OR c.next IS NULL AND c.operation <> 'd' AND EXISTS (SELECT 1 FROM ` + t.Name + ` r WHERE r.id = c.row_id AND ` + b.Filter(f.where, t, "r") + `))`
	}
	if row == "" {
		return "(" + match + ")"
	}
	return "(" + match + " AND (c.operation = 'r' OR (1 = 1" + row + ")))"
}

// windowTicks is the number of ticks that one read of the log examines.
const windowTicks = 100

// window is the part of the log to read next.
type window struct {
	begin, end position
	before     int64 // PostgreSQL: the tick before the first batch
	more       bool  // further ticks follow end
}

func (w window) empty() bool { return w.begin == w.end }

// readWindow returns the part of the log after a position, or from its beginning for nil. It returns
// PositionGone if the position is unknown, or part of it is deleted.
func (s *Store) readWindow(ctx context.Context, t *tx, after *position) (w window, err error) {
	if !s.dialect.HasTicks {
		return s.readSeqWindow(ctx, t, after)
	}
	var ids []int64
	text, args := `SELECT id FROM ticks ORDER BY id LIMIT $1`, []any{windowTicks + 2}
	if after != nil {
		text = `(SELECT id FROM ticks WHERE id < $2 ORDER BY id DESC LIMIT 1) UNION ALL (SELECT id FROM ticks WHERE id >= $2 ORDER BY id LIMIT $1)`
		args = append(args, after.tick)
	}
	err = s.run(ctx, t, false, func(h handle) error { return sqlx.SelectContext(ctx, h, &ids, text, args...) })
	if err != nil {
		return w, err
	}
	slices.Sort(ids)
	switch {
	case len(ids) == 0:
		return w, errPositionGone
	case after == nil:
		w.begin = position{tick: ids[0]}
	case after.seq == 0 && ids[0] == after.tick:
		w.begin = *after
	case len(ids) > 1 && ids[1] == after.tick:
		w.begin = *after
		if after.seq == 0 {
			ids = ids[1:]
		}
	default:
		return w, errPositionGone
	}
	w.before = ids[0]
	if w.more = len(ids) > windowTicks+1; w.more {
		ids = ids[:windowTicks+1]
	}
	w.end = position{tick: ids[len(ids)-1]}
	return w, nil
}

// readSeqWindow is readWindow for an engine without ticks. Each change is a batch.
func (s *Store) readSeqWindow(ctx context.Context, t *tx, after *position) (w window, err error) {
	var bounds struct {
		Start, Last int64
		Known       bool
	}
	tick := int64(-1)
	if after != nil {
		tick = after.tick
	}
	err = s.run(ctx, t, false, func(h handle) error {
		return sqlx.GetContext(ctx, h, &bounds, `SELECT start, max(start, ticked) AS last,
start = $1 OR EXISTS (SELECT 1 FROM changes WHERE seq = $1 AND seq > start) AS known FROM feed`, tick)
	})
	if err != nil {
		return w, err
	}
	if after != nil && (!bounds.Known || after.seq != 0) {
		return w, errPositionGone
	}
	w.begin, w.end = position{tick: bounds.Start}, position{tick: bounds.Last}
	if after != nil {
		w.begin, w.end.tick = *after, max(w.end.tick, after.tick)
	}
	return w, nil
}

// windowSQL returns the SELECT of the first changes of a window.
func (s *Store) windowSQL(b *query.Builder, w window, limit int) string {
	if !s.dialect.HasTicks {
		return `SELECT seq AS tick, seq, version, row_id, type, operation, actor, at, old FROM changes WHERE seq > ` + b.Arg(w.begin.tick) + ` AND seq <= ` + b.Arg(w.end.tick) + ` ORDER BY seq LIMIT ` + b.Arg(limit)
	}
	from, to, tick, seq, rows := b.Arg(w.before), b.Arg(w.end.tick), b.Arg(w.begin.tick), b.Arg(w.begin.seq), b.Arg(limit)
	return `SELECT t.id AS tick, c.seq, c.version, c.row_id, c.type, c.operation, c.actor, t.at, c.old
FROM (SELECT id, at, snapshot, before, ARRAY(SELECT pg_snapshot_xip(before)) AS running FROM (SELECT id, at, snapshot, lag(snapshot) OVER (ORDER BY id) AS before FROM ticks WHERE id BETWEEN ` + from + ` AND ` + to + `) p) t
CROSS JOIN LATERAL (SELECT * FROM changes c WHERE (c.xid >= pg_snapshot_xmax(t.before) AND c.xid < pg_snapshot_xmax(t.snapshot) OR c.xid = ANY(t.running))
  AND pg_visible_in_snapshot(c.xid, t.snapshot) AND (t.id > ` + tick + ` OR c.seq > ` + seq + `) ORDER BY c.seq LIMIT ` + rows + `) c
ORDER BY t.id, c.seq LIMIT ` + rows
}

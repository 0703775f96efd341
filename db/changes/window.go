package changes

import (
	"context"
	"slices"

	"library-catalogue/db/query"
)

// windowTicks is the number of ticks that one read of the log examines.
const windowTicks = 100

// window is the part of the log to read next.
type window struct {
	begin, end Position
	before     int64 // PostgreSQL: the tick before the first batch
	more       bool  // further ticks follow end
}

func (w window) empty() bool { return w.begin == w.end }

// readWindow returns the part of the log after a position, or from its beginning for nil. It returns
// PositionGone if the position is unknown, or part of it is deleted.
func (l *Log) readWindow(ctx context.Context, s Snapshot, after *Position) (w window, err error) {
	if !l.Dialect.HasTicks {
		return l.readSeqWindow(ctx, s, after)
	}
	var ids []int64
	text, args := `SELECT id FROM ticks ORDER BY id LIMIT $1`, []any{windowTicks + 2}
	if after != nil {
		text = `(SELECT id FROM ticks WHERE id < $2 ORDER BY id DESC LIMIT 1) UNION ALL (SELECT id FROM ticks WHERE id >= $2 ORDER BY id LIMIT $1)`
		args = append(args, after.Tick)
	}
	err = s.Select(ctx, &ids, text, args...)
	if err != nil {
		return w, err
	}
	slices.Sort(ids)
	switch {
	case len(ids) == 0:
		return w, ErrGone
	case after == nil:
		w.begin = Position{Tick: ids[0]}
	case after.Seq == 0 && ids[0] == after.Tick:
		w.begin = *after
	case len(ids) > 1 && ids[1] == after.Tick:
		w.begin = *after
		if after.Seq == 0 {
			ids = ids[1:]
		}
	default:
		return w, ErrGone
	}
	w.before = ids[0]
	if w.more = len(ids) > windowTicks+1; w.more {
		ids = ids[:windowTicks+1]
	}
	w.end = Position{Tick: ids[len(ids)-1]}
	return w, nil
}

// readSeqWindow is readWindow for an engine without ticks. Each change is a batch.
func (l *Log) readSeqWindow(ctx context.Context, s Snapshot, after *Position) (w window, err error) {
	var found []struct {
		Start, Last int64
		Known       bool
	}
	tick := int64(-1)
	if after != nil {
		tick = after.Tick
	}
	err = s.Select(ctx, &found, `SELECT start, `+lastTimedSQL+` AS last,
start = $1 OR EXISTS (SELECT 1 FROM changes WHERE seq = $1 AND seq > start) AS known FROM feed`, tick)
	if err != nil {
		return w, err
	}
	if len(found) == 0 {
		return w, ErrGone
	}
	bounds := found[0]
	if after != nil && (!bounds.Known || after.Seq != 0) {
		return w, ErrGone
	}
	w.begin, w.end = Position{Tick: bounds.Start}, Position{Tick: bounds.Last}
	if after != nil {
		w.begin, w.end.Tick = *after, max(w.end.Tick, after.Tick)
	}
	return w, nil
}

// windowSQL returns the SELECT of the first changes of a window.
func (l *Log) windowSQL(b *query.Builder, w window, limit int) string {
	if !l.Dialect.HasTicks {
		return `SELECT seq AS tick, seq, version, row_id, type, operation, actor, at, old FROM changes WHERE seq > ` + b.Arg(w.begin.Tick) + ` AND seq <= ` + b.Arg(w.end.Tick) + ` ORDER BY seq LIMIT ` + b.Arg(limit)
	}
	from, to, tick, seq, rows := b.Arg(w.before), b.Arg(w.end.Tick), b.Arg(w.begin.Tick), b.Arg(w.begin.Seq), b.Arg(limit)
	return `SELECT t.id AS tick, c.seq, c.version, c.row_id, c.type, c.operation, c.actor, t.at, c.old
FROM (SELECT id, at, snapshot, before, ARRAY(SELECT pg_snapshot_xip(before)) AS running FROM (SELECT id, at, snapshot, lag(snapshot) OVER (ORDER BY id) AS before FROM ticks WHERE id BETWEEN ` + from + ` AND ` + to + `) p) t
CROSS JOIN LATERAL (SELECT * FROM changes c WHERE (c.xid >= pg_snapshot_xmax(t.before) AND c.xid < pg_snapshot_xmax(t.snapshot) OR c.xid = ANY(t.running))
  AND pg_visible_in_snapshot(c.xid, t.snapshot) AND (t.id > ` + tick + ` OR c.seq > ` + seq + `) ORDER BY c.seq LIMIT ` + rows + `) c
ORDER BY t.id, c.seq LIMIT ` + rows
}

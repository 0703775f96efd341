package changes

import (
	"context"
	"slices"

	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

// ticked is the engine of PostgreSQL, where transactions commit in another order than they write.
type ticked struct{ *Log }

// tickLock is the key of PostgreSQL's advisory lock for ticks.
const tickLock = 7_305_140_136

// Channel is the channel of NOTIFY for new ticks.
const Channel = "catalogue_ticks"

// windowTicks is the number of ticks that one read of the log examines.
const windowTicks = 100

// beforeLogSQL is the condition that a change c is before the beginning of the log. It begins with one for the index.
const beforeLogSQL = `c.xid < (SELECT pg_snapshot_xmax(snapshot) FROM ticks ORDER BY id LIMIT 1)
AND pg_visible_in_snapshot(c.xid, (SELECT snapshot FROM ticks ORDER BY id LIMIT 1))`

var tickedSQL = Statements{
	Newest: `SELECT max(id) AS tick FROM ticks`,
	Kept:   `EXISTS (SELECT 1 FROM ticks WHERE id = $1 AND id > (SELECT min(id) FROM ticks))`,
	mark: `SELECT id, CAST(pg_snapshot_xmax(snapshot) AS text), CAST(ARRAY(SELECT pg_snapshot_xip(snapshot)) AS text)
FROM (SELECT * FROM ticks ORDER BY id DESC LIMIT 1) t`,
	size: `SELECT pg_total_relation_size('changes') + pg_total_relation_size('ticks') AS log,
pg_relation_size('revision') AS revision`,
	members: `jsonb_each_text`,
	lost:    beforeLogSQL,
	timed: `SELECT t.id AS tick, c.seq, c.row_id, CAST(c.type AS text) AS type,
CAST(c.operation AS text) AS operation, coalesce(c.actor, '') AS actor, t.at FROM changes c
CROSS JOIN LATERAL (SELECT t.id, t.at FROM ticks t WHERE pg_snapshot_xmax(t.snapshot) > c.xid
AND pg_visible_in_snapshot(c.xid, t.snapshot) ORDER BY pg_snapshot_xmax(t.snapshot), t.id LIMIT 1) t
WHERE t.id > (SELECT min(id) FROM ticks) AND `,
	// The newest tick before the cut stays, as the beginning of the log. Its changes and those before them go.
	forget: []string{
		`DELETE FROM ticks WHERE id IN (SELECT id
FROM (SELECT id, lead(at) OVER (ORDER BY id) AS next FROM (SELECT id, at FROM ticks ORDER BY id LIMIT $1 + 1) t) t
WHERE next < {cut})`,
		// LATERAL looks up one set after another. For IN, PostgreSQL may compare all changes with all that go.
		`UPDATE changes SET change_set = NULL WHERE (xid, seq) IN (SELECT k.xid, k.seq
FROM (SELECT DISTINCT c.change_set FROM changes c WHERE ` + beforeLogSQL + `) l
CROSS JOIN LATERAL (SELECT c.xid, c.seq FROM changes c WHERE c.change_set = l.change_set AND NOT (` + beforeLogSQL +
			`) OFFSET 0) k LIMIT $1)`,
		`DELETE FROM changes WHERE (xid, seq) IN (SELECT c.xid, c.seq FROM changes c WHERE ` + beforeLogSQL +
			` ORDER BY c.xid, c.seq LIMIT $1)`,
	},
}

// tickState compares the newest tick with the catalogue.
type tickState struct {
	Newest  int64 // id of the newest tick
	Moved   bool  // there are changes since the tick
	Foreign bool  // the log comes from another server with higher transaction numbers
	Recent  bool  // the tick was made within tickInterval
}

const tickStateSQL = `SELECT coalesce(t.id, 0) AS newest,
coalesce(t.revision IS DISTINCT FROM r.n, true) AS moved, coalesce(t.foreign_log, false) AS foreign,
coalesce(t.age BETWEEN interval '0' AND interval '50 ms', false) AS recent
FROM (SELECT sum(n) AS n FROM revision) r LEFT JOIN
(SELECT id, revision, clock_timestamp() - at AS age, pg_snapshot_xmax(snapshot) > now.xmax
OR coalesce((SELECT xid FROM changes ORDER BY xid DESC LIMIT 1) >= now.xmax, false) AS foreign_log
FROM ticks, (SELECT pg_snapshot_xmax(pg_current_snapshot()) AS xmax) now ORDER BY id DESC LIMIT 1) t ON true`

// tick makes a tick if there are changes since the newest one, and gives its time to all that it sees. It waits for
// another process that makes one, because that one may see less.
func (e ticked) tick(ctx context.Context, _ bool) error {
	var state tickState
	err := e.DB.Get(ctx, &state, tickStateSQL)
	if err != nil || !state.Moved && !state.Foreign {
		return err
	}
	return e.makeTick(ctx, lockTicksSQL, state.Foreign)
}

func (e ticked) OpenSince() model.Timestamp { return 0 }

// look makes no tick within tickInterval of the newest one, and none while another process makes one.
func (e ticked) look(ctx context.Context) (newest model.Position, lacks bool, err error) {
	var state tickState
	err = e.DB.Get(ctx, &state, tickStateSQL)
	newest, lacks = model.Position{Tick: state.Newest}, state.Moved || state.Foreign
	if err != nil || !lacks || state.Recent && !state.Foreign {
		return newest, lacks, err
	}
	if err := e.ifWritable(e.makeTick(ctx, tryLockTicksSQL, state.Foreign)); err != nil || e.RefusesTicks() {
		return newest, false, err
	}
	newest, err = e.Newest(ctx)
	return newest, true, err
}

// makeTick makes a tick in a transaction, unless lock returns false or another process was faster. The lock is
// taken before the statement that takes the snapshot, so that each tick sees all that the one before it sees. In a
// higher isolation level, which may be the role's default, the lock's statement would take the snapshot already.
// Only this transaction notifies, because NOTIFY makes commits of the whole server wait for each other.
func (e ticked) makeTick(ctx context.Context, lock string, foreign bool) error {
	return e.DB.Write(ctx, func(ctx context.Context) error {
		var locked []bool
		if err := e.DB.Select(ctx, &locked, lock, tickLock); err != nil || !slices.Contains(locked, true) {
			return err
		}
		if foreign { // a dump brought a log with higher transaction numbers
			if _, err := e.DB.Exec(ctx, `SELECT restart_log()`); err != nil {
				return err
			}
		}
		_, err := e.DB.Exec(ctx, makeTickSQL, Channel, foreign)
		return err
	})
}

// lockTicksSQL locks the ticks, and tryLockTicksSQL does if no other process has locked them. A server that stops in
// the middle holds the lock for 10 s at most.
const (
	lockTicksSQL    = `SELECT pg_advisory_xact_lock($1) IS NOT NULL` + boundLockSQL
	tryLockTicksSQL = `SELECT pg_try_advisory_xact_lock($1)` + boundLockSQL
	boundLockSQL    = ` FROM set_config('idle_in_transaction_session_timeout', '10s', true)`
)

// makeTickSQL makes a tick unless another process was faster. After a reset of the log it lets the
// next tick follow at once, because this one does not see the reset.
const makeTickSQL = `WITH made AS (INSERT INTO ticks (id, snapshot, at, revision)
SELECT coalesce(t.id, 0) + 1 + floor(random() * 16777216)::bigint, pg_current_snapshot(),
greatest(t.at, clock_timestamp()), CASE WHEN $2 THEN -1 ELSE r.n END
FROM (SELECT sum(n) AS n FROM revision) r LEFT JOIN (SELECT id, at, revision FROM ticks ORDER BY id DESC LIMIT 1) t
ON true
WHERE $2 OR t.revision IS DISTINCT FROM r.n RETURNING id)
SELECT pg_notify($1, '') FROM made`

func (e ticked) window(ctx context.Context, s Snapshot, after *model.Position) (w window, err error) {
	var ids []int64
	text, args := `SELECT id FROM ticks ORDER BY id LIMIT $1`, []any{windowTicks + 2}
	if after != nil {
		text = `(SELECT id FROM ticks WHERE id < $2 ORDER BY id DESC LIMIT 1)
UNION ALL (SELECT id FROM ticks WHERE id >= $2 ORDER BY id LIMIT $1)`
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
		w.begin = model.Position{Tick: ids[0]}
	case after.Seq == 0 && ids[0] == after.Tick: // the beginning of the log
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
	w.end = model.Position{Tick: ids[len(ids)-1]}
	return w, nil
}

// ofTicksSQL is the FROM item of the ticks t of a condition, each with the snapshot before it and the transactions that
// ran then, and of its changes c.
func ofTicksSQL(ticks string) string {
	return `
FROM (SELECT id, at, snapshot, before, ARRAY(SELECT pg_snapshot_xip(before)) AS running
FROM (SELECT id, at, snapshot, lag(snapshot) OVER (ORDER BY id) AS before FROM ticks WHERE id ` + ticks + `) p) t
CROSS JOIN LATERAL (SELECT * FROM changes c WHERE (c.xid >= pg_snapshot_xmax(t.before)
AND c.xid < pg_snapshot_xmax(t.snapshot) OR c.xid = ANY(t.running))
  AND pg_visible_in_snapshot(c.xid, t.snapshot)`
}

func (e ticked) windowSQL(b *query.Builder, w window, limit int) string {
	from, to, tick, seq, rows := b.Arg(w.before), b.Arg(w.end.Tick), b.Arg(w.begin.Tick), b.Arg(w.begin.Seq),
		b.Arg(limit)
	return `SELECT t.id AS tick, c.seq, c.version, c.row_id, c.type, c.operation, c.actor, t.at, c.old, c.change_set` +
		ofTicksSQL("BETWEEN "+from+" AND "+to) +
		` AND (t.id > ` + tick + ` OR c.seq > ` + seq + `) ORDER BY c.seq LIMIT ` + rows + `) c
ORDER BY t.id, c.seq LIMIT ` + rows
}

// beforeSQL returns the newest changes of the ticks from $1, without it, to $2, and of the tick $3 only changes before
// the seq $4.
var beforeSQL = `SELECT t.id AS tick, c.seq, c.row_id, CAST(c.type AS text) AS type,
CAST(c.operation AS text) AS operation, coalesce(c.actor, '') AS actor, t.at` +
	ofTicksSQL("BETWEEN $1 AND $2") + ` AND (t.id < $3 OR c.seq < $4) ORDER BY c.seq DESC LIMIT $5) c
ORDER BY t.id DESC, c.seq DESC LIMIT $5`

func (e ticked) before(
	ctx context.Context, s Snapshot, end model.Position, limit int,
) (rows []brief, begin model.Position, more bool, err error) {
	var ids []int64
	if err := s.Select(ctx, &ids, `SELECT id FROM ticks WHERE id <= $1 ORDER BY id DESC LIMIT $2`, end.Tick,
		windowTicks+2); err != nil {
		return nil, end, false, err
	}
	if len(ids) < 2 { // the changes of the oldest tick are not kept
		return nil, end, false, nil
	}
	if more = len(ids) > windowTicks+1; more {
		ids = ids[:windowTicks+1]
	}
	oldest := ids[len(ids)-1]
	err = s.Select(ctx, &rows, beforeSQL, oldest, ids[0], end.Tick, end.Last(), limit)
	switch {
	case err != nil:
		return nil, end, false, err
	case len(rows) == limit:
		return rows, e.PositionOf(rows[limit-1].Tick, rows[limit-1].Seq), true, nil
	}
	return rows, model.Position{Tick: oldest}, more, nil
}

func (e ticked) PositionOf(tick, seq int64) model.Position {
	return model.Position{Tick: tick, Seq: seq}
}

func (e ticked) Seq(p model.Position) int64 { return p.Last() }

// HistorySQL looks for the first change that a tick does not see only if the position is after the whole tick, $4.
func (e ticked) HistorySQL(
	code string, ids []model.ID, end model.Position, limit int,
) (text string, args []any) {
	whole := end.Tick
	if end.Seq != 0 {
		whole = 0
	}
	later := `least(` + firstSeq(code, `m.seq >= $2`) + `, ` + firstSeq(code, `CAST($4 AS bigint) <> 0
    AND NOT pg_visible_in_snapshot(m.xid, (SELECT snapshot FROM ticks WHERE id = $4))`) + `)`
	return historyColumns + `coalesce(t.id, 0), ` + e.Dialect.Timestamp("coalesce(t.at, now())") +
			` FROM unnest($1::bigint[]) AS k (id)
CROSS JOIN LATERAL (SELECT n.* FROM ` + historyRows(code, later) + `) c
LEFT JOIN LATERAL (SELECT t.id, t.at FROM ticks t WHERE pg_snapshot_xmax(t.snapshot) > c.xid
AND pg_visible_in_snapshot(c.xid, t.snapshot)
  ORDER BY pg_snapshot_xmax(t.snapshot), t.id LIMIT 1) t ON true ORDER BY k.id, c.seq DESC`,
		[]any{e.Dialect.Array(ids), e.Seq(end), limit, whole}
}

// NextSQL heeds that a change of the tick of a position may have a lower seq than one of an earlier tick.
func (e ticked) NextSQL(code string, ids []model.ID, at []model.Position) (text string, args []any) {
	ticks, last := make([]int64, len(at)), make([]int64, len(at))
	for i, p := range at {
		ticks[i], last[i] = p.Tick, p.Last()
	}
	return `SELECT k.n, t.id IS NOT NULL AS kept, coalesce(CAST(c.operation AS text), '') AS operation,
coalesce(c.version, 0) AS version, CAST(c.old AS text) AS old
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS k (id, tick, seq, n) LEFT JOIN ticks t
ON t.id = k.tick LEFT JOIN LATERAL (
  SELECT operation, version, old FROM changes n WHERE n.row_id IN (k.id, 0)
AND n.type = '` + code + `' AND (NOT pg_visible_in_snapshot(n.xid, t.snapshot) OR n.seq > k.seq
    AND NOT coalesce(pg_visible_in_snapshot(n.xid, (SELECT p.snapshot FROM ticks p WHERE p.id < t.id
ORDER BY p.id DESC LIMIT 1)), false))
  ORDER BY n.seq LIMIT 1) c ON true`, []any{e.Dialect.Array(ids), e.Dialect.Array(ticks), e.Dialect.Array(last)}
}

func (e ticked) AtSQL(at, _ model.Timestamp) (search, columns string, args []any) {
	return timeline{
		table: "ticks", key: "id", first: "(SELECT min(id) FROM ticks)", last: "(SELECT max(id) FROM ticks)",
		begin: "(SELECT min(at) FROM ticks)", now: "now()",
		open: `(SELECT revision FROM ticks ORDER BY id DESC LIMIT 1) IS DISTINCT FROM (SELECT sum(n) FROM revision)`,
	}.search(at.String())
}

func (e ticked) sinceSQL(b *query.Builder, mark Mark) (known, after, current string) {
	tick := b.Arg(mark.Tick)
	known = `EXISTS (SELECT 1 FROM ticks WHERE id = ` + tick +
		` AND pg_snapshot_xmax(snapshot) <= pg_snapshot_xmax(pg_current_snapshot()))`
	after = `(c.xid >= CAST(` + b.Arg(mark.Next) + ` AS xid8) OR c.xid = ANY(CAST(` + b.Arg(mark.Open) + ` AS xid8[])))`
	// else a plan may read all books
	return known, after, `firsts f CROSS JOIN LATERAL (SELECT * FROM books WHERE id = f.row_id OFFSET 0) r`
}

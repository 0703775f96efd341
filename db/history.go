package db

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"strings"

	"library-catalogue/graph/model"
)

// Past names a row as it was at a moment.
type Past struct {
	model.Moment
	ID model.ID
}

// logKeys returns the FROM item k with the columns n, id, tick and seq of the Arrays $1, $2 and $3.
func (s *Store) logKeys() string {
	if s.dialect.HasArrays {
		return `unnest($1::bigint[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS k (id, tick, seq, n)`
	}
	return `(SELECT i.key + 1 AS n, i.value AS id, t.value AS tick, c.value AS seq FROM json_each($1) i JOIN json_each($2) t ON t.key = i.key JOIN json_each($3) c ON c.key = i.key) k`
}

// nextChangeSQL returns a SELECT of each key of logKeys with the first change of its row after its
// moment, and whether the log still has the moment.
func (s *Store) nextChangeSQL(code string) string {
	if !s.dialect.HasTicks {
		return `SELECT k.n, k.seq >= (SELECT start FROM feed) AS kept, coalesce(c.operation, '') AS operation, coalesce(c.version, 0) AS version, c.old
FROM ` + s.logKeys() + ` LEFT JOIN changes c ON c.seq = (SELECT min(n.seq) FROM changes n WHERE n.row_id IN (k.id, 0) AND n.type = '` + code + `' AND n.seq > k.seq)`
	}
	// A change of the tick of the moment may have a lower seq than one of an earlier tick.
	return `SELECT k.n, t.id IS NOT NULL AS kept, coalesce(CAST(c.operation AS text), '') AS operation, coalesce(c.version, 0) AS version, CAST(c.old AS text) AS old
FROM ` + s.logKeys() + ` LEFT JOIN ticks t ON t.id = k.tick LEFT JOIN LATERAL (
  SELECT operation, version, old FROM changes n WHERE n.row_id IN (k.id, 0) AND n.type = '` + code + `' AND (NOT pg_visible_in_snapshot(n.xid, t.snapshot) OR n.seq > k.seq
    AND NOT coalesce(pg_visible_in_snapshot(n.xid, (SELECT p.snapshot FROM ticks p WHERE p.id < t.id ORDER BY p.id DESC LIMIT 1)), false))
  ORDER BY n.seq LIMIT 1) c ON true`
}

func (r reader[T]) AsOf(ctx context.Context, keys []Past) (map[Past]*T, error) {
	found := make(map[Past]*T, len(keys))
	ids, ticks, seqs := make([]model.ID, len(keys)), make([]int64, len(keys)), make([]int64, len(keys))
	for i, key := range keys {
		ids[i], ticks[i], seqs[i] = key.ID, key.Tick, key.Seq
	}
	d := r.s.store.dialect
	var now []model.ID // rows without a later change
	var unknown bool
	text := versioned(`SELECT q.* FROM (` + r.s.store.nextChangeSQL(r.code()) + `) q`)
	err := r.s.read(ctx, readStmt{text, []any{d.Array(ids), d.Array(ticks), d.Array(seqs)}, false}, func() scanRow {
		clear(found)
		now, unknown = nil, false
		return func(rows *sql.Rows, at *model.Revision) error {
			var n, version int64
			var kept bool
			var operation string
			var old *string
			if err := rows.Scan(append(revisionTargets(at), &n, &kept, &operation, &version, &old)...); err != nil {
				return err
			}
			key := keys[n-1]
			switch {
			case !kept, operation == "r":
				unknown = true
			case operation == "":
				now = append(now, key.ID)
			case operation != "c":
				row, err := before(r.mapping, key.ID, operation, version, old)
				found[key] = row
				return err
			case old != nil:
				return fmt.Errorf("change %d of %s %d creates an existing row", version, r.noun, key.ID)
			default:
				found[key] = nil
			}
			return nil
		}
	})
	if err != nil {
		return nil, err
	}
	if unknown {
		return nil, model.Errorf(model.PositionGone, "The changes since then are not kept any more. Choose a later time.")
	}
	current, err := r.byID(ctx, now)
	if err != nil {
		return nil, err
	}
	for i := range keys {
		key := keys[i]
		row, logged := found[key]
		if row == nil && !logged && current[key.ID] != nil {
			row = new(*current[key.ID])
		}
		if row == nil {
			delete(found, key)
			continue
		}
		any(row).(pastRow).SetMoment(&keys[i].Moment)
		found[key] = row
	}
	return found, nil
}

// pastRow is a row that can be of the past.
type pastRow interface{ SetMoment(*model.Moment) }

// byID is like ByID, with the rows by their ids.
func (r reader[T]) byID(ctx context.Context, ids []model.ID) (map[model.ID]*T, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := r.ByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	byID := make(map[model.ID]*T, len(rows))
	for _, row := range rows {
		byID[r.id(row)] = row
	}
	return byID, nil
}

// code returns the type in the log.
func (t mapping[T]) code() string { return strings.ToLower(t.noun[:1]) }

// before returns the row before a logged change, or nil.
func before[T any](t mapping[T], id model.ID, operation string, version int64, old *string) (*T, error) {
	if old == nil {
		return nil, nil
	}
	if operation == "u" {
		version--
	}
	row, err := decodeImage(t, *old)
	if err != nil {
		return nil, err
	}
	identify(t, row, id, version)
	return row, nil
}

// identify sets the columns that a logged row omits.
func identify[T any](t mapping[T], row *T, id model.ID, version int64) {
	for _, f := range t.fields {
		switch f.Column {
		case "id":
			*f.Pointer(row).(*model.ID) = id
		case "version":
			*f.Pointer(row).(*int64) = version
		}
	}
}

// The engines read times with a year of four digits, and PostgreSQL none of the year 0.
const (
	firstTime model.Timestamp = -62_135_596_800_000_000 // 0001-01-01T00:00:00Z
	lastTime  model.Timestamp = 253_402_300_799_999_999 // 9999-12-31T23:59:59.999999Z
)

// MomentAt returns the newest moment at or before a time, in the order of the feed. It is the same for
// every later call with that time. Errors: BadUserInput for the future, PositionGone before the
// beginning of the log.
func (s *Snapshot) MomentAt(ctx context.Context, at model.Timestamp) (m model.Moment, err error) {
	at = min(max(at, firstTime), lastTime)
	// The times of ticks, and of changes without ticks, have the order of their keys, so a binary
	// search needs no index on them.
	table, key, first, last, begin := "ticks", "id", "(SELECT min(id) FROM ticks)", "(SELECT max(id) FROM ticks)", "(SELECT min(at) FROM ticks)"
	now, untimed, args := "now()", isUntimedSQL, []any{at.String()} // now is before the snapshot of the statement
	if !s.store.dialect.HasTicks {
		table, key, first, last, begin = "changes", "seq", "(SELECT start FROM feed)", "(SELECT max(start, ticked) FROM feed)", "(SELECT at FROM feed)"
		now, untimed, args = "$2", isUntimedSQLite, append(args, timeNow())
	}
	search := fmt.Sprintf(`WITH RECURSIVE s (low, high) AS (
SELECT %[3]s, %[4]s
UNION ALL
SELECT CASE WHEN c.at <= $1 THEN c.%[2]s ELSE s.low END, CASE WHEN c.at <= $1 THEN s.high ELSE s.low + (s.high - s.low + 1) / 2 - 1 END
FROM s JOIN %[1]s c ON c.%[2]s = (SELECT min(n.%[2]s) FROM %[1]s n WHERE n.%[2]s >= s.low + (s.high - s.low + 1) / 2) WHERE s.low < s.high)
`, table, key, first, last)
	text := search + versioned(`SELECT max(low), $1 > `+now+`, $1 < `+begin+`, max(low) = `+last+` AND `+untimed+` FROM s`)
	var future, gone, open bool
	read := func() error {
		return s.read(ctx, readStmt{text, args, false}, func() scanRow {
			return func(rows *sql.Rows, seen *model.Revision) error {
				return rows.Scan(append(revisionTargets(seen), &m.Tick, &future, &gone, &open)...)
			}
		})
	}
	// A tick that runs now may have taken its time before at, and commit after this read. The next tick
	// waits for it, and those after it get a time after at.
	if err = read(); err == nil && open && !future && !gone {
		if open, err = s.tick(ctx); err == nil && open {
			err = read()
		}
	}
	switch {
	case err != nil:
		return m, err
	case future:
		return m, badArgument("asOf", "The asOf argument must not be in the future.")
	case gone:
		return m, model.Errorf(model.PositionGone, "The log of changes begins after %s. Choose a later time.", at)
	}
	if !s.store.dialect.HasTicks {
		return model.Moment{Seq: m.Tick}, nil
	}
	m.Seq = math.MaxInt64
	return m, nil
}

// History returns a page of the changes of each row, newest first. A reset of the type is a change
// of each of its rows, and the row before it is unknown. Errors: BadUserInput and PositionGone for
// the position.
func (s *Snapshot) History(ctx context.Context, ids []model.ID, args *model.HistoryArgs) (map[model.ID]*model.ChangePage, error) {
	switch args.Type {
	case model.TypeGenre:
		return history(ctx, reader[model.Genre]{s, &genres}, ids, args, func(c *model.Change, g *model.Genre) { c.Genre = g })
	case model.TypeCategory:
		return history(ctx, reader[model.Category]{s, &categories}, ids, args, func(c *model.Change, k *model.Category) { c.Category = k })
	}
	return history(ctx, reader[model.Book]{s, &books}, ids, args, func(c *model.Change, b *model.Book) { c.Book = b })
}

// seqOf returns the seq of the change with a position. Errors: BadUserInput, PositionGone.
func (s *Snapshot) seqOf(ctx context.Context, text string) (seq int64, err error) {
	p, err := parseAfter(&text)
	if err != nil {
		return 0, err
	}
	known := false
	err = s.read(ctx, readStmt{text: versioned(`SELECT ` + s.store.isKeptSQL()), args: []any{p.tick}}, func() scanRow {
		return func(rows *sql.Rows, at *model.Revision) error {
			return rows.Scan(append(revisionTargets(at), &known)...)
		}
	})
	if err == nil && !known {
		err = errPositionGone
	}
	return s.store.seq(*p), err
}

// isKeptSQL returns the condition that the changes of the tick $1 are in the log.
func (s *Store) isKeptSQL() string {
	if s.dialect.HasTicks {
		return `EXISTS (SELECT 1 FROM ticks WHERE id = $1 AND id > (SELECT min(id) FROM ticks))`
	}
	return `EXISTS (SELECT 1 FROM changes WHERE seq = $1)`
}

// seq returns the seq of the change with a position.
func (s *Store) seq(p position) int64 {
	if s.dialect.HasTicks {
		return p.seq
	}
	return p.tick
}

// historySQL returns the SELECT of the newest changes of each row of $1, those before the seq $2,
// and the one before them in the answer, which has the row after the first of them.
func (s *Store) historySQL(code string) string {
	newest := `changes n WHERE n.row_id IN (k.id, 0) AND n.type = '` + code + `' AND n.seq <= coalesce(
  (SELECT min(m.seq) FROM changes m WHERE m.row_id IN (k.id, 0) AND m.type = '` + code + `' AND m.seq >= $2), $2) ORDER BY n.seq DESC LIMIT $3`
	columns := `SELECT k.id, c.seq, CAST(c.operation AS text), c.version, coalesce(c.actor, ''), CAST(c.old AS text), `
	if !s.dialect.HasTicks {
		return columns + `CASE WHEN c.seq <= (SELECT ticked FROM feed) THEN c.seq ELSE 0 END, c.at FROM (SELECT value AS id FROM json_each($1)) k JOIN changes c ON c.seq IN (SELECT n.seq FROM ` + newest + `) ORDER BY k.id, c.seq DESC`
	}
	return columns + `coalesce(t.id, 0), ` + s.dialect.Timestamp("coalesce(t.at, now())") + ` FROM unnest($1::bigint[]) AS k (id) CROSS JOIN LATERAL (SELECT n.* FROM ` + newest + `) c
LEFT JOIN LATERAL (SELECT t.id, t.at FROM ticks t WHERE pg_snapshot_xmax(t.snapshot) > c.xid AND pg_visible_in_snapshot(c.xid, t.snapshot)
  ORDER BY pg_snapshot_xmax(t.snapshot), t.id LIMIT 1) t ON true ORDER BY k.id, c.seq DESC`
}

// pastChange is a change of a row as the log has it.
type pastChange struct {
	id        model.ID
	at        position
	seq       int64
	operation string
	version   int64
	actor     string
	old       *string
	time      timestamp
}

// change returns the change for clients. after is the row after it, or nil.
func change[T any](c *pastChange, typ model.CatalogueType, after *T, set func(*model.Change, *T)) *model.Change {
	change := &model.Change{
		Position: c.at.String(), Type: typ, RowID: c.id, Operation: operationsByCode[c.operation],
		Version: c.version, At: model.Timestamp(c.time), Actor: c.actor,
	}
	switch change.Operation {
	case model.ChangeReset:
		change.RowID = 0
	case model.ChangeCreate, model.ChangeUpdate:
		if after != nil {
			row := new(*after)
			any(row).(pastRow).SetMoment(&model.Moment{Tick: c.at.tick, Seq: c.seq})
			set(change, row)
		}
	}
	return change
}

func history[T any](ctx context.Context, r reader[T], ids []model.ID, args *model.HistoryArgs, set func(*model.Change, *T)) (map[model.ID]*model.ChangePage, error) {
	d := r.s.store.dialect
	end := int64(math.MaxInt64) // seq after the page
	if args.After != nil {
		after, err := r.s.seqOf(ctx, *args.After)
		if err != nil {
			return nil, err
		}
		end = after
	}
	limit := args.First + 2 // the change before the page, and one after it
	var found map[model.ID][]pastChange
	untimed := false
	stmt := readStmt{versioned(r.s.store.historySQL(r.code())), []any{d.Array(distinct(ids)), end, limit}, false}
	scan := func() scanRow {
		found, untimed = map[model.ID][]pastChange{}, false
		return func(rows *sql.Rows, at *model.Revision) error {
			var c pastChange
			err := rows.Scan(append(revisionTargets(at), (*int64)(&c.id), &c.seq, &c.operation, &c.version, &c.actor, &c.old, &c.at.tick, &c.time)...)
			if d.HasTicks {
				c.at.seq = c.seq
			}
			found[c.id], untimed = append(found[c.id], c), untimed || c.at.tick == 0
			return err
		}
	}
	err := r.s.read(ctx, stmt, scan)
	for attempt := 1; err == nil && untimed && attempt <= extraAttempts; attempt++ { // the last commits have no position yet
		if untimed, err = r.s.tick(ctx); err == nil && untimed {
			err = r.s.read(ctx, stmt, scan)
		}
	}
	if err != nil {
		return nil, err
	}
	now, err := r.byID(ctx, distinct(ids))
	if err != nil {
		return nil, err
	}
	pages := make(map[model.ID]*model.ChangePage, len(ids))
	for _, id := range ids {
		page := &model.ChangePage{HasMore: len(found[id]) == limit}
		if args.After != nil {
			page.Position = *args.After
		}
		row := now[id]
		for _, c := range found[id] {
			if c.at.tick != 0 && c.seq < end { // without a tick a change is not committed yet
				if len(page.Nodes) == args.First {
					page.HasMore = true
					break
				}
				page.Nodes, page.Position = append(page.Nodes, change(&c, args.Type, row, set)), c.at.String()
			}
			if row, err = before(r.mapping, id, c.operation, c.version, c.old); err != nil {
				return nil, err
			}
		}
		pages[id] = page
	}
	return pages, nil
}

package changes

import (
	"context"
	"fmt"
	"math"
	"slices"

	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

// The bounds of a page of Recent: the changes and the windows of ticks that it examines.
const (
	recentRows    = 5_000
	recentWindows = 20
)

// brief is a change without its rows.
type brief struct {
	Tick, Seq       int64
	RowID           model.ID `db:"row_id"`
	Type, Operation string
	Actor           string
	At              model.Timestamp
}

// passes reports whether a change passes the filters of args.
func (c *brief) passes(args *model.RecentArgs) bool {
	return (args.Types == nil || slices.Contains(args.Types, typesByCode[c.Type])) &&
		(args.Operations == nil || slices.Contains(args.Operations, operationsByCode[c.Operation])) &&
		(args.Actor == nil || c.Actor == *args.Actor)
}

// Recent returns a page of changes, newest first. It examines a bounded part of the log, so a page of a rare filter may
// be empty although HasMore is true. Errors: BadUserInput, PositionGone.
func (l *Log) Recent(ctx context.Context, args model.RecentArgs) (page *model.ChangePage, err error) {
	if args.First < 1 || args.First > model.MaxPageSize {
		return nil, BadArgument("first", fmt.Sprintf("The first argument must be between 1 and %d.", model.MaxPageSize))
	}
	before, err := Parse(args.After)
	if err != nil {
		return nil, err
	}
	if err := l.TickForPage(ctx); err != nil {
		return nil, err
	}
	err = l.DB.Read(ctx, true, func(ctx context.Context, s Snapshot) error {
		page, err = l.selectRecent(ctx, s, &args, before)
		return err
	})
	return page, err
}

// selectRecent reads the log backwards until a page is full.
func (l *Log) selectRecent(ctx context.Context, s Snapshot, args *model.RecentArgs, before *Position) (*model.ChangePage, error) {
	end := Position{Tick: math.MaxInt64}
	if before != nil {
		end = *before
		var kept []bool
		if err := s.Select(ctx, &kept, `SELECT `+KeptSQL(l.Dialect), before.Tick); err != nil {
			return nil, err
		}
		if len(kept) == 0 || !kept[0] {
			return nil, ErrGone
		}
	}
	limit := args.First + 1
	if args.Types != nil || args.Operations != nil || args.Actor != nil {
		limit = max(limit, recentRows)
	}
	var chosen []brief
	more := true
	for windows, looked := 0, 0; more && windows < recentWindows && looked < limit; windows++ {
		var rows []brief
		var err error
		if rows, end, more, err = l.readBefore(ctx, s, end, limit-looked); err != nil {
			return nil, err
		}
		looked += len(rows)
		for _, c := range rows {
			if args.Since != nil && c.At < *args.Since {
				more = false
				break
			}
			if !c.passes(args) {
				continue
			}
			if len(chosen) == args.First {
				last := chosen[args.First-1]
				return l.withRows(ctx, s, chosen, l.positionOf(last), true)
			}
			chosen = append(chosen, c)
		}
	}
	if before == nil && end.Tick == math.MaxInt64 {
		end.Tick = 0 // the log is empty
	}
	return l.withRows(ctx, s, chosen, end, more)
}

// positionOf returns the position of a change.
func (l *Log) positionOf(c brief) Position { return l.position(found{Tick: c.Tick, Seq: c.Seq}) }

// readBefore reads at most limit changes before a position, newest first, and the position before them. more is
// true if the log may have older ones.
func (l *Log) readBefore(ctx context.Context, s Snapshot, end Position, limit int) (rows []brief, begin Position, more bool, err error) {
	if !l.Dialect.HasTicks {
		err = s.Select(ctx, &rows, `SELECT seq AS tick, seq, row_id, type, operation, coalesce(actor, '') AS actor, at FROM changes
WHERE seq > (SELECT start FROM feed) AND seq <= min(`+lastTimedSQL+`, $1) ORDER BY seq DESC LIMIT $2`, end.Tick-1, limit)
		if err != nil || len(rows) == 0 {
			return nil, end, false, err
		}
		return rows, l.positionOf(rows[len(rows)-1]), len(rows) == limit, nil
	}
	var ids []int64
	if err := s.Select(ctx, &ids, `SELECT id FROM ticks WHERE id <= $1 ORDER BY id DESC LIMIT $2`, end.Tick, windowTicks+2); err != nil {
		return nil, end, false, err
	}
	if len(ids) < 2 { // the changes of the oldest tick are not kept
		return nil, end, false, nil
	}
	if more = len(ids) > windowTicks+1; more {
		ids = ids[:windowTicks+1]
	}
	oldest := ids[len(ids)-1]
	err = s.Select(ctx, &rows, beforeSQL, oldest, ids[0], end.Tick, end.last(), limit)
	switch {
	case err != nil:
		return nil, end, false, err
	case len(rows) == limit:
		return rows, l.positionOf(rows[limit-1]), true, nil
	}
	return rows, Position{Tick: oldest}, more, nil
}

// beforeSQL returns the newest changes of the ticks from $1, without it, to $2. Of the tick $3 it takes those before the
// seq $4.
const beforeSQL = `SELECT t.id AS tick, c.seq, c.row_id, CAST(c.type AS text) AS type, CAST(c.operation AS text) AS operation, coalesce(c.actor, '') AS actor, t.at
FROM (SELECT id, at, snapshot, before, ARRAY(SELECT pg_snapshot_xip(before)) AS running FROM (SELECT id, at, snapshot, lag(snapshot) OVER (ORDER BY id) AS before FROM ticks WHERE id BETWEEN $1 AND $2) p) t
CROSS JOIN LATERAL (SELECT * FROM changes c WHERE (c.xid >= pg_snapshot_xmax(t.before) AND c.xid < pg_snapshot_xmax(t.snapshot) OR c.xid = ANY(t.running))
  AND pg_visible_in_snapshot(c.xid, t.snapshot) AND (t.id < $3 OR c.seq < $4) ORDER BY c.seq DESC LIMIT $5) c
ORDER BY t.id DESC, c.seq DESC LIMIT $5`

// withRows returns a page of changes with their rows.
func (l *Log) withRows(ctx context.Context, s Snapshot, chosen []brief, position Position, more bool) (*model.ChangePage, error) {
	page := &model.ChangePage{Position: position.String(), HasMore: more}
	if len(chosen) == 0 {
		return page, nil
	}
	ids, numbers := make([]model.ID, len(chosen)), make([]int64, len(chosen))
	for i, c := range chosen {
		ids[i], numbers[i] = c.RowID, c.Seq
	}
	b := query.New(l.Dialect)
	all, err := l.find(ctx, s, b, l.bySeqSQL(b, ids, numbers), Filter{types: model.CatalogueTypes})
	if err != nil {
		return nil, err
	}
	bySeq := make(map[int64]found, len(all))
	for _, c := range all {
		bySeq[c.Seq] = c
	}
	ordered := make([]found, len(chosen))
	for i, c := range chosen {
		ordered[i] = bySeq[c.Seq]
		ordered[i].Tick, ordered[i].At = c.Tick, c.At
	}
	resolved, err := l.resolve(ctx, s, ordered)
	for _, c := range resolved {
		page.Nodes = append(page.Nodes, c.change)
	}
	return page, err
}

package changes

import (
	"context"
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

// passes reports whether a change passes the filters of args.
func (c *brief) passes(args *model.RecentArgs) bool {
	return (args.Types == nil || slices.Contains(args.Types, typesByCode[c.Type])) &&
		(args.Operations == nil || slices.Contains(args.Operations, operationsByCode[c.Operation])) &&
		(args.Actor == nil || c.Actor == *args.Actor)
}

// Recent returns a page of changes, newest first. It examines a bounded part of the log: with a rare filter a page may
// be empty although HasMore is true. Errors: BadUserInput, PositionGone.
func (l *Log) Recent(ctx context.Context, args model.RecentArgs) (page *model.ChangePage, err error) {
	if args.First < 1 || args.First > model.MaxPageSize {
		return nil, model.BadArgument("first", "The first argument must be between 1 and %d.", model.MaxPageSize)
	}
	before, err := Parse(args.After)
	if err != nil {
		return nil, err
	}
	if err := l.Tick(ctx); err != nil {
		return nil, err
	}
	err = l.DB.Read(ctx, true, func(ctx context.Context, s Snapshot) error {
		page, err = l.selectRecent(ctx, s, &args, before)
		return err
	})
	return page, err
}

// selectRecent reads the log backwards until a page is full.
func (l *Log) selectRecent(
	ctx context.Context, s Snapshot, args *model.RecentArgs, before *model.Position,
) (*model.ChangePage, error) {
	end := model.Position{Tick: math.MaxInt64}
	if before != nil {
		end = *before
		var kept []bool
		if err := s.Select(ctx, &kept, `SELECT `+l.SQL.Kept, before.Tick); err != nil {
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
		if rows, end, more, err = l.before(ctx, s, end, limit-looked); err != nil {
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
				return l.withRows(ctx, s, chosen, l.PositionOf(last.Tick, last.Seq), true)
			}
			chosen = append(chosen, c)
		}
	}
	if before == nil && end.Tick == math.MaxInt64 {
		end.Tick = 0 // the log is empty
	}
	return l.withRows(ctx, s, chosen, end, more)
}

// withRows returns a page of changes with their rows.
func (l *Log) withRows(
	ctx context.Context, s Snapshot, chosen []brief, position model.Position, more bool,
) (*model.ChangePage, error) {
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

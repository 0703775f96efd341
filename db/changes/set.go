package changes

import (
	"context"

	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

// ErrNoSet is the error for a change set that the log does not have.
var ErrNoSet = model.Errorf(model.PositionGone,
	"The log does not have this change set, or not any more. Select Change.changeSet of a change that it has.")

// inSet returns the condition that a change c is of a set.
func inSet(b *query.Builder, id model.ChangeSetID) string {
	if id.Seq == 0 {
		return `c.change_set = ` + b.Arg(id.Set)
	}
	return `c.change_set IS NULL AND c.row_id = ` + b.Arg(id.Row) + ` AND c.seq = ` + b.Arg(id.Seq)
}

// SetOf returns the id of the set of a change. set is its number, or nil.
func SetOf(set *int64, row model.ID, seq int64) model.ChangeSetID {
	if set == nil {
		return model.ChangeSetID{Row: int64(row), Seq: seq}
	}
	return model.ChangeSetID{Set: *set}
}

// Undoable is a change of a set, with the row before it.
type Undoable struct {
	Seq             int64
	RowID           model.ID `db:"row_id"`
	Type, Operation string
	Version         int64
	Old             *string
	Lost            bool // it is before the beginning of the log
}

// maxUndone is the maximum number of changes that an undo takes back.
const maxUndone = 50_000

// ChangesToUndo returns the changes of a set, in the order in which they were made. Errors: PositionGone, BadUserInput
// for too many of them.
func (l *Log) ChangesToUndo(ctx context.Context, id model.ChangeSetID) (all []Undoable, err error) {
	b := query.New(l.Dialect)
	err = l.DB.Select(ctx, &all, `SELECT c.seq, c.row_id, CAST(c.type AS text) AS type,
CAST(c.operation AS text) AS operation, c.version, CAST(c.old AS text) AS old, `+l.SQL.lost+` AS lost
FROM changes c WHERE `+inSet(b, id)+` ORDER BY c.seq LIMIT `+b.Arg(maxUndone+1), b.Args...)
	switch {
	case err != nil:
		return nil, err
	case len(all) == 0:
		return nil, ErrNoSet
	case len(all) > maxUndone:
		return nil, model.BadArgument("id",
			"The change set has more than 50,000 changes, so it cannot be undone at once. "+
				"Restore its rows one by one, or the catalogue from a backup.")
	}
	for _, c := range all {
		if c.Lost || c.Operation == "r" {
			return nil, ErrGone
		}
	}
	return all, nil
}

// Sets returns change sets with their counts. It omits a set that the log does not have.
func (l *Log) Sets(ctx context.Context, ids []model.ChangeSetID) (map[model.ChangeSetID]*model.ChangeSet, error) {
	var sets, rows, numbers []int64
	for _, id := range ids {
		if id.Seq == 0 {
			sets = append(sets, id.Set)
		} else {
			rows, numbers = append(rows, id.Row), append(numbers, id.Seq)
		}
	}
	d := l.Dialect
	found := map[model.ChangeSetID]*model.ChangeSet{}
	err := l.DB.Read(ctx, true, func(ctx context.Context, s Snapshot) error {
		clear(found)
		var counts []struct {
			ChangeSet       *int64   `db:"change_set"`
			RowID           model.ID `db:"row_id"`
			Seq             int64
			Type, Operation string
			N               int
		}
		err := s.Select(ctx, &counts, `SELECT c.change_set, min(c.row_id) AS row_id, min(c.seq) AS seq,
CAST(c.type AS text) AS type, CAST(c.operation AS text) AS operation, count(*) AS n FROM changes c
WHERE NOT (`+l.SQL.lost+`) AND (`+d.In("c.change_set", "$1")+` OR c.change_set IS NULL AND
`+d.In("c.row_id", "$2")+` AND `+d.In("c.seq", "$3")+`)
GROUP BY c.change_set, CASE WHEN c.change_set IS NULL THEN c.seq END, c.type, c.operation ORDER BY c.type, c.operation`,
			d.Array(sets), d.Array(rows), d.Array(numbers))
		for _, c := range counts {
			id, operation := SetOf(c.ChangeSet, c.RowID, c.Seq), operationsByCode[c.Operation]
			set := found[id]
			if set == nil {
				set = &model.ChangeSet{ID: id, Operation: &operation}
				found[id] = set
			} else if set.Operation != nil && *set.Operation != operation {
				set.Operation = nil
			}
			set.Counts = append(set.Counts,
				&model.ChangeCount{Type: typesByCode[c.Type], Operation: operation, Count: c.N})
		}
		return err
	})
	return found, err
}

// ChangesOfSet returns a page of the changes of a set, oldest first. Errors: BadUserInput, PositionGone.
func (l *Log) ChangesOfSet(
	ctx context.Context, id model.ChangeSetID, after *string, first int,
) (page *model.ChangePage, err error) {
	if first < 1 || first > model.MaxPageSize {
		return nil, model.BadArgument("first", "The first argument must be between 1 and %d.", model.MaxPageSize)
	}
	var begin model.Position
	if after != nil {
		parsed, err := Parse(after)
		if err != nil {
			return nil, err
		}
		begin = *parsed
	}
	if err := l.Tick(ctx); err != nil {
		return nil, err
	}
	err = l.DB.Read(ctx, true, func(ctx context.Context, s Snapshot) error {
		var rows []brief
		b := query.New(l.Dialect)
		where := inSet(b, id)
		if after != nil {
			where += ` AND c.seq > ` + b.Arg(l.Seq(begin))
		}
		text := l.SQL.timed + where + ` ORDER BY c.seq LIMIT ` + b.Arg(first+1)
		if err := s.Select(ctx, &rows, text, b.Args...); err != nil {
			return err
		}
		if len(rows) == 0 && after == nil {
			return ErrNoSet
		}
		more := len(rows) > first
		rows = rows[:min(len(rows), first)]
		if len(rows) > 0 {
			last := rows[len(rows)-1]
			begin = l.PositionOf(last.Tick, last.Seq)
		}
		page, err = l.withRows(ctx, s, rows, begin, more)
		return err
	})
	return page, err
}

package db

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"strings"

	"library-catalogue/db/changes"
	"library-catalogue/graph/model"
)

// AsOf returns rows as they were at positions. Rows that did not exist are omitted. Error: PositionGone for all if the
// log does not have the row of a position any more: it is deleted, lost by a reset, or purged.
func (r *reader[T]) AsOf(ctx context.Context, keys []Past) (map[Past]*T, error) {
	found := make(map[Past]*T, len(keys))
	ids, at := make([]model.ID, len(keys)), make([]model.Position, len(keys))
	for i, key := range keys {
		ids[i], at[i] = key.ID, key.Position
	}
	var now []model.ID // rows without a later change
	var gone error
	text, args := r.s.store.log.NextSQL(r.code(), ids, at)
	err := r.s.read(ctx, readStmt{versioned(`SELECT q.* FROM (` + text + `) q`), args, false}, func() scanRow {
		clear(found)
		now, gone = nil, nil
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
				gone = model.Errorf(model.PositionGone,
					"The changes since then are not kept any more. Choose a later time.")
			case operation == "":
				now = append(now, key.ID)
			case operation != "c" && old == nil:
				gone = model.Errorf(model.PositionGone,
					"The %s %d as it was then was purged. Choose a later time.", strings.ToLower(r.noun), key.ID)
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
	if err = cmp.Or(err, gone); err != nil {
		return nil, err
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
		any(row).(pastRow).SetAsOf(&keys[i].Position)
		found[key] = row
	}
	return found, nil
}

// pastRow is a row that can be of the past.
type pastRow interface{ SetAsOf(*model.Position) }

// byID is like ByID, with the rows by their ids.
func (r *reader[T]) byID(ctx context.Context, ids []model.ID) (map[model.ID]*T, error) {
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
	return changes.Decode(t.Name, t.fields, id, changes.VersionBefore(operation, version), *old)
}

// The engines read times with a year of four digits, and PostgreSQL none of the year 0.
const (
	firstTime model.Timestamp = -62_135_596_800_000_000 // 0001-01-01T00:00:00Z
	lastTime  model.Timestamp = 253_402_300_799_999_999 // 9999-12-31T23:59:59.999999Z
)

// PositionAt returns the position after the last tick at or before a time. It is the same for every later call, if the
// time is final (see package changes). Errors: BadUserInput for the future, PositionGone before the beginning of the
// log, Unavailable if a long write of another program keeps the time from being final.
func (s *Snapshot) PositionAt(ctx context.Context, at model.Timestamp) (p model.Position, err error) {
	at = min(max(at, firstTime), lastTime)
	var future, gone, open bool
	read := func() error {
		since := s.openSince
		if s.tx == nil {
			since = s.store.log.OpenSince()
		}
		search, columns, args := s.store.log.AtSQL(at, since)
		return s.readRow(ctx, readStmt{search + versioned(`SELECT `+columns+` FROM s`), args, false},
			&p.Tick, &future, &gone, &open)
	}
	if err = read(); err == nil && open && !future && !gone {
		again, failed := s.tick(ctx)
		if waited := changes.Waits(failed); again || waited {
			if err = read(); !open && waited {
				failed = nil // the time became final while it waited: the changes of the writer get a later one
			}
		}
		err = cmp.Or(err, failed)
	}
	switch {
	case err != nil:
		return p, err
	case future:
		return p, model.BadArgument("asOf", "The asOf argument must not be in the future.")
	case gone:
		return p, model.Errorf(model.PositionGone, "The log of changes begins after %s. Choose a later time.", at)
	}
	return p, nil
}

// History returns a page of the changes of each row, newest first. A reset of the type is a change
// of each of its rows, and the row before it is unknown. Errors: BadUserInput and PositionGone for
// the position.
func (s *Snapshot) History(
	ctx context.Context, ids []model.ID, args *model.HistoryArgs,
) (map[model.ID]*model.ChangePage, error) {
	return s.logged(args.Type).history(ctx, ids, args)
}

// loggedReader reads rows of one type for the log of changes.
type loggedReader interface {
	history(ctx context.Context, ids []model.ID, args *model.HistoryArgs) (map[model.ID]*model.ChangePage, error)
	// setRows sets the rows of changes, by their ids, to the current rows.
	setRows(ctx context.Context, logged map[model.ID]*model.Change) error
}

func (s *Snapshot) logged(typ model.CatalogueType) loggedReader {
	switch typ {
	case model.TypeGenre:
		return &reader[model.Genre]{s, &genres}
	case model.TypeCategory:
		return &reader[model.Category]{s, &categories}
	}
	return &reader[model.Book]{s, &books}
}

// kept parses a position and reads whether the log has its changes. Errors: BadUserInput, PositionGone.
func (s *Snapshot) kept(ctx context.Context, text string) (p model.Position, err error) {
	parsed, err := changes.Parse(&text)
	if err != nil {
		return p, err
	}
	kept := false
	stmt := readStmt{text: versioned(`SELECT ` + s.store.log.SQL.Kept), args: []any{parsed.Tick}}
	if err = s.readRow(ctx, stmt, &kept); err == nil && !kept {
		err = changes.ErrGone
	}
	return *parsed, err
}

// pastChange is a change of a row as the log has it.
type pastChange struct {
	id        model.ID
	at        model.Position
	seq       int64
	operation string
	version   int64
	actor     string
	old       *string
	set       *int64
	time      timestamp
}

// change returns the change for clients. after is the row after it, or nil.
func change[T any](c *pastChange, typ model.CatalogueType, after *T) *model.Change {
	change := &model.Change{
		Position: c.at.String(), Type: typ, RowID: c.id, Operation: changes.Operation(c.operation),
		Version: c.version, At: model.Timestamp(c.time), Actor: c.actor,
		Set: changes.SetOf(c.set, c.id, c.seq),
	}
	switch change.Operation {
	case model.ChangeReset:
		change.RowID, change.Set.Row = 0, 0
	case model.ChangeCreate, model.ChangeUpdate:
		if after != nil {
			row := new(*after)
			any(row).(pastRow).SetAsOf(new(c.at))
			change.SetRow(row)
		}
	}
	return change
}

func (r *reader[T]) history(
	ctx context.Context, ids []model.ID, args *model.HistoryArgs,
) (map[model.ID]*model.ChangePage, error) {
	log := r.s.store.log
	end := log.PositionOf(math.MaxInt64, math.MaxInt64) // after the page
	if args.After != nil {
		var err error
		if end, err = r.s.kept(ctx, *args.After); err != nil {
			return nil, err
		}
	}
	limit := args.First + 2 // the change before the page, and one after it
	var found map[model.ID][]pastChange
	untimed := false
	text, values := log.HistorySQL(r.code(), distinct(ids), end, limit)
	stmt := readStmt{versioned(text), values, false}
	scan := func() scanRow {
		found, untimed = map[model.ID][]pastChange{}, false
		return func(rows *sql.Rows, at *model.Revision) error {
			var c pastChange
			err := rows.Scan(
				append(revisionTargets(at), (*int64)(&c.id), &c.seq, &c.operation, &c.version, &c.actor, &c.old,
					&c.set, &c.at.Tick, &c.time)...)
			c.at = log.PositionOf(c.at.Tick, c.seq)
			found[c.id], untimed = append(found[c.id], c), untimed || c.at.Tick == 0
			return err
		}
	}
	err := r.s.read(ctx, stmt, scan)
	// the last commits have no position yet
	for attempt := 1; err == nil && untimed && attempt <= extraAttempts; attempt++ {
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
			past, err := before(r.mapping, id, c.operation, c.version, c.old)
			if err != nil {
				return nil, err
			}
			if c.at.Tick != 0 && c.at.Before(end) { // without a tick a change is not committed yet
				if len(page.Nodes) == args.First {
					page.HasMore = true
					break
				}
				logged := change(&c, args.Type, row)
				if logged.Operation == model.ChangeDelete && past != nil {
					deleted := &model.Change{}
					deleted.SetRow(past)
					logged.Deleted = deleted.Name()
				}
				page.Nodes, page.Position = append(page.Nodes, logged), c.at.String()
			}
			row = past
		}
		pages[id] = page
	}
	return pages, nil
}

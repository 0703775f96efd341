package db

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"library-catalogue/graph/model"
)

// changes are the columns of an UPDATE and their new values.
type changes struct {
	assignments []string
	args        []any
}

func (c *changes) add(column string, value any) {
	c.args = append(c.args, value)
	c.assignments = append(c.assignments, column+" = $"+strconv.Itoa(len(c.args)))
}

// changesOf returns the changes that a patch makes.
func changesOf(patch interface{ Changes() model.Changes }) (c changes) {
	for column, value := range patch.Changes() {
		c.add(column, argument(value))
	}
	return c
}

// and gives the arguments with one more, for which rows to change.
func (c *changes) and(arg any) []any { return append(slices.Clip(c.args), arg) }

// updateSQL writes an UPDATE. version and updated_at are the triggers' to keep;
// they are named here because SQLite's RETURNING does not see what a trigger does.
func (s *Store) updateSQL(table string, c changes, where string) string {
	return `UPDATE ` + table + ` AS r SET ` + strings.Join(c.assignments, ", ") +
		`, version = version + 1, updated_at = ` + s.dialect.Now + ` WHERE ` + where
}

// create stores a row, and gives it what it has as stored. reference is the field
// that points at another table, if any does.
func create[T any](ctx context.Context, s *Store, n newRows[T], reference string, row *T) (*T, error) {
	err := insert(ctx, s, n, "", []*T{row})
	if errors.Is(err, errForeignKey) {
		return nil, noSuch(reference)
	}
	if err != nil {
		return nil, err
	}
	return row, nil
}

// update changes the row and gives it as stored.
func update[T any](ctx context.Context, s *Store, t table[T], noun, reference string, id model.ID, c changes, version *int64) (row *T, err error) {
	err = s.Write(ctx, func(ctx context.Context) error {
		if err := s.lock(ctx, t.Name, noun, id, version); err != nil {
			return err
		}
		if len(c.assignments) == 0 {
			row, err = one(byID(ctx, s, t, []model.ID{id}))
			return err
		}
		row, err = one(fetch(ctx, s, true, t, s.updateSQL(t.Name, c, `id = $`+strconv.Itoa(len(c.args)+1))+` RETURNING `+t.selected(s.dialect, ""), c.and(id)...))
		return err
	})
	if errors.Is(err, errForeignKey) {
		return nil, noSuch(reference)
	}
	return row, err
}

// lock holds the row until the transaction ends, so that nobody else changes it
// or points at it. NotFound, or Stale where it is not at the expected version.
func (s *Store) lock(ctx context.Context, table, noun string, id model.ID, expected *int64) error {
	var versions []int64
	err := s.selectRows(ctx, true, &versions, `SELECT version FROM `+table+` WHERE id = $1`+s.dialect.ForUpdate, id)
	switch {
	case err != nil:
		return err
	case len(versions) == 0:
		return notFound(noun)
	case expected != nil && *expected != versions[0]:
		return stale(noun)
	}
	return nil
}

// each runs statements about a set of rows, if there are any: a statement moves
// the revision even where it changes nothing.
func (s *Store) each(ctx context.Context, ids []model.ID, texts ...string) error {
	if len(ids) == 0 {
		return nil
	}
	for _, text := range texts {
		if _, err := s.exec(ctx, text, s.dialect.Array(ids)); err != nil {
			return err
		}
	}
	return nil
}

// move gives the children of some rows to another. The rows are held in order of
// id, so that of two moves one waits for the other.
func move(ctx context.Context, s *Store, table, children, column string, from []model.ID, to model.ID) error {
	var held []model.ID
	err := s.selectRows(ctx, true, &held, `SELECT id FROM `+table+` WHERE `+s.dialect.In("id", "$1")+` ORDER BY id`+s.dialect.ForUpdate,
		s.dialect.Array(append([]model.ID{to}, from...)))
	if err != nil {
		return err
	}
	if !slices.Contains(held, to) {
		return noSuch("reassign_to")
	}
	var c changes
	c.add(column, to)
	_, err = s.exec(ctx, s.updateSQL(children, c, s.dialect.In(column, "$2")), c.and(s.dialect.Array(from))...)
	return err
}

// noSuch is the error of a reference to a row that does not exist.
func noSuch(field string) error {
	var f model.FieldErrors
	f.Add(field, model.MustExist)
	return f.Err()
}

package db

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"library-catalogue/graph/model"
)

// Table writes the rows of a type. What it does with the context that Write gives is of
// that transaction.
type Table[T any] struct {
	store *Store
	*list[T]
	new newRows[T]
}

// Noun returns the name of the type.
func (t Table[T]) Noun() string { return t.noun }

func newTable[T any](s *Store, l *list[T]) Table[T] { return Table[T]{s, l, newRowsOf(l.table)} }

// Now returns the rows as they are, or as the transaction of ctx has written them.
func (t Table[T]) Now(ctx context.Context) Rows[T] { return Rows[T]{t.store.Now(ctx), t.list} }

// Create stores a row, and returns it with what the database gives it. What it points at
// and is not there is BadUserInput.
func (t Table[T]) Create(ctx context.Context, in interface{ Row() *T }) (*T, error) {
	row := in.Row()
	if err := t.referenced(insert(ctx, t.store, t.new, "", []*T{row})); err != nil {
		return nil, err
	}
	return row, nil
}

// Insert stores new rows, with ids that rise in their order, and sets what the database
// gives them.
func (t Table[T]) Insert(ctx context.Context, rows []*T) error {
	return retryForeignKey(insert(ctx, t.store, t.new, "", rows))
}

// retryForeignKey returns the error of a write of many rows. What one of them points at
// was looked for before: if it is not there, it was deleted a moment ago, and the
// transaction is run again.
func retryForeignKey(err error) error {
	if errors.Is(err, errForeignKey) {
		return errors.Join(errRetry, err)
	}
	return err
}

// referenced returns the error of a write, and BadUserInput where what it points at is not
// there.
func (t Table[T]) referenced(err error) error {
	if errors.Is(err, errForeignKey) {
		return unknownReference(t.reference)
	}
	return err
}

// unknownReference returns the error of a reference to a row that does not exist.
func unknownReference(field string) error {
	var f model.FieldErrors
	f.Add(field, model.MustExist)
	return f.Err()
}

// Patch has new values of fields.
type Patch interface{ Changes() model.Changes }

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
func changesOf(patch Patch) (c changes) {
	for column, value := range patch.Changes() {
		c.add(column, argument(value))
	}
	return c
}

// updateSQL writes an UPDATE. version and updated_at are the triggers' to keep;
// they are named here because SQLite's RETURNING does not see what a trigger does.
func (s *Store) updateSQL(table string, c changes, where string) string {
	return `UPDATE ` + table + ` AS r SET ` + strings.Join(c.assignments, ", ") +
		`, version = version + 1, updated_at = ` + s.dialect.Now + ` WHERE ` + where
}

// Update changes a row and returns it as stored. NotFound, Stale where it is not at the
// expected version, or BadUserInput where what it is to point at is not there.
func (t Table[T]) Update(ctx context.Context, id model.ID, patch Patch, version *int64) (row *T, err error) {
	err = t.store.Write(ctx, func(ctx context.Context) error {
		if err := t.lock(ctx, id, version); err != nil {
			return err
		}
		rows, err := t.update(ctx, `id = $`, id, []model.ID{id}, patch)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return notFound(t.noun)
		}
		row = rows[0]
		return nil
	})
	return row, t.referenced(err)
}

// UpdateAll changes rows, which the transaction has locked, and returns them in order of
// id. BadUserInput where what they are to point at is not there.
func (t Table[T]) UpdateAll(ctx context.Context, ids []model.ID, patch Patch) ([]*T, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := t.update(ctx, t.store.dialect.In("id", "$"), t.store.dialect.Array(ids), ids, patch)
	t.sort(rows, false)
	return rows, t.referenced(err)
}

// update changes the rows with these ids, which where and its argument stand for.
func (t Table[T]) update(ctx context.Context, where string, arg any, ids []model.ID, patch Patch) ([]*T, error) {
	c := changesOf(patch)
	if len(c.assignments) == 0 {
		return t.Now(ctx).ByID(ctx, ids)
	}
	c.args = append(c.args, arg)
	where = strings.Replace(where, "$", "$"+strconv.Itoa(len(c.args)), 1)
	return fetch(ctx, t.store, t.table, t.store.updateSQL(t.Name, c, where)+` RETURNING `+t.selected(t.store.dialect, ""), c.args...)
}

// lock holds the row until the transaction ends, so that nobody else changes it
// or points at it. NotFound, or Stale where it is not at the expected version.
func (t Table[T]) lock(ctx context.Context, id model.ID, expected *int64) error {
	var versions []int64
	err := t.store.getRows(ctx, &versions, `SELECT version FROM `+t.Name+` WHERE id = $1`+t.store.dialect.ForUpdate, id)
	switch {
	case err != nil:
		return err
	case len(versions) == 0:
		return notFound(t.noun)
	case expected != nil && *expected != versions[0]:
		return stale(t.noun)
	}
	return nil
}

// Delete deletes a row, with those that belong to it where the policy is Cascade. NotFound,
// Stale, or Conflict while others belong to it.
func (t Table[T]) Delete(ctx context.Context, id model.ID, version *int64, policy model.OnChildren) error {
	return t.store.Write(ctx, func(ctx context.Context) error {
		if err := t.lock(ctx, id, version); err != nil {
			return err
		}
		if policy != model.Cascade {
			inUse, err := t.InUse(ctx, []model.ID{id})
			if err := cmp.Or(err, inUse[id]); err != nil {
				return err
			}
		}
		return t.DeleteAll(ctx, []model.ID{id})
	})
}

// InUse returns the Conflict of each row to which others belong.
func (t Table[T]) InUse(ctx context.Context, ids []model.ID) (map[model.ID]error, error) {
	c := t.children
	if c == nil || len(ids) == 0 {
		return nil, nil
	}
	var counts []struct {
		ID model.ID
		N  int
	}
	d := t.store.dialect
	err := t.store.getRows(ctx, &counts, `SELECT `+c.column+` AS id, count(*) AS n FROM `+c.table+` WHERE `+d.In(c.column, "$1")+` GROUP BY `+c.column, d.Array(ids))
	inUse := map[model.ID]error{}
	for _, count := range counts {
		inUse[count.ID] = model.HasChildren(t.noun, count.N, c.noun)
	}
	return inUse, err
}

// DeleteAll deletes rows, which the transaction has locked, with all that belong to them.
func (t Table[T]) DeleteAll(ctx context.Context, ids []model.ID) error {
	if len(ids) == 0 {
		return nil // a statement moves the revision even where it changes nothing
	}
	d := t.store.dialect
	var texts []string
	if c := t.children; c != nil {
		parents := `SELECT id FROM ` + c.table + ` WHERE ` + d.In(c.column, "$1")
		if c.of != nil {
			texts = append(texts, parents+d.ForUpdate, // so that nothing can be added to them meanwhile
				`DELETE FROM `+c.of.table+` WHERE `+c.of.column+` IN (`+parents+`)`)
		}
		texts = append(texts, `DELETE FROM `+c.table+` WHERE `+d.In(c.column, "$1"))
	}
	for _, text := range append(texts, `DELETE FROM `+t.Name+` WHERE `+d.In("id", "$1")) {
		if _, err := t.store.exec(ctx, text, d.Array(ids)); err != nil {
			return err
		}
	}
	return nil
}

// MoveChildren gives all that belongs to some rows to another, which is held until the
// transaction ends, as they are. BadUserInput where that is not there.
func (t Table[T]) MoveChildren(ctx context.Context, from []model.ID, to model.ID) error {
	var held []model.ID // in order of id, so that of two moves one waits for the other
	d := t.store.dialect
	err := t.store.getRows(ctx, &held, `SELECT id FROM `+t.Name+` WHERE `+d.In("id", "$1")+` ORDER BY id`+d.ForUpdate, d.Array(append([]model.ID{to}, from...)))
	if err != nil {
		return err
	}
	if !slices.Contains(held, to) {
		return unknownReference("reassign_to")
	}
	var c changes
	c.add(t.children.column, to)
	_, err = t.store.exec(ctx, t.store.updateSQL(t.children.table, c, d.In(t.children.column, "$2")), append(c.args, d.Array(from))...)
	return err
}

// Match returns the ids of the rows that match, in order, and holds these rows until the
// transaction ends. More than atMost are BadUserInput.
func (t Table[T]) Match(ctx context.Context, sel model.Selection, atMost int) (ids []model.ID, err error) {
	now := t.Now(ctx)
	b, err := now.s.newSelect(ctx, t.Table, sel)
	if err != nil {
		return nil, err
	}
	text := b.IDs(t.query(), sel.Where, b.candidates(false), atMost+1)
	err = t.store.run(ctx, txOf(ctx), true, func(h handle) error {
		if !onlyIDs(sel) {
			h = unprepared(h)
		}
		return sqlx.SelectContext(ctx, h, &ids, text, b.Args...)
	})
	if err != nil || len(ids) <= atMost {
		return ids, err
	}
	all, err := now.Count(ctx, sel)
	if err != nil {
		return nil, err
	}
	var f model.FieldErrors
	f.Add("at_most", "The filter matches "+strconv.Itoa(all)+" "+t.Name+", and atMost is "+strconv.Itoa(atMost)+". Nothing was changed.")
	return nil, f.Err()
}

// Hold returns those of the ids that rows have, in order, and keeps these rows from being
// deleted until the transaction ends, if there is one.
func (t Table[T]) Hold(ctx context.Context, ids []model.ID) (found []model.ID, err error) {
	d := t.store.dialect
	err = t.store.getRows(ctx, &found, `SELECT id FROM `+t.Name+` WHERE `+d.In("id", "$1")+` ORDER BY id`+d.ForKeyShare, d.Array(ids))
	return found, err
}

// Named returns the rows with these names, in order of id.
func (t Table[T]) Named(ctx context.Context, names []string) ([]*T, error) {
	var out []*T
	for part := range slices.Chunk(names, importRows) {
		text := `SELECT ` + t.selected(t.store.dialect, "r") + ` FROM ` + t.Name + ` r WHERE r.name IN ` + tuple(len(part)) + ` ORDER BY r.id`
		rows, err := fetch(ctx, t.store, t.table, t.store.numbered(text), anys(part)...)
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	return out, nil
}

// restoreTimeout bounds a statement of Restore. Without a deadline it would have the 30 s
// of package postgres, and rows of the longest texts, whose words and trigrams are sorted
// into indexes, may take longer on a busy machine.
const restoreTimeout = 10 * time.Minute

// Restore stores rows with the fields that are given, ids and times among them; the
// database sets the others. It is for fn of Store.Restore.
func (t Table[T]) Restore(ctx context.Context, fields []model.RowField[T], rows []*T) error {
	n := rowsWith(t.table, fields)
	for part := range slices.Chunk(rows, importRows) {
		ctx, cancel := context.WithTimeout(ctx, restoreTimeout)
		_, err := t.store.exec(ctx, n.storeSQL(t.store.dialect, "", len(part)), n.args(t.store.dialect, part)...)
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

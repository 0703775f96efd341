package db

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"library-catalogue/db/fault"
	"library-catalogue/db/query"
	"library-catalogue/db/stmt"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

// Writer writes the rows of a type. Within Store.Write its methods use that transaction.
type Writer[T any] interface {
	// Noun returns the name of the type, such as "Genre".
	Noun() string
	// Unchecked returns a Reader that sees the writes of the transaction of ctx, if there is one.
	Unchecked(ctx context.Context) Reader[T]
	// Create stores a row and returns it with its generated columns. It returns BadUserInput if the row
	// refers to a missing row.
	Create(ctx context.Context, in interface{ Row() *T }) (*T, error)
	// Insert stores new rows, with ascending ids, and sets their generated columns.
	Insert(ctx context.Context, rows []*T) error
	// Update changes a row and returns it as stored. Errors: NotFound, Stale if the row does not have
	// the expected version, and BadUserInput if the patch refers to a missing row.
	Update(ctx context.Context, id model.ID, patch Patch, version *int64) (row *T, err error)
	// UpdateAll changes rows that the transaction has locked and returns them in order of id. It
	// returns BadUserInput if the patch refers to a missing row.
	UpdateAll(ctx context.Context, ids []model.ID, patch Patch) ([]*T, error)
	// Delete deletes a row, with its children if the policy is Cascade. Errors: NotFound, Stale, and
	// Conflict if the row has children.
	Delete(ctx context.Context, id model.ID, version *int64, policy model.OnChildren) error
	// InUse returns a Conflict for each row that has children.
	InUse(ctx context.Context, ids []model.ID) (map[model.ID]error, error)
	// DeleteAll deletes rows that the transaction has locked, with all their descendants.
	DeleteAll(ctx context.Context, ids []model.ID) error
	// MoveChildren moves the children of some rows to another row, which stays locked until the
	// transaction ends. It returns BadUserInput if that row is missing.
	MoveChildren(ctx context.Context, from []model.ID, to model.ID) error
	// Match locks the matching rows until the transaction ends and returns their ids in order. More
	// than atMost rows are BadUserInput.
	Match(ctx context.Context, sel model.Selection, atMost int) (ids []model.ID, err error)
	// Hold returns the existing ids in order. Their rows cannot be deleted until the transaction ends,
	// if there is one.
	Hold(ctx context.Context, ids []model.ID) (found []model.ID, err error)
	// Named returns the rows with names of the same identity (collate.Identity), of each name in order of id.
	Named(ctx context.Context, names []string) ([]*T, error)
	// Restore stores rows with the given fields, which may include ids and times. The database sets the
	// other fields. Call it within Store.Restore.
	Restore(ctx context.Context, fields []model.RowField[T], rows []*T) error
	// Revert stores a row as it was after a change, or before the newest one. A deleted row keeps its
	// id. allow is called with whether the row exists, before anything is written. Errors: NotFound,
	// Stale, PositionGone, BadUserInput for a change that leaves no row, Conflict if the row refers to a
	// missing row.
	Revert(ctx context.Context, in model.RestoreInput, allow func(exists bool) error) (row *T, err error)
}

// writer implements Writer.
type writer[T any] struct {
	store *Store
	*source[T]
	new newRows[T]
}

func (w *writer[T]) Noun() string { return w.noun }

func newWriter[T any](s *Store, rows *source[T]) *writer[T] {
	return &writer[T]{s, rows, newRowsOf(rows.mapping)}
}

func (w *writer[T]) Unchecked(ctx context.Context) Reader[T] { return w.unchecked(ctx) }

func (w *writer[T]) unchecked(ctx context.Context) *reader[T] {
	return &reader[T]{w.store.Unchecked(ctx), w.source}
}

func (w *writer[T]) Create(ctx context.Context, in interface{ Row() *T }) (*T, error) {
	row := in.Row()
	if err := w.referenced(insert(ctx, w.store, w.new, []*T{row})); err != nil {
		return nil, err
	}
	return row, nil
}

func (w *writer[T]) Insert(ctx context.Context, rows []*T) error {
	return retryForeignKey(insert(ctx, w.store, w.new, rows))
}

// retryForeignKey turns a foreign key violation of a write of many rows into model.ErrRetry. The caller
// has looked for the referenced rows before, so one of them was deleted since.
func retryForeignKey(err error) error {
	if errors.Is(err, fault.ErrForeignKey) {
		return errors.Join(model.ErrRetry, err)
	}
	return err
}

// referenced turns a foreign key violation into BadUserInput.
func (w *writer[T]) referenced(err error) error {
	if errors.Is(err, fault.ErrForeignKey) {
		return unknownReference(w.reference)
	}
	return err
}

func unknownReference(field string) error {
	var f model.FieldErrors
	f.Add(field, model.MustExist)
	return f.Err()
}

// Patch has new values for fields.
type Patch interface{ Changes() model.Changes }

type assigned struct {
	assignments []string
	args        []any
}

func (c *assigned) add(column string, value any) {
	c.args = append(c.args, value)
	c.assignments = append(c.assignments, column+" = $"+strconv.Itoa(len(c.args)))
}

func assignedBy(patch Patch) (c assigned) {
	for column, value := range patch.Changes() {
		c.add(column, argument(value))
	}
	return c
}

// updateSQL returns an UPDATE. Triggers maintain version and updated_at. The statement sets them
// too, because SQLite's RETURNING does not see the changes of triggers.
func (s *Store) updateSQL(table string, c assigned, where string) string {
	return `UPDATE ` + table + ` AS r SET ` + strings.Join(c.assignments, ", ") +
		`, version = version + 1, updated_at = ` + s.dialect.Now + ` WHERE ` + where
}

func (w *writer[T]) Update(ctx context.Context, id model.ID, patch Patch, version *int64) (row *T, err error) {
	err = w.store.Write(ctx, func(ctx context.Context) error {
		if err := w.lock(ctx, id, version); err != nil {
			return err
		}
		rows, err := w.update(ctx, `id = $`, id, []model.ID{id}, patch)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			return fault.NotFound(w.noun)
		}
		row = rows[0]
		return nil
	})
	return row, w.referenced(err)
}

func (w *writer[T]) UpdateAll(ctx context.Context, ids []model.ID, patch Patch) ([]*T, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	rows, err := w.update(ctx, w.store.dialect.In("id", "$"), w.store.dialect.Array(ids), ids, patch)
	if err != nil {
		return nil, w.referenced(err)
	}
	w.sort(rows, false)
	return rows, nil
}

// update changes the rows with these ids. where and arg select the same rows.
func (w *writer[T]) update(ctx context.Context, where string, arg any, ids []model.ID, patch Patch) ([]*T, error) {
	c := assignedBy(patch)
	if len(c.assignments) == 0 {
		return w.Unchecked(ctx).ByID(ctx, ids)
	}
	c.args = append(c.args, arg)
	where = strings.Replace(where, "$", "$"+strconv.Itoa(len(c.args)), 1)
	text := w.store.updateSQL(w.Name, c, where) + ` RETURNING ` + w.selected(w.store.dialect, "")
	w.store.prepareSoon(text)
	return fetch(ctx, w.store, w.mapping, text, c.args...)
}

// lock locks a row until the transaction ends, so that no other transaction changes it or refers to
// it. Errors: NotFound, and Stale if the row does not have the expected version.
func (w *writer[T]) lock(ctx context.Context, id model.ID, expected *int64) error {
	var versions []int64
	err := w.store.getRows(ctx, &versions, `SELECT version FROM `+w.Name+` WHERE id = $1`+w.store.dialect.ForUpdate, id)
	switch {
	case err != nil:
		return err
	case len(versions) == 0:
		return fault.NotFound(w.noun)
	case expected != nil && *expected != versions[0]:
		return fault.Stale(w.noun, versions[0])
	}
	return nil
}

// lockAll locks rows as lock does, in order of id, so that two transactions cannot deadlock. It returns the ids of
// those that exist. No restore of the catalogue can begin before the transaction ends, even if no row exists.
func (w *writer[T]) lockAll(ctx context.Context, ids []model.ID) (held []model.ID, err error) {
	d := w.store.dialect
	err = w.store.getRows(ctx, &held, `SELECT id FROM `+w.Name+` WHERE `+d.In("id", "$1")+` ORDER BY id`+d.ForUpdate,
		d.Array(ids))
	return held, err
}

func (w *writer[T]) Delete(ctx context.Context, id model.ID, version *int64, policy model.OnChildren) error {
	return w.store.Write(ctx, func(ctx context.Context) error {
		if err := w.lock(ctx, id, version); err != nil {
			return err
		}
		if policy != model.Cascade {
			inUse, err := w.InUse(ctx, []model.ID{id})
			if err := cmp.Or(err, inUse[id]); err != nil {
				return err
			}
		}
		return w.DeleteAll(ctx, []model.ID{id})
	})
}

func (w *writer[T]) InUse(ctx context.Context, ids []model.ID) (map[model.ID]error, error) {
	c := w.children
	if c == nil || len(ids) == 0 {
		return nil, nil
	}
	var counts []struct {
		ID model.ID
		N  int
	}
	d := w.store.dialect
	err := w.store.getRows(ctx, &counts,
		`SELECT `+c.column+` AS id, count(*) AS n FROM `+c.table+` WHERE `+d.In(c.column, "$1")+` GROUP BY `+c.column,
		d.Array(ids))
	inUse := map[model.ID]error{}
	for _, count := range counts {
		inUse[count.ID] = model.HasChildren(w.noun, count.N)
	}
	return inUse, err
}

func (w *writer[T]) DeleteAll(ctx context.Context, ids []model.ID) error {
	if len(ids) == 0 {
		return nil // a statement raises the revision even if it changes nothing
	}
	d := w.store.dialect
	var texts []string
	if c := w.children; c != nil {
		parents := `SELECT id FROM ` + c.table + ` WHERE ` + d.In(c.column, "$1")
		if c.of != nil {
			texts = append(texts, parents+d.ForUpdate, // so that no other transaction can add children to them
				`DELETE FROM `+c.of.table+` WHERE `+c.of.column+` IN (`+parents+`)`)
		}
		texts = append(texts, `DELETE FROM `+c.table+` WHERE `+d.In(c.column, "$1"))
	}
	for _, text := range append(texts, `DELETE FROM `+w.Name+` WHERE `+d.In("id", "$1")) {
		if _, err := w.store.exec(ctx, text, d.Array(ids)); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer[T]) MoveChildren(ctx context.Context, from []model.ID, to model.ID) error {
	held, err := w.lockAll(ctx, append([]model.ID{to}, from...))
	if err != nil {
		return err
	}
	if !slices.Contains(held, to) {
		return unknownReference("reassign_to")
	}
	var c assigned
	c.add(w.children.column, to)
	d := w.store.dialect
	_, err = w.store.exec(ctx, w.store.updateSQL(w.children.table, c, d.In(w.children.column, "$2")),
		append(c.args, d.Array(from))...)
	return err
}

func (w *writer[T]) Match(ctx context.Context, sel model.Selection, atMost int) (ids []model.ID, err error) {
	now := w.unchecked(ctx)
	b, err := now.s.newSelect(ctx, w.Table, sel)
	if err != nil {
		return nil, err
	}
	text := b.IDs(w.query(), sel.Where, b.candidates(false), atMost+1)
	err = w.store.run(ctx, txOf(ctx), true, text, func(h stmt.Handle) error {
		if !query.OnlyIDs(sel) {
			h = stmt.Unprepared(h)
		}
		return stmt.Select(ctx, h, &ids, text, b.Args...)
	})
	if err != nil || len(ids) <= atMost {
		return ids, err
	}
	all, err := now.Count(ctx, sel)
	if err != nil {
		return nil, err
	}
	var f model.FieldErrors
	f.Add("at_most",
		"The filter matches "+strconv.Itoa(all)+" "+w.Name+", and atMost is "+strconv.Itoa(atMost)+
			". Nothing was changed.")
	return nil, f.Err()
}

func (w *writer[T]) Hold(ctx context.Context, ids []model.ID) (found []model.ID, err error) {
	d := w.store.dialect
	err = w.store.getRows(ctx, &found, `SELECT id FROM `+w.Name+` WHERE `+d.In("id", "$1")+` ORDER BY id`+d.ForKeyShare,
		d.Array(ids))
	return found, err
}

func (w *writer[T]) Named(ctx context.Context, names []string) (all []*T, err error) {
	wanted := make(map[string]bool, len(names))
	for _, name := range names {
		wanted[collate.Identity(name)] = true
	}
	name := w.fields[slices.IndexFunc(w.fields, func(f model.RowField[T]) bool { return f.Column == "name" })]
	for part := range w.store.namesOf(names) {
		rows, err := fetch(ctx, w.store, w.mapping,
			w.store.alikeSQL(w.Name, w.selected(w.store.dialect, "r"), len(part)), part...)
		if err != nil {
			return nil, err
		}
		all = append(all, slices.DeleteFunc(rows, func(row *T) bool {
			return !wanted[collate.Identity(name.Text(row))]
		})...)
	}
	return all, nil
}

// restoreTimeout bounds a statement of Restore, because rows with the longest texts may take longer
// than a call without a deadline can.
const restoreTimeout = 10 * time.Minute

func (w *writer[T]) Restore(ctx context.Context, fields []model.RowField[T], rows []*T) error {
	n := rowsWith(w.mapping, fields)
	for _, row := range rows {
		model.Normalize(fields, row)
	}
	for part := range slices.Chunk(rows, importRows) {
		ctx, cancel := context.WithTimeout(ctx, restoreTimeout)
		_, err := w.store.exec(ctx, n.storeSQL(w.store.dialect, len(part)), n.args(w.store.dialect, part)...)
		cancel()
		if err != nil {
			return err
		}
	}
	return nil
}

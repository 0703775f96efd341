package db

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"library-catalogue/db/changes"
	"library-catalogue/db/fault"
	"library-catalogue/graph/model"
)

func (w *writer[T]) Revert(
	ctx context.Context, in model.RestoreInput, allow func(exists bool) error,
) (row *T, err error) {
	err = w.store.Write(ctx, func(ctx context.Context) error {
		err := w.lock(ctx, in.ID, nil)
		exists := err == nil
		if err != nil && !model.IsCode(err, model.NotFound) {
			return err
		}
		if err := allow(exists); err != nil {
			return err
		}
		newest, err := w.logged(ctx, "ORDER BY seq DESC", in.ID)
		if err != nil {
			return err
		}
		switch expected := in.ExpectedVersion; {
		case expected == nil:
		case exists:
			if err := w.lock(ctx, in.ID, expected); err != nil {
				return err
			}
		case newest == nil:
			return fault.Stale(w.noun, 0)
		case newest.Version != *expected:
			return fault.Stale(w.noun, newest.Version)
		}
		image, err := w.imageBefore(ctx, in, newest, exists)
		if err != nil {
			return err
		}
		model.Normalize(w.fields, image)
		row, err = w.put(ctx, in.ID, image, exists)
		return w.missingReference(image, err)
	})
	return row, err
}

// loggedRow is a change with the row before it.
type loggedRow struct {
	Operation string
	Version   int64
	Old       *string
}

// logged returns the first change of a row in an order, or nil. where may follow the condition.
func (w *writer[T]) logged(ctx context.Context, where string, args ...any) (*loggedRow, error) {
	var found []loggedRow
	err := w.store.getRows(ctx, &found,
		`SELECT CAST(operation AS text) AS operation, version, CAST(old AS text) AS old FROM changes
WHERE row_id IN ($1, 0) AND type = '`+w.code()+`' `+where+` LIMIT 1`, args...)
	if len(found) == 0 {
		return nil, err
	}
	return &found[0], err
}

// imageBefore returns the row to store.
func (w *writer[T]) imageBefore(
	ctx context.Context, in model.RestoreInput, newest *loggedRow, exists bool,
) (*T, error) {
	next, noun := newest, strings.ToLower(w.noun)
	if in.Position != nil {
		seq, err := w.changeAt(ctx, in.ID, *in.Position)
		if err != nil {
			return nil, err
		}
		if next, err = w.logged(ctx, "AND seq > $2 ORDER BY seq", in.ID, seq); err != nil {
			return nil, err
		}
		if next == nil && exists {
			rows, err := w.Unchecked(ctx).ByID(ctx, []model.ID{in.ID})
			if err != nil || len(rows) == 0 {
				return nil, err
			}
			return rows[0], nil
		}
	}
	switch {
	case next == nil && !exists:
		return nil, fault.NotFound(w.noun)
	case next == nil:
		return nil,
			model.Errorf(model.PositionGone, "No change of the %s is kept, so there is none to take back.", noun)
	case in.Position == nil && next.Operation == "c":
		return nil, restoreError("The newest change created the " + noun + ". Delete the " + noun + " to take it back.")
	}
	row, err := before(w.mapping, in.ID, next.Operation, next.Version, next.Old)
	if err == nil && row == nil {
		err = model.Errorf(model.PositionGone, "The %[1]s of this position is not kept, because the table was emptied "+
			"or restored since, or the %[1]s was purged. Choose a later position.", noun)
	}
	return row, err
}

// changeAt returns the seq of the change of a row with a position.
func (w *writer[T]) changeAt(ctx context.Context, id model.ID, text string) (int64, error) {
	p, err := changes.Parse(&text)
	if err != nil {
		return 0, restoreError("The position field must be a position that the changes gave.")
	}
	seq := w.store.log.Seq(*p)
	var found struct {
		Kept      bool
		Operation string
	}
	err = w.store.getRow(ctx, &found,
		`SELECT `+w.store.log.SQL.Kept+
			` AS kept, coalesce((SELECT CAST(operation AS text) FROM changes WHERE row_id = $2 AND type = '`+w.code()+
			`' AND seq = $3), '') AS operation`, p.Tick, id, seq)
	switch {
	case err != nil:
		return 0, err
	case !found.Kept:
		return 0, changes.ErrGone
	case found.Operation == "":
		return 0, model.Errorf(model.NotFound,
			"The position is not of a change of this %s alone. Choose another one of its history.", strings.ToLower(w.noun))
	case found.Operation == "d":
		return 0, restoreError("The change at this position deleted the row. Choose the change before it.")
	}
	return seq, nil
}

func restoreError(message string) error {
	return model.FieldErrors{{Field: "position", Message: message}}.Err()
}

// put updates the row with the writable fields of image, or inserts image again.
func (w *writer[T]) put(ctx context.Context, id model.ID, image *T, exists bool) (*T, error) {
	if exists {
		rows, err := w.update(ctx, `id = $`, id, []model.ID{id}, imagePatch[T]{w.fields, image})
		if err != nil || len(rows) == 0 {
			return nil, err
		}
		return rows[0], nil
	}
	var version int64
	if err := w.store.getRow(ctx, &version,
		`SELECT max(version) FROM changes WHERE row_id = $1 AND type = '`+w.code()+`'`, id); err != nil {
		return nil, err
	}
	changes.Identify(w.fields, image, id, version+1)
	return image, insert(ctx, w.store, w.again(), []*T{image})
}

// again returns the INSERT of deleted rows.
func (w *writer[T]) again() newRows[T] {
	return rowsWith(w.mapping, slices.DeleteFunc(slices.Clone(w.fields), func(f model.RowField[T]) bool {
		return !f.Writable && !slices.Contains([]string{"id", "version", "created_at"}, f.Column)
	}))
}

// missingReference turns a foreign key violation into Conflict.
func (w *writer[T]) missingReference(image *T, err error) error {
	if !errors.Is(err, fault.ErrForeignKey) {
		return err
	}
	noun := strings.TrimSuffix(w.reference, "_id")
	return model.Errorf(model.Conflict,
		"The %s had the %s %d, which does not exist any more. Restore that %[2]s first.",
		strings.ToLower(w.noun), noun, w.parent(image))
}

// parent returns the id of the row that a row refers to.
func (w *writer[T]) parent(row *T) model.ID {
	i := slices.IndexFunc(w.fields, func(f model.RowField[T]) bool { return f.Column == w.reference })
	return *w.fields[i].Pointer(row).(*model.ID)
}

// imagePatch is a patch of the writable ones of some fields.
type imagePatch[T any] struct {
	fields []model.RowField[T]
	image  *T
}

// Changes implements Patch.
func (p imagePatch[T]) Changes() model.Changes {
	return func(yield func(string, any) bool) {
		for _, f := range p.fields {
			if f.Writable && !yield(f.Column, f.Pointer(p.image)) {
				return
			}
		}
	}
}

// undoOf is the rows of a type of an undo.
type undoOf[T any] struct {
	*writer[T]
	ids  []model.ID // in the order of the first change
	byID map[model.ID]*undoneRow[T]
}

// undoneRow is a row of an undo.
type undoneRow[T any] struct {
	model.UndoneRow
	first   int64 // seq of its first change in the set
	before  *T    // nil: it did not exist
	version int64 // after the set
}

func newUndoOf[T any](s *Store, rows *source[T]) *undoOf[T] {
	return &undoOf[T]{writer: newWriter(s, rows), byID: map[model.ID]*undoneRow[T]{}}
}

// read adds the changes of the type. A row that the set created and deleted stays out.
func (u *undoOf[T]) read(logged []changes.Undoable) error {
	for _, c := range logged {
		if c.Type != u.code() {
			continue
		}
		row := u.byID[c.RowID]
		if row == nil {
			row = &undoneRow[T]{first: c.Seq}
			row.Type, row.RowID = model.CatalogueType(strings.ToUpper(u.noun)), c.RowID
			u.byID[c.RowID], u.ids = row, append(u.ids, c.RowID)
			if c.Operation != "c" {
				before, err := before(u.mapping, c.RowID, c.Operation, c.Version, c.Old)
				if err != nil {
					return err
				}
				if before == nil {
					return model.Errorf(model.PositionGone,
						"The %s %d as it was before was purged, so the change set cannot be undone.",
						strings.ToLower(u.noun), c.RowID)
				}
				model.Normalize(u.fields, before)
				row.before = before
			}
		}
		row.version = c.Version
		switch isGone := c.Operation == "d"; {
		case row.before != nil && isGone:
			row.Operation = model.ChangeCreate
		case row.before != nil:
			row.Operation = model.ChangeUpdate
		case isGone:
			row.Operation = ""
		default:
			row.Operation = model.ChangeDelete
		}
	}
	u.ids = slices.DeleteFunc(u.ids, func(id model.ID) bool { return u.byID[id].Operation == "" })
	return nil
}

func (u *undoOf[T]) rows() (rows []*model.UndoneRow) {
	for _, id := range u.ids {
		rows = append(rows, &u.byID[id].UndoneRow)
	}
	return rows
}

// chosen returns the rows without a conflict that one of the operations brings back, or all of them.
func (u *undoOf[T]) chosen(operations ...model.ChangeOperation) (ids []model.ID) {
	for _, id := range u.ids {
		row := u.byID[id]
		if row.Conflict == nil && (operations == nil || slices.Contains(operations, row.Operation)) {
			ids = append(ids, id)
		}
	}
	return ids
}

// changedSince gives each row that has later changes a conflict.
func (u *undoOf[T]) changedSince(ctx context.Context, set int64) error {
	if len(u.ids) == 0 {
		return nil
	}
	var later []struct {
		RowID model.ID `db:"row_id"`
		Seq   int64
	}
	d := u.store.dialect
	err := u.store.getRows(ctx, &later, `SELECT row_id, max(seq) AS seq FROM changes WHERE `+d.In("row_id", "$1")+
		` AND type = '`+u.code()+`' AND change_set IS DISTINCT FROM $2 AND seq > $3 GROUP BY row_id`,
		d.Array(append([]model.ID{0}, u.ids...)), set, u.byID[u.ids[0]].first)
	for _, c := range later {
		if row := u.byID[c.RowID]; row != nil && c.Seq > row.first {
			row.Conflict = new(model.ChangedSince)
		} else if row == nil {
			return changes.ErrGone // the table was emptied or restored
		}
	}
	return err
}

// missParents gives each row a conflict whose parent will not exist.
func missParents[T, P any](ctx context.Context, u *undoOf[T], parents *undoOf[P]) error {
	var asked []model.ID
	back := u.chosen(model.ChangeUpdate, model.ChangeCreate)
	for _, id := range back {
		asked = append(asked, u.parent(u.byID[id].before))
	}
	if len(asked) == 0 {
		return nil
	}
	found, err := parents.Hold(ctx, distinct(asked))
	if err != nil {
		return err
	}
	found = append(found, parents.chosen(model.ChangeUpdate, model.ChangeCreate)...)
	exists := make(map[model.ID]bool, len(found))
	for _, id := range found {
		exists[id] = true
	}
	for _, id := range parents.chosen(model.ChangeDelete) {
		exists[id] = false
	}
	for i, id := range back {
		if !exists[asked[i]] {
			u.byID[id].Conflict = new(model.ParentMissing)
		}
	}
	return nil
}

// keepParents gives each created row a conflict that keeps other children.
func keepParents[P, T any](ctx context.Context, u *undoOf[P], children *undoOf[T]) error {
	gone := u.chosen(model.ChangeDelete)
	if len(gone) == 0 {
		return nil
	}
	var used []model.ID
	d := u.store.dialect
	err := u.store.getRows(ctx, &used,
		`SELECT DISTINCT `+children.reference+` FROM `+children.Name+` WHERE `+d.In(children.reference, "$1")+
			` AND NOT (`+d.In("id", "$2")+`)`,
		d.Array(gone), d.Array(children.chosen()))
	for _, id := range used {
		u.byID[id].Conflict = new(model.HasOtherRows)
	}
	return err
}

// bring updates the changed rows, and inserts the deleted ones again.
func (u *undoOf[T]) bring(ctx context.Context) error {
	var deleted []*T
	for _, id := range u.chosen(model.ChangeCreate) {
		row := u.byID[id]
		changes.Identify(u.fields, row.before, id, row.version+1)
		deleted = append(deleted, row.before)
	}
	u.sort(deleted, false)
	if err := insert(ctx, u.store, u.again(), deleted); err != nil {
		return err
	}
	return u.updateChanged(ctx)
}

// updateChanged sets the fields that differ. Rows that get the same values share a statement.
func (u *undoOf[T]) updateChanged(ctx context.Context) error {
	current, err := u.Unchecked(ctx).ByID(ctx, u.chosen(model.ChangeUpdate))
	if err != nil {
		return err
	}
	patches, ids := map[string]imagePatch[T]{}, map[string][]model.ID{}
	for _, row := range current {
		id := u.id(row)
		patch := imagePatch[T]{image: u.byID[id].before}
		var key []byte
		for _, f := range u.fields {
			if f.Writable && !f.Equal(row, patch.image) {
				patch.fields = append(patch.fields, f)
				key = f.AppendGraphQL(append(key, f.Column...), patch.image)
			}
		}
		if patch.fields == nil { // the set changed it and back
			patch.fields, key = u.fields, strconv.AppendInt(key, int64(id), 10)
		}
		patches[string(key)], ids[string(key)] = patch, append(ids[string(key)], id)
	}
	for _, key := range slices.Sorted(maps.Keys(patches)) {
		if _, err := u.UpdateAll(ctx, ids[key], patches[key]); err != nil {
			return err
		}
	}
	return nil
}

// remove deletes the created rows.
func (u *undoOf[T]) remove(ctx context.Context) error {
	return u.DeleteAll(ctx, u.chosen(model.ChangeDelete))
}

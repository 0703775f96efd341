package db

import (
	"context"
	"errors"
	"slices"
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
		rows, err := w.update(ctx, `id = $`, id, []model.ID{id}, imagePatch[T]{w.mapping, image})
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
	n := rowsWith(w.mapping, slices.DeleteFunc(slices.Clone(w.fields), func(f model.RowField[T]) bool {
		return !f.Writable && !slices.Contains([]string{"id", "version", "created_at"}, f.Column)
	}))
	return image, insert(ctx, w.store, n, []*T{image})
}

// missingReference turns a foreign key violation into Conflict.
func (w *writer[T]) missingReference(image *T, err error) error {
	if !errors.Is(err, fault.ErrForeignKey) {
		return err
	}
	i := slices.IndexFunc(w.fields, func(f model.RowField[T]) bool { return f.Column == w.reference })
	noun := strings.TrimSuffix(w.reference, "_id")
	return model.Errorf(model.Conflict,
		"The %s had the %s %d, which does not exist any more. Restore that %[2]s first.",
		strings.ToLower(w.noun), noun, *w.fields[i].Pointer(image).(*model.ID))
}

// imagePatch is a patch of all writable fields.
type imagePatch[T any] struct {
	mapping[T]
	image *T
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

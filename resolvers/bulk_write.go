package resolvers

import (
	"cmp"
	"context"
	"slices"

	"library-catalogue/db"
	"library-catalogue/graph/model"
)

// createRows stores the rows of a bulk input. field names them in errors. It needs the scopes.
func createRows[I, T any](ctx context.Context, field string, input model.BulkInput[I],
	create func(ctx context.Context, inputs []*I, all bool) ([]*T, []model.FieldErrors, error), scopes ...string,
) (*model.BulkPayload[T], error) {
	if err := authorise(ctx, scopes...); err != nil {
		return nil, err
	}
	if err := model.CheckRows(field, len(input.Rows)); err != nil {
		return nil, err
	}
	rows, problems, err := create(ctx, input.Rows, input.ErrorPolicy == model.RejectAll)
	if err != nil {
		return nil, err
	}
	errs, count := make([]error, len(problems)), 0
	for i, p := range problems {
		errs[i] = p.Err()
		if rows[i] != nil {
			count++
		}
	}
	return model.NewBulkPayload(rows, errs, count, input.ClientMutationID), nil
}

// patchOf is a pointer to a patch.
type patchOf[P any] interface {
	*P
	db.Patch
}

// updateRow changes a row, after a check of its new values. It needs the scope.
func updateRow[P, T any, PP patchOf[P]](
	ctx context.Context, writer db.Writer[T], input model.UpdateInput[P], scope string,
	check func(context.Context, *P) error,
) (*model.Payload[T], error) {
	if err := authorise(ctx, scope); err != nil {
		return nil, err
	}
	if err := check(ctx, input.Patch); err != nil {
		return nil, err
	}
	row, err := writer.Update(ctx, input.ID, PP(input.Patch), input.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	return &model.Payload[T]{Row: row, ClientMutationID: input.ClientMutationID}, nil
}

// updateRows changes the matching rows of a type, after a check of their new values. It needs the scope.
func updateRows[P, T any, PP patchOf[P]](
	ctx context.Context, store *db.Store, writer db.Writer[T], input model.UpdateManyInput[P], scope string,
	check func(context.Context, *P) error,
) (*model.BulkPayload[T], error) {
	if err := authorise(ctx, scope); err != nil {
		return nil, err
	}
	if err := check(ctx, input.Patch); err != nil {
		return nil, err
	}
	sel, err := model.ParseBulkSelection(writer.Noun(), input.Filter, input.AtMost)
	if err != nil {
		return nil, err
	}
	var rows []*T
	err = store.Write(ctx, func(ctx context.Context) error {
		ids, err := writer.Match(ctx, sel, input.AtMost)
		if err != nil {
			return err
		}
		rows, err = writer.UpdateAll(ctx, ids, PP(input.Patch))
		return err
	})
	if err != nil {
		return nil, err
	}
	return model.NewBulkPayload(rows, make([]error, len(rows)), len(rows), input.ClientMutationID), nil
}

// deleteRows deletes the matching rows of a type. It needs the scopes.
func deleteRows[T any, P interface {
	*T
	model.Node
}](ctx context.Context, store *db.Store, writer db.Writer[T], input model.DeleteManyInput,
	scopes ...string) (*model.BulkPayload[T], error) {
	if err := authorise(ctx, scopes...); err != nil {
		return nil, err
	}
	sel, err := model.ParseBulkSelection(writer.Noun(), input.Filter, input.AtMost)
	if err != nil {
		return nil, err
	}
	var rows []*T
	var errs []error
	var deletable []model.ID
	err = store.Write(ctx, func(ctx context.Context) error {
		ids, err := writer.Match(ctx, sel, input.AtMost)
		if err != nil {
			return err
		}
		if err := input.OnChildren.Validate(input.ReassignTo, ids...).Err(); err != nil {
			return err
		}
		if rows, err = writer.Unchecked(ctx).ByID(ctx, ids); err != nil {
			return err
		}
		slices.SortFunc(rows, func(a, b *T) int { return cmp.Compare(P(a).RowID(), P(b).RowID()) })
		var inUse map[model.ID]error
		switch input.OnChildren {
		case model.Reassign:
			err = writer.MoveChildren(ctx, ids, *input.ReassignTo)
		case model.Restrict:
			inUse, err = writer.InUse(ctx, ids)
		}
		if err != nil {
			return err
		}
		errs, deletable = make([]error, len(ids)), nil
		for i, id := range ids {
			if errs[i] = inUse[id]; errs[i] == nil {
				deletable = append(deletable, id)
			}
		}
		if input.ErrorPolicy == model.RejectAll && len(deletable) < len(ids) {
			deletable = nil
		}
		return writer.DeleteAll(ctx, deletable)
	})
	if err != nil {
		return nil, err
	}
	return model.NewBulkPayload(rows, errs, len(deletable), input.ClientMutationID), nil
}

// deleteRow deletes a row. With the policy Reassign it first moves the row's children. It needs the scopes.
func deleteRow[T any](
	ctx context.Context, store *db.Store, writer db.Writer[T], input model.DeleteInput, scopes ...string,
) (*model.DeletePayload, error) {
	if err := authorise(ctx, scopes...); err != nil {
		return nil, err
	}
	if err := input.OnChildren.Validate(input.ReassignTo, input.ID).Err(); err != nil {
		return nil, err
	}
	err := store.Write(ctx, func(ctx context.Context) error {
		if input.OnChildren == model.Reassign {
			if err := writer.MoveChildren(ctx, []model.ID{input.ID}, *input.ReassignTo); err != nil {
				return err
			}
		}
		return writer.Delete(ctx, input.ID, input.ExpectedVersion, input.OnChildren)
	})
	if err != nil {
		return nil, err
	}
	return model.NewDeletePayload(writer.Noun(), input.ID, input.ClientMutationID), nil
}

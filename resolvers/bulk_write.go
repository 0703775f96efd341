package resolvers

import (
	"cmp"
	"context"
	"slices"

	"library-catalogue/graph/model"
)

// createRows stores the rows of a bulk input, which stand in field.
func createRows[I, T any](ctx context.Context, field string, input model.BulkInput[I],
	create func(ctx context.Context, inputs []*I, all bool) ([]*T, []model.FieldErrors, error),
) (*model.BulkPayload[T], error) {
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
	resetLoaders(ctx)
	return model.NewBulkPayload(rows, errs, count, input.ClientMutationID), nil
}

// updateRows changes the rows of a type that match.
func updateRows[P, T any](ctx context.Context, r *Resolver, typename string, input model.UpdateManyInput[P],
	match func(ctx context.Context, sel model.Selection, atMost int) ([]model.ID, error),
	update func(ctx context.Context, ids []model.ID, patch *P) ([]*T, error),
) (*model.BulkPayload[T], error) {
	sel, err := model.ParseBulkSelection(typename, input.Filter, input.AtMost)
	if err != nil {
		return nil, err
	}
	var rows []*T
	err = r.store.Write(ctx, func(ctx context.Context) error {
		ids, err := match(ctx, sel, input.AtMost)
		if err != nil {
			return err
		}
		rows, err = update(ctx, ids, input.Patch)
		return err
	})
	if err != nil {
		return nil, err
	}
	resetLoaders(ctx)
	return model.NewBulkPayload(rows, make([]error, len(rows)), len(rows), input.ClientMutationID), nil
}

// deletion says how rows of a type are deleted. Those without children have no
// child, and neither children nor move.
type deletion[T any] struct {
	typename, child string
	match           func(ctx context.Context, sel model.Selection, atMost int) ([]model.ID, error)
	rows            func(ctx context.Context, ids []model.ID) ([]*T, error)
	children        func(ctx context.Context, ids []model.ID, sel model.Selection) (map[model.ID]int, error)
	move            func(ctx context.Context, from []model.ID, to model.ID) error
	remove          func(ctx context.Context, ids []model.ID) error // with their children
}

// deleteRows deletes the rows of a type that match.
func deleteRows[T any, P interface {
	*T
	model.Node
}](ctx context.Context, r *Resolver, input model.DeleteManyInput, d deletion[T]) (*model.BulkPayload[T], error) {
	sel, err := model.ParseBulkSelection(d.typename, input.Filter, input.AtMost)
	if err != nil {
		return nil, err
	}
	var rows []*T
	var errs []error
	var deletable []model.ID
	err = r.store.Write(ctx, func(ctx context.Context) error {
		ids, err := d.match(ctx, sel, input.AtMost)
		if err != nil {
			return err
		}
		if err := input.OnChildren.Validate(input.ReassignTo, ids...).Err(); err != nil {
			return err
		}
		if rows, err = d.rows(ctx, ids); err != nil {
			return err
		}
		slices.SortFunc(rows, func(a, b *T) int { return cmp.Compare(P(a).RowID(), P(b).RowID()) })
		var children map[model.ID]int
		switch {
		case d.child == "":
		case input.OnChildren == model.Reassign:
			err = d.move(ctx, ids, *input.ReassignTo)
		case input.OnChildren == model.Restrict:
			children, err = d.children(ctx, ids, model.Selection{})
		}
		if err != nil {
			return err
		}
		errs, deletable = make([]error, len(ids)), nil
		for i, id := range ids {
			if n := children[id]; n > 0 {
				errs[i] = model.HasChildren(d.typename, n, d.child)
			} else {
				deletable = append(deletable, id)
			}
		}
		if input.ErrorPolicy == model.RejectAll && len(deletable) < len(ids) {
			deletable = nil
		}
		return d.remove(ctx, deletable)
	})
	if err != nil {
		return nil, err
	}
	resetLoaders(ctx)
	return model.NewBulkPayload(rows, errs, len(deletable), input.ClientMutationID), nil
}

// deleteParent deletes a row that may have children, which are moved first where they
// are to be another's.
func (r *Resolver) deleteParent(ctx context.Context, input model.DeleteInput,
	move func(ctx context.Context, from []model.ID, to model.ID) error,
	remove func(ctx context.Context, id model.ID, version *int64, policy model.OnChildren) error,
) (*model.DeletePayload, error) {
	if err := input.OnChildren.Validate(input.ReassignTo, input.ID).Err(); err != nil {
		return nil, err
	}
	err := r.store.Write(ctx, func(ctx context.Context) error {
		if input.OnChildren == model.Reassign {
			if err := move(ctx, []model.ID{input.ID}, *input.ReassignTo); err != nil {
				return err
			}
		}
		return remove(ctx, input.ID, input.ExpectedVersion, input.OnChildren)
	})
	if err != nil {
		return nil, err
	}
	resetLoaders(ctx)
	return &model.DeletePayload{ID: input.ID, ClientMutationID: input.ClientMutationID}, nil
}

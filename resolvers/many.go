package resolvers

import (
	"cmp"
	"context"
	"slices"

	"library-catalogue/graph/model"
)

// createMany stores the rows of a bulk input, which stand in field.
func createMany[I, T any](ctx context.Context, field string, input model.BulkInput[I],
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
	wrote(ctx)
	return model.NewBulkPayload(rows, errs, count, input.ClientMutationID), nil
}

// updateMany changes the rows of a type that match.
func updateMany[P, T any](ctx context.Context, r *Resolver, typename string, input model.UpdateManyInput[P],
	match func(ctx context.Context, m model.Match, atMost int) ([]model.ID, error),
	update func(ctx context.Context, ids []model.ID, patch *P) ([]*T, error),
) (*model.BulkPayload[T], error) {
	m, err := model.ParseBulkMatch(typename, input.Filter, input.AtMost)
	if err != nil {
		return nil, err
	}
	var rows []*T
	err = r.store.Write(ctx, func(ctx context.Context) error {
		ids, err := match(ctx, m, input.AtMost)
		if err != nil {
			return err
		}
		rows, err = update(ctx, ids, input.Patch)
		return err
	})
	if err != nil {
		return nil, err
	}
	wrote(ctx)
	return model.NewBulkPayload(rows, make([]error, len(rows)), len(rows), input.ClientMutationID), nil
}

// deletion says how rows of a type are deleted. Those without children have no
// child, and neither children nor move.
type deletion[T any] struct {
	typename, child string
	match           func(ctx context.Context, m model.Match, atMost int) ([]model.ID, error)
	rows            func(ctx context.Context, ids []model.ID) ([]*T, error)
	children        func(ctx context.Context, ids []model.ID, m model.Match) (map[model.ID]int, error)
	move            func(ctx context.Context, from []model.ID, to model.ID) error
	remove          func(ctx context.Context, ids []model.ID) error // with their children
}

// deleteMany deletes the rows of a type that match.
func deleteMany[T any, P interface {
	*T
	model.Node
}](ctx context.Context, r *Resolver, input model.DeleteManyInput, d deletion[T]) (*model.BulkPayload[T], error) {
	m, err := model.ParseBulkMatch(d.typename, input.Filter, input.AtMost)
	if err != nil {
		return nil, err
	}
	var rows []*T
	var errs []error
	var good []model.ID
	err = r.store.Write(ctx, func(ctx context.Context) error {
		ids, err := d.match(ctx, m, input.AtMost)
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
			children, err = d.children(ctx, ids, model.Match{})
		}
		if err != nil {
			return err
		}
		errs, good = make([]error, len(ids)), nil
		for i, id := range ids {
			if n := children[id]; n > 0 {
				errs[i] = model.HasChildren(d.typename, n, d.child)
			} else {
				good = append(good, id)
			}
		}
		if input.ErrorPolicy == model.RejectAll && len(good) < len(ids) {
			good = nil
		}
		return d.remove(ctx, good)
	})
	if err != nil {
		return nil, err
	}
	wrote(ctx)
	return model.NewBulkPayload(rows, errs, len(good), input.ClientMutationID), nil
}

// scopesOf gives the scopes that rows need together.
func scopesOf[T any](rows []*T, of func(*T) []string) (scopes []string) {
	for _, row := range rows {
		scopes = append(scopes, of(row)...)
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}

// upsert changes the row with the id or, where that is nil, the one that find
// gives. Where that gives none, create makes a row, unless a version is expected.
func upsert[T any](ctx context.Context, r *Resolver, id *model.ID, version *int64,
	find func(context.Context) (model.ID, error),
	create func(context.Context) (*T, error),
	update func(context.Context, model.ID) (*T, error),
) (row *T, created bool, err error) {
	if id != nil {
		row, err = update(ctx, *id)
		return row, false, err
	}
	err = r.store.Write(ctx, func(ctx context.Context) error {
		// Else two at once would both find that the row is not there yet.
		if err := r.store.TakeImportTurn(ctx); err != nil {
			return err
		}
		found, err := find(ctx)
		if err != nil {
			return err
		}
		if created = found == 0 && version == nil; created {
			row, err = create(ctx)
		} else {
			row, err = update(ctx, found)
		}
		return err
	})
	return row, created, err
}

package resolvers

import (
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
	errs := make([]error, len(problems))
	for i, p := range problems {
		errs[i] = p.Err()
	}
	wrote(ctx)
	return model.NewBulkPayload(rows, errs, input.ClientMutationID), nil
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

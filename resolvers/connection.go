package resolvers

import (
	"context"
	"slices"

	"library-catalogue/graph/model"
	"library-catalogue/resolvers/loader"
)

func connection[T model.Node](typename string, args model.PageArgs,
	load func(context.Context, *model.Page) ([]T, error), count func(context.Context, model.Selection) (int, error),
	correct func(context.Context, string) (*string, error), groups model.Groups,
) (*model.Connection[T], error) {
	page, err := args.Page(typename)
	if err != nil {
		return nil, err
	}
	c := model.NewConnection(typename, page, load, count, groups)
	c.Correct = correct
	return c, nil
}

func pageArgs(
	first *int, after *string, last *int, before *string, offset *int, filter map[string]any, orderBy []*model.OrderBy,
	search *string,
) model.PageArgs {
	return model.PageArgs{First: first, After: after, Last: last, Before: before, Offset: offset, Filter: filter,
		OrderBy: orderBy, Search: search}
}

// childConnection returns the connection of a parent's rows. siblings are the parents of its level,
// or nil if they are unknown.
func childConnection[T model.Node](
	typename string, parent model.ID, siblings []model.ID, children loader.Children[T], page *model.Page,
) *model.Connection[T] {
	c := model.NewConnection(typename, page,
		func(ctx context.Context, p *model.Page) ([]T, error) { return children.Page(ctx, parent, siblings, p) },
		func(ctx context.Context, sel model.Selection) (int, error) {
			return children.Count(ctx, parent, siblings, sel)
		},
		children.Groups(parent, siblings))
	c.Correct = children.Correct
	return c
}

// childrenOfOne returns the connection of the rows of a single parent, which must not be of the past.
func childrenOfOne[T model.Node](typename string, parent interface {
	model.Node
	NoLists() error
}, children loader.Children[T], args model.PageArgs) (*model.Connection[T], error) {
	if err := parent.NoLists(); err != nil {
		return nil, err
	}
	page, err := args.Page(typename)
	if err != nil {
		return nil, err
	}
	return childConnection(typename, parent.RowID(), nil, children, page), nil
}

// childrenOfLevel returns the connections of the rows of all parents of a level.
func childrenOfLevel[P, T model.Node](
	typename string, parents []P, children loader.Children[T], args model.PageArgs,
) ([]*model.Connection[T], error) {
	page, err := args.Page(typename)
	if err != nil {
		return nil, err
	}
	ids := make([]model.ID, len(parents))
	for i, parent := range parents {
		ids[i] = parent.RowID()
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	connections := make([]*model.Connection[T], len(parents))
	for i, parent := range parents {
		connections[i] = childConnection(typename, parent.RowID(), ids, children, page)
	}
	return connections, nil
}

// requireRow loads a referenced row. A foreign key guarantees that it exists, unless it was deleted a moment ago
// together with the row that refers to it.
func requireRow[K, T any](ctx context.Context, key K, load func(context.Context, K) (*T, error)) (*T, error) {
	row, err := load(ctx, key)
	if row == nil && err == nil {
		err = loader.From(ctx).Snapshot.Changed()
	}
	return row, err
}

// requireRows is like requireRow for several rows.
func requireRows[T any](
	ctx context.Context, ids []model.ID, load func(context.Context, []model.ID) ([]*T, error),
) ([]*T, error) {
	rows, err := load(ctx, ids)
	if err == nil && slices.Contains(rows, nil) {
		err = loader.From(ctx).Snapshot.Changed()
	}
	return rows, err
}

// single returns the first value.
func single[T any](answers []T, err error) (answer T, _ error) {
	if err == nil {
		answer = answers[0]
	}
	return answer, err
}

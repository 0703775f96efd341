package resolvers

import (
	"context"

	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers/loader"
)

func (r *bookGroupResolver) Genre(ctx context.Context, obj *model.BookGroup) (*model.Genre, error) {
	if obj.GenreID == 0 {
		return nil, nil
	}
	return requireRow(ctx, obj.GenreID, loader.From(ctx).Genres.Load)
}

func (r *bookGroupResolver) Category(ctx context.Context, obj *model.BookGroup) (*model.Category, error) {
	if obj.CategoryID == 0 {
		return nil, nil
	}
	return requireRow(ctx, obj.CategoryID, loader.From(ctx).Categories.Load)
}

func (r *queryResolver) BookGroups(
	ctx context.Context, by []string, filter map[string]any, search *string, having map[string]any,
	orderBy []*model.OrderBy, first int, offset int,
) (*model.BookGroupPage, error) {
	args := model.GroupArgs{By: by, Filter: filter, Search: search, Having: having, OrderBy: orderBy, First: first,
		Offset: offset}
	return args.Page(ctx, loader.From(ctx).Groups)
}

// BookGroup implements graph.ResolverRoot.
func (r *Resolver) BookGroup() graph.BookGroupResolver { return &bookGroupResolver{} }

type bookGroupResolver struct{}

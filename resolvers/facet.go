package resolvers

import (
	"context"

	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers/loader"
)

func (r *categoryFacetResolver) Category(ctx context.Context, obj *model.BookGroup) (*model.Category, error) {
	return requireRow(ctx, obj.CategoryID, loader.From(ctx).Categories.Load)
}

func (r *genreFacetResolver) Genre(ctx context.Context, obj *model.BookGroup) (*model.Genre, error) {
	return requireRow(ctx, obj.GenreID, loader.From(ctx).Genres.Load)
}

// CategoryFacet implements graph.ResolverRoot.
func (r *Resolver) CategoryFacet() graph.CategoryFacetResolver { return &categoryFacetResolver{} }

// GenreFacet implements graph.ResolverRoot.
func (r *Resolver) GenreFacet() graph.GenreFacetResolver { return &genreFacetResolver{} }

type (
	categoryFacetResolver struct{}
	genreFacetResolver    struct{}
)

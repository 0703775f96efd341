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

func (r *queryResolver) Troubles(ctx context.Context, kinds []model.TroubleKind) (_ []*model.Trouble, err error) {
	if err := authorise(ctx, model.ReadScope); err != nil {
		return nil, err
	}
	if kinds == nil {
		kinds = model.TroubleKinds
	}
	troubles := make([]*model.Trouble, len(kinds))
	for i, kind := range kinds {
		if troubles[i], err = loader.From(ctx).Trouble(ctx, kind); err != nil {
			return nil, err
		}
	}
	return troubles, nil
}

func (r *mutationResolver) MarkDifferent(
	ctx context.Context, input model.MarkDifferentInput,
) (*model.MarkDifferentPayload, error) {
	if err := authorise(ctx, booksUpdate); err != nil {
		return nil, err
	}
	if err := input.Validate().Err(); err != nil {
		return nil, err
	}
	if err := r.store.MarkDifferent(ctx, &input); err != nil {
		return nil, err
	}
	return &model.MarkDifferentPayload{Different: input.Different, ClientMutationID: input.ClientMutationID}, nil
}

package resolvers

import (
	"context"

	"library-catalogue/graph/model"
)

func (r *mutationResolver) CreateBooks(ctx context.Context, input model.CreateBooksInput) (*model.CreateBooksPayload, error) {
	if _, err := model.Authorise(ctx, scopesOf(input.Rows, bookScopes)...); err != nil {
		return nil, err
	}
	return createMany(ctx, "books", input, r.createBooks)
}

func (r *mutationResolver) CreateGenres(ctx context.Context, input model.CreateGenresInput) (*model.CreateGenresPayload, error) {
	if _, err := model.Authorise(ctx, scopesOf(input.Rows, genreScopes)...); err != nil {
		return nil, err
	}
	return createMany(ctx, "genres", input, r.createGenres)
}

func (r *mutationResolver) CreateCategories(ctx context.Context, input model.CreateCategoriesInput) (*model.CreateCategoriesPayload, error) {
	if _, err := model.Authorise(ctx, "categories:create"); err != nil {
		return nil, err
	}
	return createMany(ctx, "categories", input, r.createCategories)
}

package resolvers

import (
	"context"

	"library-catalogue/graph/model"
)

func (r *mutationResolver) CreateBooks(ctx context.Context, input model.CreateBooksInput) (*model.CreateBooksPayload, error) {
	if err := authorise(ctx, bulkScopes(input.Rows, createBookScopes)...); err != nil {
		return nil, err
	}
	return createRows(ctx, "books", input, r.createBooks)
}

func (r *mutationResolver) UpdateBooks(ctx context.Context, input model.UpdateBooksInput) (*model.UpdateBooksPayload, error) {
	if err := authorise(ctx, booksUpdate); err != nil {
		return nil, err
	}
	if err := r.checkBookPatch(ctx, input.Patch); err != nil {
		return nil, err
	}
	return updateRows(ctx, r.store, input, r.store.Books)
}

func (r *mutationResolver) DeleteBooks(ctx context.Context, input model.DeleteBooksInput) (*model.DeleteBooksPayload, error) {
	if err := authorise(ctx, booksDelete); err != nil {
		return nil, err
	}
	return deleteRows(ctx, r.store, input, r.store.Books)
}

func (r *mutationResolver) CreateGenres(ctx context.Context, input model.CreateGenresInput) (*model.CreateGenresPayload, error) {
	if err := authorise(ctx, bulkScopes(input.Rows, createGenreScopes)...); err != nil {
		return nil, err
	}
	return createRows(ctx, "genres", input, r.createGenres)
}

func (r *mutationResolver) UpdateGenres(ctx context.Context, input model.UpdateGenresInput) (*model.UpdateGenresPayload, error) {
	if err := authorise(ctx, genresUpdate); err != nil {
		return nil, err
	}
	if err := r.checkGenrePatch(ctx, input.Patch); err != nil {
		return nil, err
	}
	return updateRows(ctx, r.store, input, r.store.Genres)
}

func (r *mutationResolver) DeleteGenres(ctx context.Context, input model.DeleteGenresInput) (*model.DeleteGenresPayload, error) {
	if err := authorise(ctx, deleteGenreScopes(input.OnChildren)...); err != nil {
		return nil, err
	}
	return deleteRows(ctx, r.store, input, r.store.Genres)
}

func (r *mutationResolver) CreateCategories(ctx context.Context, input model.CreateCategoriesInput) (*model.CreateCategoriesPayload, error) {
	if err := authorise(ctx, categoriesCreate); err != nil {
		return nil, err
	}
	return createRows(ctx, "categories", input, r.createCategories)
}

func (r *mutationResolver) UpdateCategories(ctx context.Context, input model.UpdateCategoriesInput) (*model.UpdateCategoriesPayload, error) {
	if err := authorise(ctx, categoriesUpdate); err != nil {
		return nil, err
	}
	if err := input.Patch.Validate().Err(); err != nil {
		return nil, err
	}
	return updateRows(ctx, r.store, input, r.store.Categories)
}

func (r *mutationResolver) DeleteCategories(ctx context.Context, input model.DeleteCategoriesInput) (*model.DeleteCategoriesPayload, error) {
	if err := authorise(ctx, deleteCategoryScopes(input.OnChildren)...); err != nil {
		return nil, err
	}
	return deleteRows(ctx, r.store, input, r.store.Categories)
}

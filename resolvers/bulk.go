package resolvers

import (
	"context"

	"library-catalogue/graph/model"
)

func (r *mutationResolver) CreateBooks(
	ctx context.Context, input model.CreateBooksInput,
) (*model.CreateBooksPayload, error) {
	return createRows(ctx, "books", input, r.createBooks, bulkScopes(input.Rows, createBookScopes)...)
}

func (r *mutationResolver) UpdateBooks(
	ctx context.Context, input model.UpdateBooksInput,
) (*model.UpdateBooksPayload, error) {
	return r.updateBooks(ctx, input)
}

func (r *mutationResolver) DeleteBooks(
	ctx context.Context, input model.DeleteBooksInput,
) (*model.DeleteBooksPayload, error) {
	return deleteRows(ctx, r.store, r.store.Books, input, booksDelete)
}

func (r *mutationResolver) CreateGenres(
	ctx context.Context, input model.CreateGenresInput,
) (*model.CreateGenresPayload, error) {
	return createRows(ctx, "genres", input, r.createGenres, bulkScopes(input.Rows, createGenreScopes)...)
}

func (r *mutationResolver) UpdateGenres(
	ctx context.Context, input model.UpdateGenresInput,
) (*model.UpdateGenresPayload, error) {
	return updateRows(ctx, r.store, r.store.Genres, input, genresUpdate, r.checkGenrePatch)
}

func (r *mutationResolver) DeleteGenres(
	ctx context.Context, input model.DeleteGenresInput,
) (*model.DeleteGenresPayload, error) {
	return deleteRows(ctx, r.store, r.store.Genres, input, deleteGenreScopes(input.OnChildren)...)
}

func (r *mutationResolver) CreateCategories(
	ctx context.Context, input model.CreateCategoriesInput,
) (*model.CreateCategoriesPayload, error) {
	return createRows(ctx, "categories", input, r.createCategories, categoriesCreate)
}

func (r *mutationResolver) UpdateCategories(
	ctx context.Context, input model.UpdateCategoriesInput,
) (*model.UpdateCategoriesPayload, error) {
	return updateRows(ctx, r.store, r.store.Categories, input, categoriesUpdate, checkCategoryPatch)
}

func (r *mutationResolver) DeleteCategories(
	ctx context.Context, input model.DeleteCategoriesInput,
) (*model.DeleteCategoriesPayload, error) {
	return deleteRows(ctx, r.store, r.store.Categories, input, deleteCategoryScopes(input.OnChildren)...)
}

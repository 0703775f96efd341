package resolvers

import (
	"context"

	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers/loader"
)

func (r *categoryResolver) Genres(
	ctx context.Context, obj *model.Category, first *int, after *string, last *int, before *string, offset *int,
	filter map[string]any, orderBy []*model.OrderBy, search *string,
) (*model.GenreConnection, error) {
	return childrenOfOne("Genre", obj, loader.From(ctx).Relations().GenresOfCategory,
		pageArgs(first, after, last, before, offset, filter, orderBy, search))
}

func (r *categoryResolver) Books(
	ctx context.Context, obj *model.Category, first *int, after *string, last *int, before *string, offset *int,
	filter map[string]any, orderBy []*model.OrderBy, search *string,
) (*model.BookConnection, error) {
	return childrenOfOne("Book", obj, loader.From(ctx).Relations().BooksOfCategory,
		pageArgs(first, after, last, before, offset, filter, orderBy, search))
}

// GenresOfCategories returns the same page of genres for each category of a level.
func (r *Resolver) GenresOfCategories(
	ctx context.Context, categories []*model.Category, args model.PageArgs,
) ([]*model.GenreConnection, error) {
	return childrenOfLevel("Genre", categories, loader.From(ctx).Relations().GenresOfCategory, args)
}

// BooksOfCategories returns the same page of books for each category of a level.
func (r *Resolver) BooksOfCategories(
	ctx context.Context, categories []*model.Category, args model.PageArgs,
) ([]*model.BookConnection, error) {
	return childrenOfLevel("Book", categories, loader.From(ctx).Relations().BooksOfCategory, args)
}

func (r *mutationResolver) CreateCategory(
	ctx context.Context, input model.CreateCategoryInput,
) (*model.CreateCategoryPayload, error) {
	if err := authorise(ctx, categoriesCreate); err != nil {
		return nil, err
	}
	if err := input.Validate().Err(); err != nil {
		return nil, err
	}
	category, err := r.store.Categories.Create(ctx, &input)
	if err != nil {
		return nil, err
	}
	return &model.CreateCategoryPayload{Row: category, ClientMutationID: input.ClientMutationID}, nil
}

func (r *mutationResolver) UpdateCategory(
	ctx context.Context, input model.UpdateCategoryInput,
) (*model.UpdateCategoryPayload, error) {
	return updateRow(ctx, r.store.Categories, input, categoriesUpdate, checkCategoryPatch)
}

func checkCategoryPatch(_ context.Context, patch *model.CategoryPatch) error {
	return patch.Validate().Err()
}

func (r *mutationResolver) DeleteCategory(
	ctx context.Context, input model.DeleteCategoryInput,
) (*model.DeleteCategoryPayload, error) {
	return deleteRow(ctx, r.store, r.store.Categories, input, deleteCategoryScopes(input.OnChildren)...)
}

func (r *queryResolver) Category(ctx context.Context, id string, at *model.Timestamp) (*model.Category, error) {
	if at != nil {
		return asOf(ctx, loader.From(ctx).Snapshot.Categories, id, *at)
	}
	return single(r.LoadCategories(ctx, []model.ID{model.ParseID(id)}))
}

// LoadCategories returns the categories with these ids, nil for a missing one.
func (r *Resolver) LoadCategories(ctx context.Context, ids []model.ID) ([]*model.Category, error) {
	return loader.From(ctx).Categories.LoadMany(ctx, ids)
}

// ParentCategories is like ParentGenres.
func (r *Resolver) ParentCategories(ctx context.Context, ids []model.ID) ([]*model.Category, error) {
	return requireRows(ctx, ids, r.LoadCategories)
}

func (r *queryResolver) Categories(
	ctx context.Context, first *int, after *string, last *int, before *string, offset *int, filter map[string]any,
	orderBy []*model.OrderBy, search *string,
) (*model.CategoryConnection, error) {
	args := pageArgs(first, after, last, before, offset, filter, orderBy, search)
	categories := loader.From(ctx).Categories
	return connection("Category", args, categories.Page, categories.Count, categories.Correct, nil)
}

// Category implements graph.ResolverRoot.
func (r *Resolver) Category() graph.CategoryResolver { return &categoryResolver{} }

type categoryResolver struct{}

package resolvers

import (
	"context"

	"library-catalogue/graph/model"
)

func (r *mutationResolver) UpsertBook(ctx context.Context, input model.UpsertBookInput) (*model.UpsertBookPayload, error) {
	if _, err := model.Authorise(ctx, upserts("books", input.ID)...); err != nil {
		return nil, err
	}
	in := input.Create()
	problems := in.Validate()
	if err := refer(ctx, &problems, "genre_id", in.GenreID, r.store.GenresByID); err != nil {
		return nil, err
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	book, created, err := upsert(ctx, r.Resolver, input.ID, input.ExpectedVersion,
		func(ctx context.Context) (model.ID, error) {
			return r.store.FindBook(ctx, model.BookKey{Name: in.Name, Author: in.Author})
		},
		func(ctx context.Context) (*model.Book, error) { return r.store.CreateBook(ctx, in) },
		func(ctx context.Context, id model.ID) (*model.Book, error) {
			return r.store.UpdateBook(ctx, id, input.Patch(in), input.ExpectedVersion)
		})
	if err != nil {
		return nil, err
	}
	wrote(ctx)
	return &model.UpsertBookPayload{Book: book, Created: created, ClientMutationID: input.ClientMutationID}, nil
}

func (r *mutationResolver) UpsertGenre(ctx context.Context, input model.UpsertGenreInput) (*model.UpsertGenrePayload, error) {
	if _, err := model.Authorise(ctx, upserts("genres", input.ID)...); err != nil {
		return nil, err
	}
	in := input.Create()
	problems := in.Validate()
	if err := refer(ctx, &problems, "category_id", in.CategoryID, r.store.CategoriesByID); err != nil {
		return nil, err
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	genre, created, err := upsert(ctx, r.Resolver, input.ID, input.ExpectedVersion,
		func(ctx context.Context) (model.ID, error) { return r.store.FindGenre(ctx, in.Name, in.CategoryID) },
		func(ctx context.Context) (*model.Genre, error) { return r.store.CreateGenre(ctx, in) },
		func(ctx context.Context, id model.ID) (*model.Genre, error) {
			return r.store.UpdateGenre(ctx, id, input.Patch(in), input.ExpectedVersion)
		})
	if err != nil {
		return nil, err
	}
	wrote(ctx)
	return &model.UpsertGenrePayload{Genre: genre, Created: created, ClientMutationID: input.ClientMutationID}, nil
}

func (r *mutationResolver) UpsertCategory(ctx context.Context, input model.UpsertCategoryInput) (*model.UpsertCategoryPayload, error) {
	if _, err := model.Authorise(ctx, upserts("categories", input.ID)...); err != nil {
		return nil, err
	}
	in := input.Create()
	if err := in.Validate().Err(); err != nil {
		return nil, err
	}
	category, created, err := upsert(ctx, r.Resolver, input.ID, input.ExpectedVersion,
		func(ctx context.Context) (model.ID, error) { return r.store.FindCategory(ctx, in.Name) },
		func(ctx context.Context) (*model.Category, error) { return r.store.CreateCategory(ctx, in) },
		func(ctx context.Context, id model.ID) (*model.Category, error) {
			return r.store.UpdateCategory(ctx, id, input.Patch(in), input.ExpectedVersion)
		})
	if err != nil {
		return nil, err
	}
	wrote(ctx)
	return &model.UpsertCategoryPayload{Category: category, Created: created, ClientMutationID: input.ClientMutationID}, nil
}

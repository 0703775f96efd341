package resolvers

import (
	"context"

	"library-catalogue/graph/model"
)

func (r *mutationResolver) UpsertBook(ctx context.Context, input model.UpsertBookInput) (*model.UpsertBookPayload, error) {
	if err := authorise(ctx, upsertScopes(input.ID, booksCreate, booksUpdate)...); err != nil {
		return nil, err
	}
	in := &input.CreateBookInput
	problems := in.Validate()
	if err := checkReference(ctx, &problems, "genre_id", in.GenreID, r.store.GenresByID); err != nil {
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
			return r.store.UpdateBook(ctx, id, input.Patch(), input.ExpectedVersion)
		})
	if err != nil {
		return nil, err
	}
	resetLoaders(ctx)
	return &model.UpsertBookPayload{Row: book, Created: created, ClientMutationID: input.ClientMutationID}, nil
}

func (r *mutationResolver) UpsertGenre(ctx context.Context, input model.UpsertGenreInput) (*model.UpsertGenrePayload, error) {
	if err := authorise(ctx, upsertScopes(input.ID, genresCreate, genresUpdate)...); err != nil {
		return nil, err
	}
	in := &input.CreateGenreInput
	problems := in.Validate()
	if err := checkReference(ctx, &problems, "category_id", in.CategoryID, r.store.CategoriesByID); err != nil {
		return nil, err
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	genre, created, err := upsert(ctx, r.Resolver, input.ID, input.ExpectedVersion,
		func(ctx context.Context) (model.ID, error) { return r.store.FindGenre(ctx, in.Name, in.CategoryID) },
		func(ctx context.Context) (*model.Genre, error) { return r.store.CreateGenre(ctx, in) },
		func(ctx context.Context, id model.ID) (*model.Genre, error) {
			return r.store.UpdateGenre(ctx, id, input.Patch(), input.ExpectedVersion)
		})
	if err != nil {
		return nil, err
	}
	resetLoaders(ctx)
	return &model.UpsertGenrePayload{Row: genre, Created: created, ClientMutationID: input.ClientMutationID}, nil
}

func (r *mutationResolver) UpsertCategory(ctx context.Context, input model.UpsertCategoryInput) (*model.UpsertCategoryPayload, error) {
	if err := authorise(ctx, upsertScopes(input.ID, categoriesCreate, categoriesUpdate)...); err != nil {
		return nil, err
	}
	in := &input.CreateCategoryInput
	if err := in.Validate().Err(); err != nil {
		return nil, err
	}
	category, created, err := upsert(ctx, r.Resolver, input.ID, input.ExpectedVersion,
		func(ctx context.Context) (model.ID, error) { return r.store.FindCategory(ctx, in.Name) },
		func(ctx context.Context) (*model.Category, error) { return r.store.CreateCategory(ctx, in) },
		func(ctx context.Context, id model.ID) (*model.Category, error) {
			return r.store.UpdateCategory(ctx, id, input.Patch(), input.ExpectedVersion)
		})
	if err != nil {
		return nil, err
	}
	resetLoaders(ctx)
	return &model.UpsertCategoryPayload{Row: category, Created: created, ClientMutationID: input.ClientMutationID}, nil
}

// upsert changes the row with the id or, where that is nil, the one that find
// returns. Where there is none, create makes a row, unless a version is expected.
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
		if err := r.store.LockImports(ctx); err != nil {
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

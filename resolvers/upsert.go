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
	if err := checkReference(ctx, &problems, "genre_id", in.GenreID, r.store.GenresByID, r.store.LockGenres); err != nil {
		return nil, err
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return upsert(ctx, r.Resolver, input.ID, input.ExpectedVersion, input.ClientMutationID,
		func(ctx context.Context) (model.ID, error) {
			return r.store.FindBook(ctx, model.BookKey{Name: in.Name, Author: in.Author})
		},
		func(ctx context.Context) (*model.Book, error) { return r.store.CreateBook(ctx, in) },
		func(ctx context.Context, id model.ID) (*model.Book, error) {
			return r.store.UpdateBook(ctx, id, input.Patch(), input.ExpectedVersion)
		})
}

func (r *mutationResolver) UpsertGenre(ctx context.Context, input model.UpsertGenreInput) (*model.UpsertGenrePayload, error) {
	if err := authorise(ctx, upsertScopes(input.ID, genresCreate, genresUpdate)...); err != nil {
		return nil, err
	}
	in := &input.CreateGenreInput
	problems := in.Validate()
	if err := checkReference(ctx, &problems, "category_id", in.CategoryID, r.store.CategoriesByID, r.store.LockCategories); err != nil {
		return nil, err
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	return upsert(ctx, r.Resolver, input.ID, input.ExpectedVersion, input.ClientMutationID,
		func(ctx context.Context) (model.ID, error) { return r.store.FindGenre(ctx, in.Name, in.CategoryID) },
		func(ctx context.Context) (*model.Genre, error) { return r.store.CreateGenre(ctx, in) },
		func(ctx context.Context, id model.ID) (*model.Genre, error) {
			return r.store.UpdateGenre(ctx, id, input.Patch(), input.ExpectedVersion)
		})
}

func (r *mutationResolver) UpsertCategory(ctx context.Context, input model.UpsertCategoryInput) (*model.UpsertCategoryPayload, error) {
	if err := authorise(ctx, upsertScopes(input.ID, categoriesCreate, categoriesUpdate)...); err != nil {
		return nil, err
	}
	in := &input.CreateCategoryInput
	if err := in.Validate().Err(); err != nil {
		return nil, err
	}
	return upsert(ctx, r.Resolver, input.ID, input.ExpectedVersion, input.ClientMutationID,
		func(ctx context.Context) (model.ID, error) { return r.store.FindCategory(ctx, in.Name) },
		func(ctx context.Context) (*model.Category, error) { return r.store.CreateCategory(ctx, in) },
		func(ctx context.Context, id model.ID) (*model.Category, error) {
			return r.store.UpdateCategory(ctx, id, input.Patch(), input.ExpectedVersion)
		})
}

// upsert changes the row with the id or, where that is nil, the one that find
// returns. Where there is none, create makes a row, unless a version is expected.
func upsert[T any](ctx context.Context, r *Resolver, id *model.ID, version *int64, clientMutationID *string,
	find func(context.Context) (model.ID, error),
	create func(context.Context) (*T, error),
	update func(context.Context, model.ID) (*T, error),
) (*model.Payload[T], error) {
	payload := model.Payload[T]{ClientMutationID: clientMutationID}
	var err error
	if id != nil {
		payload.Row, err = update(ctx, *id)
	} else {
		err = r.store.Write(ctx, func(ctx context.Context) error {
			// Else two at once would both find that the row is not there yet.
			if err := r.store.LockImports(ctx); err != nil {
				return err
			}
			found, err := find(ctx)
			if err != nil {
				return err
			}
			if payload.Created = found == 0 && version == nil; payload.Created {
				payload.Row, err = create(ctx)
			} else {
				payload.Row, err = update(ctx, found)
			}
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	resetLoaders(ctx)
	return &payload, nil
}

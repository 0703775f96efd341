package resolvers

import (
	"context"

	"library-catalogue/db"
	"library-catalogue/graph/model"
)

func (r *mutationResolver) UpsertBook(
	ctx context.Context, input model.UpsertBookInput,
) (*model.UpsertBookPayload, error) {
	if err := authorise(ctx, upsertScopes(input.ID, booksCreate, booksUpdate)...); err != nil {
		return nil, err
	}
	in := &input.CreateBookInput
	problems := in.Validate()
	if err := checkReference(ctx, &problems, "genre_id", in.GenreID, r.store.Genres); err != nil {
		return nil, err
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	patch := input.Patch()
	find := func(ctx context.Context) (model.ID, error) {
		found, err := r.store.FindBook(ctx, in.Row())
		if found == nil {
			return 0, err
		}
		if in.JoinsTitle(found) {
			patch.KeepName()
		}
		return found.ID, nil
	}
	return upsert(ctx, r.store, r.store.Books, input.ID, input.ExpectedVersion, input.ClientMutationID, find, in, patch)
}

func (r *mutationResolver) UpsertGenre(
	ctx context.Context, input model.UpsertGenreInput,
) (*model.UpsertGenrePayload, error) {
	if err := authorise(ctx, upsertScopes(input.ID, genresCreate, genresUpdate)...); err != nil {
		return nil, err
	}
	in := &input.CreateGenreInput
	problems := in.Validate()
	if err := checkReference(ctx, &problems, "category_id", in.CategoryID, r.store.Categories); err != nil {
		return nil, err
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	find := func(ctx context.Context) (model.ID, error) { return r.store.FindGenre(ctx, in.Name, in.CategoryID) }
	return upsert(ctx, r.store, r.store.Genres, input.ID, input.ExpectedVersion, input.ClientMutationID, find, in,
		input.Patch())
}

func (r *mutationResolver) UpsertCategory(
	ctx context.Context, input model.UpsertCategoryInput,
) (*model.UpsertCategoryPayload, error) {
	if err := authorise(ctx, upsertScopes(input.ID, categoriesCreate, categoriesUpdate)...); err != nil {
		return nil, err
	}
	in := &input.CreateCategoryInput
	if err := in.Validate().Err(); err != nil {
		return nil, err
	}
	find := func(ctx context.Context) (model.ID, error) { return r.store.FindCategory(ctx, in.Name) }
	return upsert(ctx, r.store, r.store.Categories, input.ID, input.ExpectedVersion, input.ClientMutationID, find, in,
		input.Patch())
}

// upsert updates the row with the id, or, if id is nil, the row that find returns. If there is none
// it creates one, unless a version is expected.
func upsert[T any](ctx context.Context, store *db.Store, writer db.Writer[T], id *model.ID, version *int64,
	clientMutationID *string,
	find func(context.Context) (model.ID, error), in interface{ Row() *T }, patch db.Patch,
) (*model.Payload[T], error) {
	payload := model.Payload[T]{ClientMutationID: clientMutationID}
	var err error
	if id != nil {
		payload.Row, err = writer.Update(ctx, *id, patch, version)
	} else {
		err = store.Write(ctx, func(ctx context.Context) error {
			// Without the lock, two concurrent upserts would both find no row.
			if err := store.LockImports(ctx); err != nil {
				return err
			}
			found, err := find(ctx)
			if err != nil {
				return err
			}
			if payload.Created = found == 0 && version == nil; payload.Created {
				payload.Row, err = writer.Create(ctx, in)
			} else {
				payload.Row, err = writer.Update(ctx, found, patch, version)
			}
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	return &payload, nil
}

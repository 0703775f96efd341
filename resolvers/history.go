package resolvers

import (
	"context"
	"fmt"

	"library-catalogue/db"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers/loader"
)

func (r *queryResolver) History(ctx context.Context, typ model.CatalogueType, id string, first int, after *string) (*model.ChangePage, error) {
	return history(ctx, typ, model.ParseID(id), first, after)
}

func (r *bookResolver) History(ctx context.Context, obj *model.Book, first int, after *string) (*model.ChangePage, error) {
	return history(ctx, model.TypeBook, obj.ID, first, after)
}

func (r *genreResolver) History(ctx context.Context, obj *model.Genre, first int, after *string) (*model.ChangePage, error) {
	return history(ctx, model.TypeGenre, obj.ID, first, after)
}

func (r *categoryResolver) History(ctx context.Context, obj *model.Category, first int, after *string) (*model.ChangePage, error) {
	return history(ctx, model.TypeCategory, obj.ID, first, after)
}

// history returns a page of the changes of a row, newest first.
func history(ctx context.Context, typ model.CatalogueType, id model.ID, first int, after *string) (*model.ChangePage, error) {
	if first < 1 || first > model.MaxPageSize {
		return nil, badArgument("first", fmt.Sprintf("The first argument must be between 1 and %d.", model.MaxPageSize))
	}
	return loader.From(ctx).History(ctx, id, &model.HistoryArgs{Type: typ, First: first, After: after})
}

// asOf returns a row as it was at a time, or nil if it did not exist.
func asOf[T any](ctx context.Context, rows db.Reader[T], id string, at model.Timestamp) (*T, error) {
	moment, err := loader.From(ctx).Snapshot.MomentAt(ctx, at)
	if err != nil {
		return nil, err
	}
	key := db.Past{Moment: moment, ID: model.ParseID(id)}
	found, err := rows.AsOf(ctx, []db.Past{key})
	return found[key], err
}

func (r *mutationResolver) RestoreBook(ctx context.Context, input model.RestoreInput) (*model.Payload[model.Book], error) {
	return restore(ctx, r.store.Books, input, booksCreate, booksUpdate)
}

func (r *mutationResolver) RestoreGenre(ctx context.Context, input model.RestoreInput) (*model.Payload[model.Genre], error) {
	return restore(ctx, r.store.Genres, input, genresCreate, genresUpdate)
}

func (r *mutationResolver) RestoreCategory(ctx context.Context, input model.RestoreInput) (*model.Payload[model.Category], error) {
	return restore(ctx, r.store.Categories, input, categoriesCreate, categoriesUpdate)
}

// restore restores a row. A deleted row needs the scope create, another one update.
func restore[T any](ctx context.Context, writer db.Writer[T], input model.RestoreInput, create, update string) (*model.Payload[T], error) {
	if _, err := model.Caller(ctx); err != nil {
		return nil, err
	}
	row, err := writer.Revert(ctx, input, func(exists bool) error {
		if exists {
			return authorise(ctx, update)
		}
		return authorise(ctx, create)
	})
	if err != nil {
		return nil, err
	}
	return &model.Payload[T]{Row: row, ClientMutationID: input.ClientMutationID}, nil
}

package resolvers

import (
	"context"

	"library-catalogue/graph/model"
)

func (r *bookResolver) History(ctx context.Context, obj *model.Book, first int, after *string) (*model.ChangePage, error) {
	return nil, errNotBuilt
}

func (r *categoryResolver) History(ctx context.Context, obj *model.Category, first int, after *string) (*model.ChangePage, error) {
	return nil, errNotBuilt
}

func (r *genreResolver) History(ctx context.Context, obj *model.Genre, first int, after *string) (*model.ChangePage, error) {
	return nil, errNotBuilt
}

func (r *mutationResolver) RestoreBook(ctx context.Context, input model.RestoreInput) (*model.Payload[model.Book], error) {
	return nil, errNotBuilt
}

func (r *mutationResolver) RestoreGenre(ctx context.Context, input model.RestoreInput) (*model.Payload[model.Genre], error) {
	return nil, errNotBuilt
}

func (r *mutationResolver) RestoreCategory(ctx context.Context, input model.RestoreInput) (*model.Payload[model.Category], error) {
	return nil, errNotBuilt
}

var errNotBuilt = model.Errorf(model.Unavailable, "This operation is not available yet.")

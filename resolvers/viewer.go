package resolvers

import (
	"context"

	"library-catalogue/graph/model"
)

func (r *queryResolver) Viewer(ctx context.Context) (*model.Viewer, error) {
	return model.ViewerOf(ctx)
}

package resolvers

import (
	"context"

	"library-catalogue/graph/model"
	"library-catalogue/resolvers/loader"
)

// StreamBooks reads a whole list of books in its order, whatever page the arguments
// ask for. The rows go to fn so many at a time, on one snapshot, each time with
// batches of its own, since those keep all that they fetched.
func (r *Resolver) StreamBooks(ctx context.Context, args model.PageArgs, rows int, fn func(context.Context, []*model.Book) error) error {
	return stream(ctx, r, "Book", args, rows, r.store.StreamBooks, (*loader.Loaders).PrimeBooks, fn)
}

// StreamGenres is as StreamBooks.
func (r *Resolver) StreamGenres(ctx context.Context, args model.PageArgs, rows int, fn func(context.Context, []*model.Genre) error) error {
	return stream(ctx, r, "Genre", args, rows, r.store.StreamGenres, (*loader.Loaders).PrimeGenres, fn)
}

// StreamCategories is as StreamBooks.
func (r *Resolver) StreamCategories(ctx context.Context, args model.PageArgs, rows int, fn func(context.Context, []*model.Category) error) error {
	return stream(ctx, r, "Category", args, rows, r.store.StreamCategories, nil, fn)
}

// prime notes what rows point at, so that it is fetched for a part at once; nil for
// rows that point at nothing.
func stream[T any](ctx context.Context, r *Resolver, typename string, args model.PageArgs, rows int,
	read func(context.Context, *model.Page, int, func(context.Context, []*T) error) error,
	prime func(*loader.Loaders, []*T), fn func(context.Context, []*T) error,
) error {
	page, err := args.Page(typename)
	if err != nil {
		return err
	}
	return read(ctx, page, rows, func(ctx context.Context, part []*T) error {
		ctx = r.WithLoaders(ctx)
		if prime != nil {
			prime(loader.From(ctx), part)
		}
		return fn(ctx, part)
	})
}

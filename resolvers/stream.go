package resolvers

import (
	"context"

	"library-catalogue/db"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers/loader"
)

// StreamBooks reads a whole list of books in its order, whatever page the arguments
// ask for. The rows go to fn so many at a time, each time with batches of their own, since
// those keep all that they fetched. It is for fn of ReadTransaction.
func (r *Resolver) StreamBooks(ctx context.Context, args model.PageArgs, rows int, fn func(context.Context, []*model.Book) error) error {
	return stream(ctx, r, "Book", args, rows, loader.From(ctx).Snapshot.Books, (*loader.Loaders).PrimeBooks, fn)
}

// StreamGenres is as StreamBooks.
func (r *Resolver) StreamGenres(ctx context.Context, args model.PageArgs, rows int, fn func(context.Context, []*model.Genre) error) error {
	return stream(ctx, r, "Genre", args, rows, loader.From(ctx).Snapshot.Genres, (*loader.Loaders).PrimeGenres, fn)
}

// StreamCategories is as StreamBooks.
func (r *Resolver) StreamCategories(ctx context.Context, args model.PageArgs, rows int, fn func(context.Context, []*model.Category) error) error {
	return stream(ctx, r, "Category", args, rows, loader.From(ctx).Snapshot.Categories, nil, fn)
}

// prime notes what rows point at, so that it is fetched for a part at once; nil for
// rows that point at nothing.
func stream[T any](ctx context.Context, r *Resolver, typename string, args model.PageArgs, rows int,
	all db.Reader[T], prime func(*loader.Loaders, []*T), fn func(context.Context, []*T) error,
) error {
	page, err := args.Page(typename)
	if err != nil {
		return err
	}
	snapshot := loader.From(ctx).Snapshot
	return all.Stream(ctx, page, rows, func(ctx context.Context, part []*T) error {
		ctx = r.with(ctx, snapshot)
		if prime != nil {
			prime(loader.From(ctx), part)
		}
		return fn(ctx, part)
	})
}

package resolvers

import (
	"context"

	"library-catalogue/db"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers/loader"
)

// StreamBooks reads a whole list of books in its order and ignores the page of args. It calls fn
// with at most rows books at a time, each time with new loaders, because loaders keep all that they
// fetched. Call it within ReadTransaction.
func (r *Resolver) StreamBooks(
	ctx context.Context, args model.PageArgs, rows int, fn func(context.Context, []*model.Book) error,
) error {
	return stream(ctx, r, "Book", args, rows, loader.From(ctx).Snapshot.Books, (*loader.Loaders).PrimeBooks, fn)
}

// StreamGenres is like StreamBooks.
func (r *Resolver) StreamGenres(
	ctx context.Context, args model.PageArgs, rows int, fn func(context.Context, []*model.Genre) error,
) error {
	return stream(ctx, r, "Genre", args, rows, loader.From(ctx).Snapshot.Genres, (*loader.Loaders).PrimeGenres, fn)
}

// StreamCategories is like StreamBooks.
func (r *Resolver) StreamCategories(
	ctx context.Context, args model.PageArgs, rows int, fn func(context.Context, []*model.Category) error,
) error {
	return stream(ctx, r, "Category", args, rows, loader.From(ctx).Snapshot.Categories, nil, fn)
}

// stream implements StreamBooks. prime announces the rows that a part refers to, so that they are
// fetched together. It may be nil.
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

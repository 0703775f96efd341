package resolvers

import (
	"context"
	"slices"

	"library-catalogue/graph/model"
	"library-catalogue/resolvers/loader"
)

// The methods here are the resolvers of single rows for a whole level of a
// query at once: many rows in, their answers out in the same order.

// LoadBooks gives the books with these ids; nil where there is none.
func (r *Resolver) LoadBooks(ctx context.Context, ids []model.ID) ([]*model.Book, error) {
	return loader.From(ctx).Books.LoadMany(ctx, ids)
}

// LoadGenres gives the genres with these ids; nil where there is none.
func (r *Resolver) LoadGenres(ctx context.Context, ids []model.ID) ([]*model.Genre, error) {
	return loader.From(ctx).Genres.LoadMany(ctx, ids)
}

// LoadCategories gives the categories with these ids; nil where there is none.
func (r *Resolver) LoadCategories(ctx context.Context, ids []model.ID) ([]*model.Category, error) {
	return loader.From(ctx).Categories.LoadMany(ctx, ids)
}

// GenresOf gives the genre of each book.
func (r *Resolver) GenresOf(ctx context.Context, books []*model.Book) ([]*model.Genre, error) {
	ids := make([]model.ID, len(books))
	for i, b := range books {
		ids[i] = b.GenreID
	}
	return parents(r.LoadGenres(ctx, ids))
}

// CategoriesOf gives the category of each genre.
func (r *Resolver) CategoriesOf(ctx context.Context, genres []*model.Genre) ([]*model.Category, error) {
	ids := make([]model.ID, len(genres))
	for i, g := range genres {
		ids[i] = g.CategoryID
	}
	return parents(r.LoadCategories(ctx, ids))
}

// BooksOfGenres gives the same page of the books of each genre.
func (r *Resolver) BooksOfGenres(ctx context.Context, genres []*model.Genre, args model.PageArgs) ([]*model.BookConnection, error) {
	return level("Book", genres, loader.EdgesFrom(ctx).BooksOfGenre, args)
}

// BooksOfCategories gives the same page of the books of each category.
func (r *Resolver) BooksOfCategories(ctx context.Context, categories []*model.Category, args model.PageArgs) ([]*model.BookConnection, error) {
	return level("Book", categories, loader.EdgesFrom(ctx).BooksOfCategory, args)
}

// GenresOfCategories gives the same page of the genres of each category.
func (r *Resolver) GenresOfCategories(ctx context.Context, categories []*model.Category, args model.PageArgs) ([]*model.GenreConnection, error) {
	return level("Genre", categories, loader.EdgesFrom(ctx).GenresOfCategory, args)
}

// GroupBooks puts books in groups, of which some figures are wanted.
func (r *Resolver) GroupBooks(ctx context.Context, args model.GroupArgs, wanted model.Aggregates) ([]*model.BookGroup, error) {
	grouping, err := args.Grouping(wanted)
	if err != nil {
		return nil, err
	}
	return r.groups(ctx, grouping)
}

func (r *Resolver) groups(ctx context.Context, g *model.Grouping) ([]*model.BookGroup, error) {
	groups, err := r.store.GroupBooks(ctx, g)
	loader.From(ctx).PrimeGroups(groups)
	return groups, err
}

// parents is parent for a whole level.
func parents[T any](rows []*T, err error) ([]*T, error) {
	if err == nil && slices.Contains(rows, nil) {
		return nil, model.ErrSnapshotChanged
	}
	return rows, err
}

// level is children for a whole level of parents.
func level[P, C model.Node](typename string, parents []P, of *loader.Children[C], args model.PageArgs) ([]*model.Connection[C], error) {
	page, err := args.Page(typename)
	if err != nil {
		return nil, err
	}
	ids := make([]model.ID, len(parents))
	for i, p := range parents {
		ids[i] = p.RowID()
	}
	slices.Sort(ids)
	rows := of.Level(slices.Compact(ids))
	connections := make([]*model.Connection[C], len(parents))
	for i, p := range parents {
		connections[i] = model.NewConnection(typename, page,
			func(ctx context.Context, page *model.Page) ([]C, error) { return rows.Page(ctx, p.RowID(), page) },
			func(ctx context.Context, m model.Match) (int, error) { return rows.Count(ctx, p.RowID(), m) },
			rows.GroupsOf(p.RowID()))
	}
	return connections, nil
}

package plan_test

import (
	"context"
	"errors"

	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/resolvers/loader"
)

// failing is a catalogue in which some look-ups fail, of one row and of a level alike.
type failing struct {
	*resolvers.Resolver
	lookups uint32 // the bits of those that fail
	panics  bool   // rather than return an error, but in the parts of a list
}

// The look-ups.
const (
	books = iota
	genres
	categories
	booksOfGenre
	booksOfCategory
	genresOfCategory
	list
	rowsOfList
	figuresOfList
	correctionOfList
)

func (f *failing) fail(lookup int) error {
	switch {
	case f.lookups&(1<<lookup) == 0:
		return nil
	case f.panics && lookup < rowsOfList:
		panic("as the test wants")
	}
	return errors.New("a look-up that fails")
}

// unless returns what a look-up returns, if it does not fail.
func unless[T any](f *failing, lookup int, read func() (T, error)) (none T, err error) {
	if err := f.fail(lookup); err != nil {
		return none, err
	}
	return read()
}

func (f *failing) LoadBooks(ctx context.Context, ids []model.ID) ([]*model.Book, error) {
	return unless(f, books, func() ([]*model.Book, error) { return f.Resolver.LoadBooks(ctx, ids) })
}

func (f *failing) LoadGenres(ctx context.Context, ids []model.ID) ([]*model.Genre, error) {
	return unless(f, genres, func() ([]*model.Genre, error) { return f.Resolver.LoadGenres(ctx, ids) })
}

func (f *failing) ParentGenres(ctx context.Context, ids []model.ID) ([]*model.Genre, error) {
	return unless(f, genres, func() ([]*model.Genre, error) { return f.Resolver.ParentGenres(ctx, ids) })
}

func (f *failing) ParentCategories(ctx context.Context, ids []model.ID) ([]*model.Category, error) {
	return unless(f, categories, func() ([]*model.Category, error) { return f.Resolver.ParentCategories(ctx, ids) })
}

func (f *failing) LoadCategories(ctx context.Context, ids []model.ID) ([]*model.Category, error) {
	return unless(f, categories, func() ([]*model.Category, error) { return f.Resolver.LoadCategories(ctx, ids) })
}

func (f *failing) BooksOfGenres(ctx context.Context, of []*model.Genre, args model.PageArgs) ([]*model.BookConnection, error) {
	return unless(f, booksOfGenre, func() ([]*model.BookConnection, error) { return f.Resolver.BooksOfGenres(ctx, of, args) })
}

func (f *failing) BooksOfCategories(ctx context.Context, of []*model.Category, args model.PageArgs) ([]*model.BookConnection, error) {
	return unless(f, booksOfCategory, func() ([]*model.BookConnection, error) { return f.Resolver.BooksOfCategories(ctx, of, args) })
}

func (f *failing) GenresOfCategories(ctx context.Context, of []*model.Category, args model.PageArgs) ([]*model.GenreConnection, error) {
	return unless(f, genresOfCategory, func() ([]*model.GenreConnection, error) { return f.Resolver.GenresOfCategories(ctx, of, args) })
}

func (f *failing) Query() graph.QueryResolver { return failingQuery{f.Resolver.Query(), f} }

type failingQuery struct {
	graph.QueryResolver
	*failing
}

func (q failingQuery) Book(ctx context.Context, id string, asOf *model.Timestamp) (*model.Book, error) {
	return unless(q.failing, books, func() (*model.Book, error) { return q.QueryResolver.Book(ctx, id, asOf) })
}

func (q failingQuery) Genre(ctx context.Context, id string, asOf *model.Timestamp) (*model.Genre, error) {
	return unless(q.failing, genres, func() (*model.Genre, error) { return q.QueryResolver.Genre(ctx, id, asOf) })
}

func (q failingQuery) Category(ctx context.Context, id string, asOf *model.Timestamp) (*model.Category, error) {
	return unless(q.failing, categories, func() (*model.Category, error) { return q.QueryResolver.Category(ctx, id, asOf) })
}

// Books returns a list whose parts may fail.
func (q failingQuery) Books(ctx context.Context, first *int, after *string, last *int, before *string, offset *int, filter map[string]any, orderBy []*model.OrderBy, search *string) (*model.BookConnection, error) {
	args := model.PageArgs{First: first, After: after, Last: last, Before: before, Offset: offset, Filter: filter, OrderBy: orderBy, Search: search}
	page, err := unless(q.failing, list, func() (*model.Page, error) { return args.Page("Book") })
	if err != nil {
		return nil, err
	}
	loaders := loader.From(ctx)
	c := model.NewConnection("Book", page,
		func(ctx context.Context, p *model.Page) ([]*model.Book, error) {
			return unless(q.failing, rowsOfList, func() ([]*model.Book, error) { return loaders.Books.Page(ctx, p) })
		},
		func(ctx context.Context, s model.Selection) (int, error) {
			return unless(q.failing, figuresOfList, func() (int, error) { return loaders.Books.Count(ctx, s) })
		},
		func(ctx context.Context, g []*model.Grouping) ([][]*model.BookGroup, error) {
			return unless(q.failing, figuresOfList, func() ([][]*model.BookGroup, error) { return loaders.Groups(ctx, g) })
		})
	c.Correct = func(ctx context.Context, text string) (*string, error) {
		return unless(q.failing, correctionOfList, func() (*string, error) { return loaders.Books.Correct(ctx, text) })
	}
	return c, nil
}

func (f *failing) Book() graph.BookResolver { return failingBook{f, f.Resolver.Book()} }

type failingBook struct {
	*failing
	graph.BookResolver
}

func (b failingBook) Genre(ctx context.Context, of *model.Book) (*model.Genre, error) {
	return unless(b.failing, genres, func() (*model.Genre, error) { return b.Resolver.Book().Genre(ctx, of) })
}

func (f *failing) Genre() graph.GenreResolver { return failingGenre{f, f.Resolver.Genre()} }

type failingGenre struct {
	*failing
	graph.GenreResolver
}

func (g failingGenre) Category(ctx context.Context, of *model.Genre) (*model.Category, error) {
	return unless(g.failing, categories, func() (*model.Category, error) { return g.Resolver.Genre().Category(ctx, of) })
}

func (g failingGenre) Books(ctx context.Context, of *model.Genre, first *int, after *string, last *int, before *string, offset *int, filter map[string]any, orderBy []*model.OrderBy, search *string) (*model.BookConnection, error) {
	return unless(g.failing, booksOfGenre, func() (*model.BookConnection, error) {
		return g.Resolver.Genre().Books(ctx, of, first, after, last, before, offset, filter, orderBy, search)
	})
}

func (f *failing) Category() graph.CategoryResolver { return failingCategory{f, f.Resolver.Category()} }

type failingCategory struct {
	*failing
	graph.CategoryResolver
}

func (c failingCategory) Genres(ctx context.Context, of *model.Category, first *int, after *string, last *int, before *string, offset *int, filter map[string]any, orderBy []*model.OrderBy, search *string) (*model.GenreConnection, error) {
	return unless(c.failing, genresOfCategory, func() (*model.GenreConnection, error) {
		return c.Resolver.Category().Genres(ctx, of, first, after, last, before, offset, filter, orderBy, search)
	})
}

func (c failingCategory) Books(ctx context.Context, of *model.Category, first *int, after *string, last *int, before *string, offset *int, filter map[string]any, orderBy []*model.OrderBy, search *string) (*model.BookConnection, error) {
	return unless(c.failing, booksOfCategory, func() (*model.BookConnection, error) {
		return c.Resolver.Category().Books(ctx, of, first, after, last, before, offset, filter, orderBy, search)
	})
}

func (f *failing) GenreFacet() graph.GenreFacetResolver { return failingGenreFacet{f} }

type failingGenreFacet struct{ *failing }

func (g failingGenreFacet) Genre(ctx context.Context, of *model.BookGroup) (*model.Genre, error) {
	return unless(g.failing, genres, func() (*model.Genre, error) { return g.Resolver.GenreFacet().Genre(ctx, of) })
}

func (f *failing) CategoryFacet() graph.CategoryFacetResolver { return failingCategoryFacet{f} }

type failingCategoryFacet struct{ *failing }

func (c failingCategoryFacet) Category(ctx context.Context, of *model.BookGroup) (*model.Category, error) {
	return unless(c.failing, categories, func() (*model.Category, error) { return c.Resolver.CategoryFacet().Category(ctx, of) })
}

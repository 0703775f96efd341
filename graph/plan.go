package graph

import (
	"context"

	"library-catalogue/graph/model"
	"library-catalogue/graph/plan"
)

// Source holds the resolvers and the batched look-ups of plans. A look-up takes any number of ids
// or parents and returns the results in their order, each the same as the resolver's: nil for a
// missing row. An error fails all of them.
type Source interface {
	ResolverRoot

	LoadBooks(ctx context.Context, ids []model.ID) ([]*model.Book, error)
	LoadGenres(ctx context.Context, ids []model.ID) ([]*model.Genre, error)
	LoadCategories(ctx context.Context, ids []model.ID) ([]*model.Category, error)

	// ParentGenres and ParentCategories return rows that others refer to; a missing one is an error.
	ParentGenres(ctx context.Context, ids []model.ID) ([]*model.Genre, error)
	ParentCategories(ctx context.Context, ids []model.ID) ([]*model.Category, error)

	BooksOfGenres(context.Context, []*model.Genre, model.PageArgs) ([]*model.BookConnection, error)
	BooksOfCategories(context.Context, []*model.Category, model.PageArgs) ([]*model.BookConnection, error)
	GenresOfCategories(context.Context, []*model.Category, model.PageArgs) ([]*model.GenreConnection, error)
}

// Planned returns the type Query with all fields that have a plan. Rare fields, and those that
// gqlgen's executor runs as fast, have none.
func Planned(s Source) *plan.Type[plan.Root] {
	book := plan.NodeType("Book", model.BookFields, (*model.Book).NodeID)
	genre := plan.NodeType("Genre", model.GenreFields, (*model.Genre).NodeID)
	category := plan.NodeType("Category", model.CategoryFields, (*model.Category).NodeID)
	plan.One(book, "genre", genre, func(b *model.Book) model.ID { return b.GenreID }, s.ParentGenres)
	plan.One(genre, "category", category, func(g *model.Genre) model.ID { return g.CategoryID }, s.ParentCategories)
	plan.Connection(genre, "books", book, s.BooksOfGenres)
	plan.Connection(category, "genres", genre, s.GenresOfCategories)
	plan.Connection(category, "books", book, s.BooksOfCategories)

	query := plan.NewType[plan.Root]("Query")
	plan.ByID(query, "book", book, s.LoadBooks)
	plan.ByID(query, "genre", genre, s.LoadGenres)
	plan.ByID(query, "category", category, s.LoadCategories)
	plan.Connection(query, "books", book, onlyPage(s.Query().Books))
	plan.Connection(query, "genres", genre, onlyPage(s.Query().Genres))
	plan.Connection(query, "categories", category, onlyPage(s.Query().Categories))

	book.Aggregate = plan.StructType[model.Aggregate]("BookAggregate")
	genre.Aggregate = plan.StructType[model.Aggregate]("GenreAggregate")
	category.Aggregate = plan.StructType[model.Aggregate]("CategoryAggregate")
	plan.Value(book.Aggregate, "price", plan.StructType[model.DecimalAggregate]("DecimalAggregate"),
		func(a *model.Aggregate) *model.DecimalAggregate { return &a.Price })
	plan.Value(book.Aggregate, "pages", plan.StructType[model.IntAggregate]("IntAggregate"),
		func(a *model.Aggregate) *model.IntAggregate { return &a.Pages })
	plan.Value(book.Aggregate, "publishedAt", plan.StructType[model.DateAggregate]("DateAggregate"),
		func(a *model.Aggregate) *model.DateAggregate { return &a.PublishedAt })

	genres := plan.StructType[model.BookGroup]("GenreFacet")
	plan.One(genres, "genre", genre, func(g *model.BookGroup) model.ID { return g.GenreID }, s.ParentGenres)
	categories := plan.StructType[model.BookGroup]("CategoryFacet")
	plan.One(categories, "category", category,
		func(g *model.BookGroup) model.ID { return g.CategoryID }, s.ParentCategories)
	book.Facets = plan.NewType[*model.BookFacets]("BookFacets")
	for name, values := range map[string]*plan.Type[*model.BookGroup]{
		"genres": genres, "categories": categories,
		"authors":    plan.StructType[model.BookGroup]("AuthorFacet"),
		"years":      plan.StructType[model.BookGroup]("YearFacet"),
		"publishers": plan.StructType[model.BookGroup]("PublisherFacet"),
		"languages":  plan.StructType[model.BookGroup]("LanguageFacet"),
	} {
		plan.Facet(book.Facets, name, values, (*model.BookFacets).Read)
	}
	plan.Facet(book.Facets, "prices", plan.StructType[model.PriceFacet]("PriceFacet"),
		func(f *model.BookFacets, ctx context.Context, want model.Facet) ([]*model.PriceFacet, error) {
			return f.Prices(ctx, want.Bounds)
		})
	return query
}

// listResolver is the resolver of a list of Query.
type listResolver[C any] func(ctx context.Context, first *int, after *string, last *int, before *string, offset *int,
	filter map[string]any, orderBy []*model.OrderBy, search *string) (C, error)

// onlyPage returns the look-up of a plan from the resolver of a list.
func onlyPage[C any](resolve listResolver[C]) func(context.Context, []plan.Root, model.PageArgs) ([]C, error) {
	return func(ctx context.Context, _ []plan.Root, a model.PageArgs) ([]C, error) {
		c, err := resolve(ctx, a.First, a.After, a.Last, a.Before, a.Offset, a.Filter, a.OrderBy, a.Search)
		return []C{c}, err
	}
}

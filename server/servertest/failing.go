package servertest

import (
	"context"

	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
)

// Failing is a catalogue that calls fail instead of reading or creating books.
type Failing struct {
	*resolvers.Resolver
	fail func() error
}

// NewFailing returns a Failing over the resolvers.
func NewFailing(r *resolvers.Resolver, fail func() error) Failing { return Failing{r, fail} }

// Query implements graph.ResolverRoot.
func (f Failing) Query() graph.QueryResolver { return failingQuery{f.Resolver.Query(), f.fail} }

// Mutation implements graph.ResolverRoot.
func (f Failing) Mutation() graph.MutationResolver {
	return failingMutation{f.Resolver.Mutation(), f.fail}
}

// Genre implements graph.ResolverRoot.
func (f Failing) Genre() graph.GenreResolver { return failingGenre{f.Resolver.Genre(), f.fail} }

// LoadBooks is called by the planned executor instead of Book.
func (f Failing) LoadBooks(context.Context, []model.ID) ([]*model.Book, error) {
	return nil, f.fail()
}

// LoadCategories is called by the planned executor instead of Category.
func (f Failing) LoadCategories(context.Context, []model.ID) ([]*model.Category, error) {
	return nil, f.fail()
}

// ParentCategories is called by the planned executor instead of Category of a genre.
func (f Failing) ParentCategories(context.Context, []model.ID) ([]*model.Category, error) {
	return nil, f.fail()
}

type failingQuery struct {
	graph.QueryResolver
	fail func() error
}

func (f failingQuery) Books(
	context.Context, *int, *string, *int, *string, *int, map[string]any, []*model.OrderBy, *string,
) (*model.BookConnection, error) {
	return nil, f.fail()
}

func (f failingQuery) Book(context.Context, string, *model.Timestamp) (*model.Book, error) {
	return nil, f.fail()
}

type failingMutation struct {
	graph.MutationResolver
	fail func() error
}

func (f failingMutation) CreateBook(context.Context, model.CreateBookInput) (*model.CreateBookPayload, error) {
	return nil, f.fail()
}

type failingGenre struct {
	graph.GenreResolver
	fail func() error
}

func (f failingGenre) Category(context.Context, *model.Genre) (*model.Category, error) {
	return nil, f.fail()
}

// Package plan is the fast way through a GraphQL query. It compiles a validated
// operation once, runs it breadth first, one batched look-up for each level,
// and appends the answer to a buffer.
//
// gqlgen's executor stays the reference: what is not compiled, and what fails
// on the way, is run by it from the start, so that errors, their paths and the
// spreading of nulls are its own. Rules of the catalogue stand in the
// resolvers; there is none here.
package plan

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"library-catalogue/graph"
	"library-catalogue/graph/model"
)

// Source answers the look-ups of a level. Of parents it takes any number at
// once and gives the answers in their order, each as the resolver of the one
// would: nil for a row that is not there.
type Source interface {
	graph.ResolverRoot

	LoadBooks(ctx context.Context, ids []model.ID) ([]*model.Book, error)
	LoadGenres(ctx context.Context, ids []model.ID) ([]*model.Genre, error)
	LoadCategories(ctx context.Context, ids []model.ID) ([]*model.Category, error)

	GenresOf(ctx context.Context, books []*model.Book) ([]*model.Genre, error)
	CategoriesOf(ctx context.Context, genres []*model.Genre) ([]*model.Category, error)

	BooksOfGenres(ctx context.Context, genres []*model.Genre, args model.PageArgs) ([]*model.BookConnection, error)
	BooksOfCategories(ctx context.Context, categories []*model.Category, args model.PageArgs) ([]*model.BookConnection, error)
	GenresOfCategories(ctx context.Context, categories []*model.Category, args model.PageArgs) ([]*model.GenreConnection, error)

	// GroupBooks is Query.bookGroups, for the figures that are wanted of each group.
	GroupBooks(ctx context.Context, args model.GroupArgs, wanted model.Aggregates) ([]*model.BookGroup, error)
}

// Schema is gqlgen's executable schema with the plan before it.
type Schema struct {
	graphql.ExecutableSchema
	source  Source
	longest int

	mu         sync.RWMutex
	operations map[*ast.OperationDefinition]*variants

	planned, reference atomic.Int64
}

// maxOperations is how many operations are kept; past that all are forgotten,
// which costs those in use one compilation each.
const maxOperations = 1_000

// New puts the plan before a generated schema whose resolvers source is. It keeps
// no plan of documents that have more than longest bytes.
func New(reference graphql.ExecutableSchema, source Source, longest int) *Schema {
	return &Schema{ExecutableSchema: reference, source: source, longest: longest, operations: map[*ast.OperationDefinition]*variants{}}
}

// Counts gives how many queries were answered by a plan, and how many by the
// reference executor.
func (s *Schema) Counts() (planned, reference int64) {
	return s.planned.Load(), s.reference.Load()
}

// Exec implements graphql.ExecutableSchema.
func (s *Schema) Exec(ctx context.Context) graphql.ResponseHandler {
	operation := graphql.GetOperationContext(ctx)
	if operation.Operation.Operation != ast.Query {
		return s.ExecutableSchema.Exec(ctx)
	}
	answered := false
	return func(ctx context.Context) *graphql.Response {
		if answered {
			return nil
		}
		answered = true
		if p := s.variants(operation).plan(operation); p != nil {
			if data, ok := p.run(ctx, s.source, operation.Variables); ok {
				s.planned.Add(1)
				model.StatsOf(ctx).MarkPlanned()
				return &graphql.Response{Data: data}
			}
		}
		s.reference.Add(1)
		return s.ExecutableSchema.Exec(ctx)(ctx)
	}
}

// variants gives the plans of an operation.
func (s *Schema) variants(operation *graphql.OperationContext) *variants {
	s.mu.RLock()
	v, known := s.operations[operation.Operation]
	s.mu.RUnlock()
	if known {
		return v
	}
	v = newVariants(operation)
	if len(operation.RawQuery) > s.longest {
		return v
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.operations) >= maxOperations {
		clear(s.operations)
	}
	s.operations[operation.Operation] = v
	return v
}

// plan is a compiled query.
type plan struct {
	root *selection[root]
	byID map[string][]*ast.Field // the query's fields that name a row, by their name
}

// run answers the query. ok is false where anything failed; the answer is then
// the reference's to give.
func (p *plan) run(ctx context.Context, source Source, variables map[string]any) (data []byte, ok bool) {
	err := guarded(ctx, func() error {
		objects, err := p.root.load(&run{ctx, source, variables, p.byID, model.StatsOf(ctx).Explanation() != nil}, []root{{}})
		if err == nil {
			data = objects.write(bufferOf(ctx), 0)
		}
		return err
	})
	return data, err == nil
}

// guarded gives a panic of fn as an error.
func guarded(ctx context.Context, fn func() error) (err error) {
	defer func() {
		if failure := recover(); failure != nil {
			model.StatsOf(ctx).AddPanic()
			slog.ErrorContext(ctx, "panic in a planned query; the reference executor answers it", "value", failure)
			err = fmt.Errorf("panic: %v", failure)
		}
	}()
	return fn()
}

type bufferKey struct{}

// WithBuffer gives a context whose answer is appended to buffer, which its
// owner may use again once the answer was sent.
func WithBuffer(ctx context.Context, buffer []byte) context.Context {
	return context.WithValue(ctx, bufferKey{}, buffer)
}

func bufferOf(ctx context.Context) []byte {
	buffer, _ := ctx.Value(bufferKey{}).([]byte)
	return buffer
}

// Package plan executes GraphQL operations: it compiles a validated one once, runs
// it breadth first, with one batched look-up for each level, and appends the answer
// to a buffer. 50 nested books take a quarter of the time of gqlgen's executor
// (BenchmarkPlan).
//
// gqlgen's executor stays the reference: what is not compiled, and what fails
// on the way, is run by it from the start, so that errors, their paths and the
// spreading of nulls are its own. Where the database has failed, nothing is read
// again: its resolvers fail with the same error. Rules of the catalogue stand in
// the resolvers; there is none here.
package plan

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/graph"
	"library-catalogue/graph/model"
)

// Source answers the look-ups of a level. Of parents it takes any number at
// once and returns the answers in their order, each as the resolver of the one
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
	source Source
	hooks  Hooks

	planned, reference atomic.Int64
}

// Hooks are told how operations are answered. Both are set.
type Hooks struct {
	Planned  func(context.Context)                // a plan has answered
	Panicked func(ctx context.Context, value any) // a plan has panicked, and the reference executor answers
}

// New puts the plan before a generated schema whose resolvers source is.
func New(reference graphql.ExecutableSchema, source Source, hooks Hooks) *Schema {
	return &Schema{ExecutableSchema: reference, source: source, hooks: hooks}
}

// Counts returns how many operations were answered by a plan, and how many by the
// reference executor.
func (s *Schema) Counts() (planned, reference int64) {
	return s.planned.Load(), s.reference.Load()
}

// Exec implements graphql.ExecutableSchema.
func (s *Schema) Exec(ctx context.Context) graphql.ResponseHandler {
	answered := false
	return func(ctx context.Context) *graphql.Response {
		if answered {
			return nil
		}
		answered = true
		operation := graphql.GetOperationContext(ctx)
		p := optionsOf(ctx).plan
		switch {
		case p.unknown:
		case p.mutation != nil:
			return s.mutate(ctx, p)
		default:
			data, err := p.query(ctx, s.source, operation.Variables)
			if err == nil {
				return s.answer(ctx, data)
			}
			if errors.Is(err, model.ErrSnapshotChanged) { // the caller runs the query again
				return &graphql.Response{Errors: gqlerror.List{gqlerror.Wrap(err)}}
			}
			s.notePanic(ctx, err)
			if databaseFailed(err) {
				return s.fallBack(withOperation(ctx, operation, operation.Operation, failingWith(err, operation.ResolverMiddleware)))
			}
		}
		return s.fallBack(ctx)
	}
}

// answer returns the data that a plan wrote.
func (s *Schema) answer(ctx context.Context, data []byte) *graphql.Response {
	s.planned.Add(1)
	s.hooks.Planned(ctx)
	return &graphql.Response{Data: data}
}

// fallBack lets the reference executor answer.
func (s *Schema) fallBack(ctx context.Context) *graphql.Response {
	s.reference.Add(1)
	return s.ExecutableSchema.Exec(ctx)(ctx)
}

// databaseFailed reports whether a look-up failed by the database, and not by what was
// asked for.
func databaseFailed(err error) bool {
	return model.IsCode(err, model.Unavailable) || model.IsCode(err, model.Internal)
}

// failingWith returns middleware by which each resolver fails with err, but for those of
// mutations. Other fields are read as around does.
func failingWith(err error, around graphql.FieldMiddleware) graphql.FieldMiddleware {
	return func(ctx context.Context, next graphql.Resolver) (any, error) {
		if field := graphql.GetFieldContext(ctx); field.IsResolver && field.Object != "Mutation" {
			return nil, err
		}
		return around(ctx, next)
	}
}

// Plan is a compiled operation.
type Plan struct {
	// Conditional reports whether the plan depends on variables of @include and @skip, so
	// that it is for these variables alone.
	Conditional bool

	unknown  bool // the operation has something that plans do not know
	root     *selection[root]
	byID     map[string][]*ast.Field // the query's fields that name a row, by their name
	checks   []argumentCheck         // of the lists
	mutation *mutation               // nil for a query
}

// query answers a query. Where anything failed, the answer is the reference's to
// give.
func (p *Plan) query(ctx context.Context, source Source, variables map[string]any) (data []byte, err error) {
	err = recovered(func() error {
		if err := p.checkArguments(variables); err != nil {
			return err
		}
		objects, err := p.root.load(p.run(ctx, source, variables), []root{{}})
		if err == nil {
			data = objects.write(optionsOf(ctx).buffer, 0)
		}
		return err
	})
	return data, err
}

// checkArguments looks at the arguments of every list before the first statement: where
// one is refused, the reference executor answers, which would run all of them again.
// The only list of a query looks at its own before it reads.
func (p *Plan) checkArguments(variables map[string]any) error {
	if len(p.checks) == 1 {
		return nil
	}
	for _, check := range p.checks {
		if err := check(variables); err != nil {
			return err
		}
	}
	return nil
}

func (p *Plan) run(ctx context.Context, source Source, variables map[string]any) *run {
	return &run{ctx, source, variables, p.byID}
}

// recovered returns a panic of fn as an error.
func recovered(fn func() error) (err error) {
	defer func() {
		if failure := recover(); failure != nil {
			err = panicError{failure}
		}
	}()
	return fn()
}

// panicError is a panic, as an error.
type panicError struct{ value any }

func (e panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

// notePanic reports a panic to the hooks, if err is one.
func (s *Schema) notePanic(ctx context.Context, err error) {
	if panicked, ok := errors.AsType[panicError](err); ok {
		s.hooks.Panicked(ctx, panicked.value)
	}
}

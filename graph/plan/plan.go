// Package plan executes GraphQL operations: it compiles a validated one once, runs
// it breadth first, with one batched look-up for each level, and appends the answer
// to a buffer. 50 nested books take a quarter of the time of gqlgen's executor
// (BenchmarkPlan).
//
// gqlgen's executor stays the reference: what is not compiled, as mutations are not, and
// what fails on the way, is run by it from the start, so that errors, their paths and the
// spreading of nulls are its own. Where the database has failed, nothing is read
// again: its resolvers fail with the same error. Package graph declares what plans know;
// rules of the catalogue stand in the resolvers; there is neither here.
package plan

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/graph/model"
)

// Schema is gqlgen's executable schema with the plan before it.
type Schema struct {
	graphql.ExecutableSchema
	query *Type[Root]
	hooks Hooks

	planned, reference atomic.Int64
}

// Hooks are told how operations are answered. Both are set.
type Hooks struct {
	Planned  func(context.Context)                // a plan has answered
	Panicked func(ctx context.Context, value any) // a plan has panicked, and the reference executor answers
}

type optionsKey struct{}

// options are what an operation is run with.
type options struct {
	plan   *Plan
	buffer []byte
}

// With returns the context of an operation with its plan; without one, the reference
// executor answers. The answer is appended to buffer, which its owner may use again once
// that was sent.
func With(ctx context.Context, plan *Plan, buffer []byte) context.Context {
	return context.WithValue(ctx, optionsKey{}, &options{plan, buffer})
}

// New puts the plan before a generated schema. query leads to all that plans know.
func New(reference graphql.ExecutableSchema, query *Type[Root], hooks Hooks) *Schema {
	return &Schema{ExecutableSchema: reference, query: query, hooks: hooks}
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
		o, _ := ctx.Value(optionsKey{}).(*options)
		if o == nil || o.plan.unknown {
			return s.fallBack(ctx)
		}
		data, err := o.plan.answer(ctx, operation.Variables, o.buffer)
		switch {
		case err == nil:
			s.planned.Add(1)
			s.hooks.Planned(ctx)
			return &graphql.Response{Data: data}
		case errors.Is(err, model.ErrSnapshotChanged): // the caller runs the query again
			return &graphql.Response{Errors: gqlerror.List{gqlerror.Wrap(err)}}
		case model.IsCode(err, model.Unavailable) || model.IsCode(err, model.Internal): // the database failed
			return s.fallBack(failing(ctx, operation, err))
		}
		if panicked, ok := errors.AsType[panicError](err); ok {
			s.hooks.Panicked(ctx, panicked.value)
		}
		return s.fallBack(ctx)
	}
}

// fallBack lets the reference executor answer.
func (s *Schema) fallBack(ctx context.Context) *graphql.Response {
	s.reference.Add(1)
	return s.ExecutableSchema.Exec(ctx)(ctx)
}

// failing returns the context of an operation in which each resolver fails with err.
func failing(ctx context.Context, from *graphql.OperationContext, err error) context.Context {
	return graphql.WithOperationContext(ctx, &graphql.OperationContext{
		RawQuery: from.RawQuery, Variables: from.Variables, OperationName: from.OperationName, Doc: from.Doc,
		Extensions: from.Extensions, Headers: from.Headers, Operation: from.Operation,
		DisableIntrospection: from.DisableIntrospection,
		RecoverFunc:          from.RecoverFunc, RootResolverMiddleware: from.RootResolverMiddleware, Stats: from.Stats,
		ResolverMiddleware: func(ctx context.Context, next graphql.Resolver) (any, error) {
			if graphql.GetFieldContext(ctx).IsResolver {
				return nil, err
			}
			return from.ResolverMiddleware(ctx, next)
		},
	})
}

// Plan is a compiled operation.
type Plan struct {
	// Conditional reports whether the plan depends on variables of @include and @skip, so
	// that it is for these variables alone.
	Conditional bool

	unknown bool // the operation has something that plans do not know
	root    *selection[Root]
	byID    map[string][]*ast.Field // the query's fields that name a row, by their name
	checks  []argumentCheck         // of the lists
}

// answer answers a query, with a panic as an error.
func (p *Plan) answer(ctx context.Context, variables map[string]any, buffer []byte) (data []byte, err error) {
	defer func() {
		if failure := recover(); failure != nil {
			err = panicError{failure}
		}
	}()
	if err := p.checkArguments(variables); err != nil {
		return nil, err
	}
	objects, err := p.root.load(&run{ctx, variables, p.byID}, []Root{{}})
	if err != nil {
		return nil, err
	}
	return objects.write(buffer, 0), nil
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

// panicError is a panic, as an error.
type panicError struct{ value any }

func (e panicError) Error() string { return fmt.Sprintf("panic: %v", e.value) }

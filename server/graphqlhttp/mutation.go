package graphqlhttp

import (
	"context"
	"errors"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/graph/model"
)

// mutated is the result of a mutation, whose payload may be read several times.
type mutated struct {
	done  bool
	value any
	err   error
}

type mutatedKey struct{}

// aroundRootField gives each mutation a Snapshot of its own, so that its payload shows one revision, which
// includes the write. In an operation with an Idempotency-Key, which is atomic, it skips the fields
// after a failed one.
func (h *Handler) aroundRootField(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	operation := graphql.GetOperationContext(ctx)
	switch {
	case operation.Operation.Operation != ast.Mutation:
		return next(ctx)
	case operation.Headers.Get("Idempotency-Key") != "" && len(graphql.GetErrors(ctx)) > 0:
		return graphql.Null
	}
	var payload graphql.Marshaler
	var found gqlerror.List
	once := &mutated{}
	err := h.Catalogue.ReadBack(context.WithValue(ctx, mutatedKey{}, once), func(ctx context.Context) error {
		ctx = graphql.WithFreshResponseContext(ctx)
		payload = next(ctx)
		if found = graphql.GetErrors(ctx); slices.ContainsFunc(found, func(err *gqlerror.Error) bool { return errors.Is(err, model.ErrSnapshotChanged) }) {
			return model.ErrSnapshotChanged
		}
		return nil
	})
	if err != nil && (len(found) == 0 || !errors.Is(err, model.ErrSnapshotChanged)) {
		if payload, found = graphql.Null, nil; operation.Headers.Get("Idempotency-Key") == "" {
			err = &model.Error{Code: model.Unavailable, InDoubt: true, Message: "The change was stored, but reading it back failed. Read the object before you retry.", Err: err}
		}
		graphql.AddError(ctx, err) // with a key the transaction is rolled back
	}
	for _, err := range found {
		graphql.AddError(ctx, err)
	}
	return payload
}

// runOnce runs a mutation once, however often its payload is read.
func runOnce(ctx context.Context, next graphql.Resolver) (any, error) {
	if graphql.GetFieldContext(ctx).Object != "Mutation" {
		return next(ctx)
	}
	once := ctx.Value(mutatedKey{}).(*mutated)
	if !once.done {
		once.value, once.err = next(ctx)
		once.done = true
	}
	return once.value, once.err
}

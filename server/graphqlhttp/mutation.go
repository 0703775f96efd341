package graphqlhttp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"library-catalogue/graph/model"
)

// mutated is the result of a mutation. Its payload may be read several times.
type mutated struct {
	done  bool
	value any
	err   error
}

type mutatedKey struct{}

// aroundRootField gives each mutation a Snapshot of its own, so that its payload shows one revision, which
// includes the write. If only the payload fails, the errors have the outcome STORED. In an operation with an
// Idempotency-Key, which is atomic, it skips the fields after a failed one.
func (h *Handler) aroundRootField(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	operation := graphql.GetOperationContext(ctx)
	atomic := operation.Headers.Get("Idempotency-Key") != ""
	switch {
	case operation.Operation.Operation != ast.Mutation:
		return next(ctx)
	case atomic && len(graphql.GetErrors(ctx)) > 0:
		return graphql.Null
	}
	var payload graphql.Marshaler
	var found gqlerror.List
	once := &mutated{}
	err := h.Catalogue.ReadBack(context.WithValue(ctx, mutatedKey{}, once), func(ctx context.Context) error {
		ctx = graphql.WithFreshResponseContext(ctx)
		payload = next(ctx)
		found = graphql.GetErrors(ctx)
		return nil
	})
	if err != nil && (len(found) == 0 || !model.IsCode(err, model.NotFound)) {
		if payload, found = graphql.Null, nil; atomic {
			err = errors.Unwrap(err) // the transaction is rolled back, so nothing is stored
		}
		graphql.AddError(ctx, err)
	}
	for _, err := range found {
		if !atomic && once.done && once.err == nil {
			err.Extensions["outcome"] = "STORED"
		}
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

// writeOnce runs a mutation with an Idempotency-Key once, in one transaction, and returns the
// stored response to the same request later. The first error rolls everything back, the key too.
func (e *execution) writeOnce(ctx context.Context, key string) (_ *graphql.Response, replayed bool) {
	data, replayed, err := e.Catalogue.Idempotent(ctx, key, fingerprint(e.request),
		func(ctx context.Context) ([]byte, error) {
			response := e.dispatch(ctx)
			switch {
			case response == nil:
				return nil, context.Cause(ctx)
			case len(response.Errors) > 0:
				return nil, responseError{response}
			}
			return response.Data, nil
		})
	if failed, ok := errors.AsType[responseError](err); ok && !errors.Is(err, model.ErrRetry) {
		failed.Data = []byte("null") // everything was rolled back
		return failed.Response, false
	}
	if err != nil {
		return e.failure(ctx, err), false
	}
	return &graphql.Response{Data: data}, replayed
}

// fingerprint returns a hash of the request. The order of its variables does not matter.
func fingerprint(q *request) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "POST /graphql %q %q %s", q.query, q.operationName, q.variables))
	return hex.EncodeToString(sum[:])
}

// responseError is a response with errors, used as the error that rolls back a transaction.
type responseError struct{ *graphql.Response }

func (f responseError) Error() string { return f.Errors.Error() }

func (f responseError) Unwrap() []error { return f.Errors.Unwrap() }

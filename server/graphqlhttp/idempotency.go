package graphqlhttp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/graph/model"
)

// writeOnce runs a mutation with an Idempotency-Key once, in one transaction, and returns the
// stored response to the same request later. The first error rolls everything back, the key too.
func (e *execution) writeOnce(ctx context.Context, key string) (_ *graphql.Response, replayed bool) {
	data, replayed, err := e.Catalogue.Idempotent(ctx, key, fingerprint(e.request), func(ctx context.Context) ([]byte, error) {
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

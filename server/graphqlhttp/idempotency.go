package graphqlhttp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/graph/model"
	"library-catalogue/rest"
)

// runOnce runs a mutation under an Idempotency-Key in one transaction and once only,
// with the first answer for the same request again. It ends with its first error,
// and then nothing of it is stored, not even the key.
func (h *Handler) runOnce(ctx context.Context, w http.ResponseWriter, keys []string, q *request, o *operation) *graphql.Response {
	key, err := rest.IdempotencyKey(keys)
	if err != nil {
		return h.failed(ctx, err)
	}
	data, replayed, err := h.Catalogue.Idempotent(ctx, key, fingerprint(q), func(ctx context.Context) ([]byte, error) {
		response := h.run(context.WithValue(ctx, atomicKey{}, true), o)
		if len(response.Errors) > 0 {
			return nil, failure{response}
		}
		return response.Data, nil
	})
	if failed, ok := errors.AsType[failure](err); ok && !errors.Is(err, model.ErrRetry) {
		failed.Data = []byte("null") // whatever was done is undone
		return failed.Response
	}
	if err != nil {
		return h.failed(ctx, err)
	}
	if replayed {
		w.Header().Set(rest.ReplayedHeader, "true")
	}
	return &graphql.Response{Data: data}
}

// fingerprint stands for what a request asks for: the same request again has the
// same, in whatever order its variables are written.
func fingerprint(q *request) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "POST /graphql %q %q %s", q.query, q.operationName, q.variables))
	return hex.EncodeToString(sum[:])
}

// failure is a response with errors, as the error that ends a transaction.
type failure struct{ *graphql.Response }

func (f failure) Error() string { return f.Errors.Error() }

func (f failure) Unwrap() []error { return f.Errors.Unwrap() }

type atomicKey struct{}

// stopAtFailure leaves out the fields that follow one which failed, in an
// operation that is stored as a whole or not at all.
func stopAtFailure(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	if ctx.Value(atomicKey{}) != nil && len(graphql.GetErrors(ctx)) > 0 {
		return graphql.Null
	}
	return next(ctx)
}

package plan

import (
	"context"

	"library-catalogue/graph/variant"
)

// Cache holds the plans of the operations of one document; nil is an operation that has
// none. Its zero value is empty.
type Cache = variant.Cache[*plan]

type optionsKey struct{}

// options are what an operation is run with.
type options struct {
	cache  *Cache
	buffer []byte
}

// With returns the context of an operation with the cache of its document. The answer
// is appended to buffer, which its owner may use again once that was sent. An
// operation without such a context is compiled for itself.
func With(ctx context.Context, cache *Cache, buffer []byte) context.Context {
	return context.WithValue(ctx, optionsKey{}, &options{cache, buffer})
}

func optionsOf(ctx context.Context) *options {
	if o, ok := ctx.Value(optionsKey{}).(*options); ok {
		return o
	}
	return &options{cache: new(Cache)}
}

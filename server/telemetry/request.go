package telemetry

import (
	"context"
	"sync"
	"sync/atomic"
)

// Request is the record of one request: what it asks for, how it is answered, and
// what goes wrong in it. It is safe for concurrent use.
type Request struct {
	ID        string                    // as the client got it
	Operation atomic.Pointer[Operation] // nil until it is known
	Planned   atomic.Bool               // a compiled plan answered
	Cached    atomic.Bool               // the answer came from the cache
	Panics    atomic.Int64              // that were caught
	// TokenRefusal is why the request's token was not accepted, in a word; empty where it
	// was, or where there is none. It is set before the request is answered.
	TokenRefusal string

	mu     sync.Mutex
	errors []string
}

// Operation is what a request asks for.
type Operation struct {
	Label    string // in metrics: one of few, whatever clients send
	Name     string // in the log: the client's name for it, if it has one
	Document string // GraphQL's text
}

type requestKey struct{}

// WithRequest returns a context with the record of a request.
func WithRequest(ctx context.Context, id string) (context.Context, *Request) {
	r := &Request{ID: id}
	return context.WithValue(ctx, requestKey{}, r), r
}

// RequestOf returns the record of a request, one that nobody reads where there is
// none.
func RequestOf(ctx context.Context) *Request {
	if r, ok := ctx.Value(requestKey{}).(*Request); ok {
		return r
	}
	return new(Request)
}

// AddError notes the code of an error in the answer.
func (r *Request) AddError(code string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors = append(r.errors, code)
}

// Errors returns the codes of the errors in the answer.
func (r *Request) Errors() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.errors
}

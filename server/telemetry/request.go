package telemetry

import (
	"context"
	"sync"
	"sync/atomic"
)

// Request is the record of one request: what it asks for, how it is answered, and
// what goes wrong in it. It is safe for concurrent use.
type Request struct {
	ID string // as the client got it

	operation atomic.Pointer[Operation]
	planned   atomic.Bool
	cached    atomic.Bool
	panics    atomic.Int64

	mu           sync.Mutex
	errors       []string
	tokenRefusal string
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

// SetOperation notes what the request asks for, once that is known.
func (r *Request) SetOperation(o *Operation) { r.operation.Store(o) }

// Operation returns what the request asks for, nil where that is not known.
func (r *Request) Operation() *Operation { return r.operation.Load() }

// MarkPlanned notes that a compiled plan answered.
func (r *Request) MarkPlanned() { r.planned.Store(true) }

// Planned reports whether a compiled plan answered.
func (r *Request) Planned() bool { return r.planned.Load() }

// MarkCached notes that the answer came from the cache.
func (r *Request) MarkCached() { r.cached.Store(true) }

// Cached reports whether the answer came from the cache.
func (r *Request) Cached() bool { return r.cached.Load() }

// AddPanic counts a panic that was caught.
func (r *Request) AddPanic() { r.panics.Add(1) }

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

// RefuseToken notes in a word why the request's token was not accepted.
func (r *Request) RefuseToken(reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tokenRefusal = reason
}

// TokenRefusal returns why the request's token was not accepted; empty where it
// was, or where there is none.
func (r *Request) TokenRefusal() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.tokenRefusal
}

package telemetry

import (
	"context"
	"sync"
	"sync/atomic"
)

// Request records facts about one request for log, metrics and traces. It is safe for concurrent use.
type Request struct {
	ID        string                    // X-Request-Id of the response
	Operation atomic.Pointer[Operation] // nil until it is known
	Planned   atomic.Bool               // a compiled plan ran
	Cached    atomic.Bool               // the response came from the cache
	Stream    atomic.Bool               // the response is a stream, which lasts until the client leaves
	// TokenRefusal is the reason label of a refused token; empty if there is none. Only the authentication
	// middleware sets it, before other handlers run.
	TokenRefusal string

	mu     sync.Mutex
	errors []string
}

// Operation describes the operation of a request.
type Operation struct {
	Label    string // value of the label operation in metrics; clients cannot add values
	Name     string // name in the log, given by the client; empty: none
	Document string // text of the GraphQL document; empty in REST
}

type requestKey struct{}

// WithRequest returns a context with a new record.
func WithRequest(ctx context.Context, id string) (context.Context, *Request) {
	r := &Request{ID: id}
	return context.WithValue(ctx, requestKey{}, r), r
}

// RequestOf returns the record in ctx, or a new one if there is none.
func RequestOf(ctx context.Context) *Request {
	if r, ok := ctx.Value(requestKey{}).(*Request); ok {
		return r
	}
	return new(Request)
}

// AddError records the code of an error in the response.
func (r *Request) AddError(code string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errors = append(r.errors, code)
}

// Errors returns the codes of the errors in the response.
func (r *Request) Errors() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.errors
}

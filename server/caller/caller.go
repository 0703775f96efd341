// Package caller says who makes a request, for all that is shared out fairly:
// rates, and places in the queue for work.
package caller

import (
	"context"
	"net/http"
	"net/netip"

	"library-catalogue/graph/model"
)

// Caller is who makes requests: the subject of a valid token, else the network that
// a client has for itself. The zero Caller stands for those whose address cannot be
// read, and for work without a request.
type Caller struct {
	subject string
	network netip.Addr
}

type callerKey struct{}

// Of returns the caller of a request.
func Of(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}

// With returns a context of requests by a caller.
func With(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// Subject returns the caller with a token for that subject.
func Subject(subject string) Caller { return Caller{subject: subject} }

// Size returns how many bytes of memory the caller takes beside the Caller itself.
func (c Caller) Size() int { return len(c.subject) }

// Middleware puts the caller of each request into its context. It stands behind what
// puts the principal there. proxies are those whose word on the address of a client
// is taken, as ParseProxies returns them.
func Middleware(proxies []netip.Prefix) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var c Caller
			if p, err := model.Caller(r.Context()); err == nil && p.Subject != "" {
				c.subject = p.Subject
			} else {
				c.network = network(clientAddress(r, proxies))
			}
			next.ServeHTTP(w, r.WithContext(With(r.Context(), c)))
		})
	}
}

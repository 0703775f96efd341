// Package caller identifies the caller of a request, for rate limits and fair queues.
package caller

import (
	"context"
	"net/http"
	"net/netip"

	"library-catalogue/graph/model"
)

// Caller is the subject of a valid token, or else a client network. The zero Caller stands for unreadable addresses
// and for background work.
type Caller struct {
	subject string
	network netip.Addr
}

type callerKey struct{}

// known is the value of callerKey.
type known struct {
	Caller
	network netip.Addr // client network, also with a token
}

// Of returns the caller in ctx, or the zero Caller.
func Of(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(known)
	return c.Caller
}

// Network returns the client network of the request of ctx.
func Network(ctx context.Context) netip.Addr {
	c, _ := ctx.Value(callerKey{}).(known)
	return c.network
}

// With returns a context with a caller.
func With(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, known{c, c.network})
}

// Subject returns the caller for a token's subject.
func Subject(subject string) Caller { return Caller{subject: subject} }

// Size returns the memory that c references, in bytes.
func (c Caller) Size() int { return len(c.subject) }

// Middleware puts the caller of each request into its context. The middleware that sets the principal must run
// before. proxies are trusted; ParseProxies returns them.
func Middleware(proxies []netip.Prefix) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c := Caller{network: network(clientAddress(r, proxies))}
			k := known{c, c.network}
			if p, err := model.Caller(r.Context()); err == nil && p.Subject != "" {
				k.Caller = Subject(p.Subject)
			}
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, k)))
		})
	}
}

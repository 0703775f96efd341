// Package caller identifies the caller of a request, for rate limits and fair queues.
package caller

import (
	"context"
	"net/http"
	"net/netip"

	"library-catalogue/graph/model"
)

// Key identifies a caller: the subject of a valid token, or else a client network. The zero Key stands for unreadable
// addresses and for background work.
type Key struct {
	subject string
	network netip.Addr
}

type contextKey struct{}

// known is the value of contextKey.
type known struct {
	Key
	network netip.Addr // client network, also with a token
}

// Of returns the caller in ctx, or the zero Key.
func Of(ctx context.Context) Key {
	c, _ := ctx.Value(contextKey{}).(known)
	return c.Key
}

// Network returns the client network of the request of ctx.
func Network(ctx context.Context) netip.Addr {
	c, _ := ctx.Value(contextKey{}).(known)
	return c.network
}

// With returns a context with a caller.
func With(ctx context.Context, c Key) context.Context {
	return context.WithValue(ctx, contextKey{}, known{c, c.network})
}

// Subject returns the caller for a token's subject.
func Subject(subject string) Key { return Key{subject: subject} }

// Size returns the memory that c references, in bytes.
func (c Key) Size() int { return len(c.subject) }

// Middleware puts the caller of each request into its context. The middleware that checks tokens must run
// before. proxies are trusted; ParseProxies returns them.
func Middleware(proxies []netip.Prefix) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			c := Key{network: network(clientAddress(r, proxies))}
			k := known{c, c.network}
			if p, err := model.CallerOf(r.Context()); err == nil && p.Subject != "" {
				k.Key = Subject(p.Subject)
			}
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), contextKey{}, k)))
		})
	}
}

package model

import "context"

// Principal is who is asking: the holder of a valid token.
type Principal struct {
	Subject string // the token's sub; empty where it has none
}

type principalKey struct{}

// WithPrincipal gives a context whose requests are made by p.
func WithPrincipal(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// Authorise gives the caller, or an Unauthenticated error where the request
// carries no valid token. Every write asks it first.
func Authorise(ctx context.Context) (Principal, error) {
	p, ok := ctx.Value(principalKey{}).(Principal)
	if !ok {
		return Principal{}, Errorf(Unauthenticated, "Unauthenticated.")
	}
	return p, nil
}

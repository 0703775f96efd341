package model

import (
	"context"
	"slices"
	"strings"
)

// Principal is who is asking: the holder of a valid token.
type Principal struct {
	Subject string // the token's sub; empty where it has none

	// Scoped says that the principal may do only what Scopes names, with spaces
	// between (RFC 6749, section 3.3): "catalogue:write" for every write, or a
	// type and a verb, such as "books:create". Else it may do everything.
	Scoped bool
	Scopes string
}

// WriteScope is the scope for every write.
const WriteScope = "catalogue:write"

// lacks returns the first of scopes that the principal lacks. WriteScope includes
// them all.
func (p Principal) lacks(scopes []string) (scope string, lacking bool) {
	given := strings.Split(p.Scopes, " ") // not at other white space, which no scope has (RFC 6749, section 3.3)
	if !p.Scoped || slices.Contains(given, WriteScope) {
		return "", false
	}
	for _, scope := range scopes {
		if !slices.Contains(given, scope) {
			return scope, true
		}
	}
	return WriteScope, len(scopes) == 0
}

type principalKey struct{}

// WithPrincipal returns a context whose requests are made by p.
func WithPrincipal(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

var errUnauthenticated = Errorf(Unauthenticated, "Unauthenticated.")

// Caller returns the principal of the request, or an Unauthenticated error where the request carries
// no valid token.
func Caller(ctx context.Context) (Principal, error) {
	p, ok := ctx.Value(principalKey{}).(Principal)
	if !ok {
		return Principal{}, errUnauthenticated
	}
	return p, nil
}

// Authorise returns the Caller of a write that needs all of scopes, such as
// "books:create", or WriteScope where none is named. The error is Forbidden
// where the token must have scopes and lacks one. Every write asks it first.
func Authorise(ctx context.Context, scopes ...string) (Principal, error) {
	p, err := Caller(ctx)
	if err != nil {
		return Principal{}, err
	}
	if scope, lacking := p.lacks(scopes); lacking {
		return Principal{}, Errorf(Forbidden, "The token lacks the scope %s.", scope)
	}
	return p, nil
}

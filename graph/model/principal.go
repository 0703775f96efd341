package model

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Principal is who is asking: the holder of a valid token.
type Principal struct {
	Subject string    // the token's sub; empty where it has none
	Expires time.Time // the token's exp

	// Scoped says that the principal may do only what Scopes names, with spaces
	// between (RFC 6749, section 3.3): "catalogue:write" for every write, or a
	// type and a verb, such as "books:create". Else it may do everything.
	Scoped bool
	Scopes string
}

// maxSubject is how many bytes the subject of a token may have whose holder uses
// Idempotency-Keys: as many as OpenID Connect Core, section 2, lets an issuer give it.
const maxSubject = 255

// CheckKeys returns BadUserInput where no Idempotency-Keys are kept for the principal.
// PostgreSQL keeps no NUL, and the tokens without a subject are not all of one holder.
func (p Principal) CheckKeys() error {
	s := p.Subject
	if s == "" || len(s) > maxSubject || !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl) {
		return Errorf(BadUserInput, "An Idempotency-Key belongs to the subject of its token: "+
			"sub must have 1 to %d bytes, without control characters.", maxSubject)
	}
	return nil
}

// WriteScope is the scope for every write.
const WriteScope = "catalogue:write"

// scopes returns the scopes one by one. Other white space than a space is in none (RFC
// 6749, section 3.3).
func (p Principal) scopes() []string {
	return strings.FieldsFunc(p.Scopes, func(r rune) bool { return r == ' ' })
}

// lacks returns the first of scopes that the principal lacks. WriteScope includes
// them all.
func (p Principal) lacks(scopes []string) (scope string, lacking bool) {
	given := p.scopes()
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

// TokenError says why the token of a request is not accepted. It is also the
// warning of a read, which is answered all the same.
type TokenError struct {
	Code    TokenCode
	Message string // for users
	Err     error  // the cause, only logged
}

// TokenCode is what is wrong with a token, for programs.
type TokenCode string

// The codes of a TokenError.
const (
	TokenExpired   TokenCode = "TOKEN_EXPIRED"   // it was valid
	TokenInvalid   TokenCode = "TOKEN_INVALID"   // it is not valid, or the header has none
	TokenUnchecked TokenCode = "TOKEN_UNCHECKED" // there are no keys at the moment
)

func (e *TokenError) Error() string { return string(e.Code) + ": " + e.Err.Error() }

func (e *TokenError) Unwrap() error { return e.Err }

// asError returns what a request gets that needs a valid token.
func (e *TokenError) asError(message string) *Error {
	if e.Code == TokenUnchecked {
		return &Error{Code: Unavailable, Message: e.Message, Err: e}
	}
	return &Error{Code: Unauthenticated, Message: message, Err: e}
}

// principalKey is the key of a Principal or a *TokenError.
type principalKey struct{}

// WithPrincipal returns a context whose requests are made by p.
func WithPrincipal(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, principalKey{}, p)
}

// WithTokenError returns a context whose requests have a token that is not accepted.
func WithTokenError(ctx context.Context, err *TokenError) context.Context {
	return context.WithValue(ctx, principalKey{}, err)
}

// TokenErrorOf returns why the request's token is not accepted; nil where it is, or
// where there is none.
func TokenErrorOf(ctx context.Context) *TokenError {
	err, _ := ctx.Value(principalKey{}).(*TokenError)
	return err
}

var errUnauthenticated = Errorf(Unauthenticated, "Unauthenticated.")

// Caller returns the principal of the request, or an Unauthenticated error, in the same
// words for every cause, where the request carries no valid token. Where tokens cannot
// be checked, the error is Unavailable.
func Caller(ctx context.Context) (Principal, error) {
	switch who := ctx.Value(principalKey{}).(type) {
	case Principal:
		return who, nil
	case *TokenError:
		return Principal{}, who.asError(errUnauthenticated.Message)
	}
	return Principal{}, errUnauthenticated
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

// Viewer is what a principal is told of itself.
type Viewer struct {
	Subject   *string
	Scopes    []string // as the token has them
	ExpiresAt Timestamp
}

// ViewerOf returns the viewer of a request, nil where it has no token, and an error
// where it has one that is not accepted.
func ViewerOf(ctx context.Context) (*Viewer, error) {
	if refused := TokenErrorOf(ctx); refused != nil {
		return nil, refused.asError(refused.Message)
	}
	p, err := Caller(ctx)
	if err != nil {
		return nil, nil
	}
	v := &Viewer{Scopes: p.scopes(), ExpiresAt: Timestamp(p.Expires.UnixMicro())}
	if p.Subject != "" {
		v.Subject = &p.Subject
	}
	return v, nil
}

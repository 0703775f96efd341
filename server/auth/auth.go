// Package auth says who is asking: it verifies JSON Web Tokens (RFC 7519) that
// come as Bearer credentials (RFC 6750), and makes and reads the keys for it.
//
// It refuses nobody by itself. A request without a valid token goes on without
// a principal, with a model.TokenError where it has one that is not accepted, and
// whatever writes asks model.Authorise. So the package knows no route, no GraphQL
// and no envelope, and must not learn them.
package auth

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"library-catalogue/graph/model"
)

const (
	// leeway is how far the issuer's clock and ours may differ.
	leeway = 30 * time.Second

	// maxCredentials bounds an Authorization header, in bytes, so that nobody
	// makes the server decode more than that before a signature is checked.
	maxCredentials = 8 << 10

	// maxDate bounds a NumericDate, in seconds from 1970 either way: as far as
	// JSON numbers count exactly (RFC 8259, section 6). Not much further off,
	// time.Time overflows, and an nbf at the end of days reads as the past.
	maxDate = 1 << 53
)

// Config says which tokens are accepted. At most one of Secret, PublicKey and JWKSURL is
// set, or else OIDC is; with both, tokens of either are accepted.
type Config struct {
	Logger *slog.Logger // nil: nothing is logged

	Secret    []byte           // for HS256, at least 32 bytes
	PublicKey crypto.PublicKey // as ParsePublicKey returns it; RS256, ES256 or EdDSA follows from its type
	JWKSURL   string           // of a JWK Set (RFC 7517, section 5); a changed answer can make tokens valid, so use https

	Issuer   string // what a token must have in iss; not checked where empty
	Audience string // what a token must have in aud; not checked where empty

	OIDC OIDC // an OpenID provider, if its Issuer is set

	// Scoped says that a token allows only what its scopes name (see
	// model.Principal); else a valid token allows everything.
	Scoped bool
}

// Verifier verifies tokens. It is safe for concurrent use.
type Verifier struct {
	log      *slog.Logger
	issuers  []*issuer // first the OpenID provider
	provider *provider // nil where there is none
	scoped   bool

	verified *verifiedTokens
}

// issuer is who signs tokens, and how these are checked.
type issuer struct {
	name   string // in iss; empty where only one is known, or it has no name
	parser *jwt.Parser
	key    jwt.Keyfunc
	keys   *keySet // nil where the key was given
}

// current returns the keys of now, nil where the key was given.
func (i *issuer) current() *[]setKey {
	if i.keys == nil {
		return nil
	}
	return i.keys.keys.Load()
}

// New returns a Verifier for cfg, or an error that says what is wrong with cfg.
//
// With a JWKSURL or an OpenID provider it asks for the keys at once, for 5 seconds at
// most, and then refreshes them until ctx is done. An endpoint that is away is no error:
// New logs a warning, and tokens are not accepted until it answers.
func New(ctx context.Context, cfg Config) (*Verifier, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	keys := 0
	for _, set := range []bool{len(cfg.Secret) > 0, cfg.PublicKey != nil, cfg.JWKSURL != ""} {
		if set {
			keys++
		}
	}
	if keys > 1 || keys == 0 && cfg.OIDC.Issuer == "" {
		return nil, fmt.Errorf("tokens need exactly one of a secret, a public key and a JWKS URL to be checked with, or an OpenID provider, and %d are given", keys)
	}
	v := &Verifier{log: cfg.Logger, scoped: cfg.Scoped}
	if cfg.OIDC.Issuer != "" {
		named, provider, err := newProvider(ctx, cfg.OIDC, http.DefaultTransport, cfg.Logger)
		if err != nil {
			return nil, err
		}
		v.issuers, v.provider = append(v.issuers, named), provider
	}
	if keys > 0 {
		given, err := newIssuer(ctx, cfg)
		if err != nil {
			return nil, err
		}
		v.issuers = append(v.issuers, given)
	}
	var err error
	v.verified, err = newVerifiedTokens()
	return v, err
}

// newIssuer returns the issuer whose key, or the address of whose keys, is configured.
func newIssuer(ctx context.Context, cfg Config) (*issuer, error) {
	switch {
	case cfg.PublicKey != nil:
		method, err := methodFor(cfg.PublicKey)
		if err != nil {
			return nil, fmt.Errorf("the public key for tokens cannot be used: %w", err)
		}
		return &issuer{parser: newParser(cfg.Issuer, cfg.Audience, method), key: fixed(cfg.PublicKey)}, nil
	case cfg.JWKSURL != "":
		keys, err := newKeySet(ctx, cfg.JWKSURL, http.DefaultTransport, cfg.Logger)
		if err != nil {
			return nil, err
		}
		return &issuer{parser: newParser(cfg.Issuer, cfg.Audience, keyMethods...), key: keys.lookup, keys: keys}, nil
	}
	if err := CheckSecret(cfg.Secret); err != nil {
		return nil, err
	}
	return &issuer{parser: newParser(cfg.Issuer, cfg.Audience, jwt.SigningMethodHS256.Alg()), key: fixed(cfg.Secret)}, nil
}

// newParser takes the methods beside the key: were alg alone to choose, a public key
// could be passed off as an HMAC secret (RFC 8725, section 2.1).
func newParser(iss, aud string, methods ...string) *jwt.Parser {
	options := []jwt.ParserOption{
		jwt.WithValidMethods(methods),
		jwt.WithExpirationRequired(),
		jwt.WithIssuedAt(),
		jwt.WithLeeway(leeway),
		jwt.WithStrictDecoding(),
	}
	if iss != "" {
		options = append(options, jwt.WithIssuer(iss))
	}
	if aud != "" {
		options = append(options, jwt.WithAudience(aud))
	}
	return jwt.NewParser(options...)
}

// fixed is the key for every token, whatever kid, jwk, jku or x5u it names: a
// token does not choose what it is checked with.
func fixed(key any) jwt.Keyfunc {
	return func(*jwt.Token) (any, error) { return key, nil }
}

// refuseExtensions stands before the choice of the key, because a header whose
// extensions are not understood voids the token (RFC 7515, section 4.1.11). b64
// changes what is signed, and is not for tokens (RFC 7797, section 7).
func refuseExtensions(next jwt.Keyfunc) jwt.Keyfunc {
	return func(t *jwt.Token) (any, error) {
		for _, name := range []string{"crit", "b64"} {
			if _, has := t.Header[name]; has {
				return nil, fmt.Errorf("the header has %s, and no extension is supported", name)
			}
		}
		return next(t)
	}
}

// Verify returns the holder of token, which is a JWS in compact form (RFC 7515,
// section 3.1). The subject is empty where the token has none. The error is a
// *model.TokenError, from whose message nobody learns how to forge: only of a token
// that was valid it says more than that it is not. What was wrong is its cause, and
// is logged at debug level.
func (v *Verifier) Verify(ctx context.Context, token string) (model.Principal, error) {
	if holder, ok := v.verified.find(token); ok {
		return holder, nil
	}
	found, err := v.verify(token)
	if err != nil {
		return model.Principal{}, v.refuse(ctx, err)
	}
	v.verified.add(token, found)
	return found.holder, nil
}

// verify checks a token.
func (v *Verifier) verify(token string) (verdict, error) {
	if len(token) > maxCredentials {
		return verdict{}, fmt.Errorf("the token has %d bytes", len(token))
	}
	// Go's base64 skips line breaks, even in strict mode: a token would have
	// many spellings.
	if strings.ContainsAny(token, "\r\n") {
		return verdict{}, errors.New("a line break in the token")
	}
	from := v.issuerOf(token)
	keys := from.current() // before the token is checked with them
	claims, err := from.claims(token)
	if err != nil {
		return verdict{}, err
	}
	subject, err := claims.GetSubject()
	if err != nil {
		return verdict{}, err
	}
	end, err := claims.GetExpirationTime()
	if err != nil {
		return verdict{}, err
	}
	holder := model.Principal{Subject: subject, Expires: end.Time, Scoped: v.scoped, Scopes: scopes(claims)}
	return verdict{holder, end.Add(leeway), from, keys}, nil
}

// issuerOf returns the issuer that a token names, and else the last one, which need
// have no name. What the token says is still to be checked.
func (v *Verifier) issuerOf(token string) *issuer {
	last := v.issuers[len(v.issuers)-1]
	if last == v.issuers[0] {
		return last
	}
	claims := jwt.MapClaims{}
	if _, _, err := last.parser.ParseUnverified(token, claims); err == nil && claims["iss"] == v.issuers[0].name {
		return v.issuers[0]
	}
	return last
}

// claims takes the claims as a map because that is the strict way: a struct
// would match names in any case and take "1700000000" in quotes for a date.
func (i *issuer) claims(token string) (jwt.MapClaims, error) {
	claims := jwt.MapClaims{}
	if _, err := i.parser.ParseWithClaims(token, claims, refuseExtensions(i.key)); err != nil {
		return nil, err
	}
	for _, name := range []string{"exp", "nbf", "iat"} {
		if seconds, ok := claims[name].(float64); ok && math.Abs(seconds) > maxDate {
			return nil, fmt.Errorf("%s is not a date: %g", name, seconds)
		}
	}
	return claims, nil
}

// scopes returns the scopes of a token, with spaces between: those in scope, as RFC
// 9068, section 2.2.3, writes them, and those in scp and permissions, where some
// issuers put a list of them.
func scopes(claims jwt.MapClaims) string {
	var all []string
	for _, name := range []string{"scope", "scp", "permissions"} {
		switch claim := claims[name].(type) {
		case string:
			all = append(all, claim)
		case []any:
			for _, scope := range claim {
				if text, ok := scope.(string); ok && !strings.ContainsRune(text, ' ') {
					all = append(all, text)
				}
			}
		}
	}
	return strings.Join(all, " ")
}

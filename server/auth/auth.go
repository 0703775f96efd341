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

// Config says which tokens are accepted. Exactly one of Secret, PublicKey and
// JWKSURL is set.
type Config struct {
	Logger *slog.Logger // nil: nothing is logged

	Secret    []byte           // for HS256, at least 32 bytes
	PublicKey crypto.PublicKey // as ParsePublicKey returns it; RS256, ES256 or EdDSA follows from its type
	JWKSURL   string           // of a JWK Set (RFC 7517, section 5); a changed answer can make tokens valid, so use https

	Issuer   string // what a token must have in iss; not checked where empty
	Audience string // what a token must have in aud; not checked where empty

	// Scoped says that a token allows only what its scopes name (see
	// model.Principal); else a valid token allows everything.
	Scoped bool
}

// Verifier verifies tokens. It is safe for concurrent use.
type Verifier struct {
	log    *slog.Logger
	parser *jwt.Parser
	key    jwt.Keyfunc
	keys   *keySet // nil where the key was given
	scoped bool

	verified *verifiedTokens
}

// New returns a Verifier for cfg, or an error that says what is wrong with cfg.
//
// With a JWKSURL it asks for the keys at once, for 5 seconds at most, and then
// refreshes them until ctx is done. An endpoint that is away is no error: New
// logs a warning, and tokens are refused until it answers.
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
	if keys != 1 {
		return nil, fmt.Errorf("tokens need exactly one of a secret, a public key and a JWKS URL to be checked with, and %d are given", keys)
	}

	switch {
	case cfg.PublicKey != nil:
		method, err := methodFor(cfg.PublicKey)
		if err != nil {
			return nil, fmt.Errorf("the public key for tokens cannot be used: %w", err)
		}
		return newVerifier(cfg, fixed(cfg.PublicKey), method)
	case cfg.JWKSURL != "":
		keys, err := newKeySet(ctx, cfg.JWKSURL, http.DefaultTransport, cfg.Logger)
		if err != nil {
			return nil, err
		}
		v, err := newVerifier(cfg, keys.lookup, keyMethods...)
		if err != nil {
			return nil, err
		}
		v.keys = keys
		return v, nil
	}
	if err := CheckSecret(cfg.Secret); err != nil {
		return nil, err
	}
	return newVerifier(cfg, fixed(cfg.Secret), jwt.SigningMethodHS256.Alg())
}

// newVerifier takes the methods beside the key: were alg alone to choose, a
// public key could be passed off as an HMAC secret (RFC 8725, section 2.1).
func newVerifier(cfg Config, key jwt.Keyfunc, methods ...string) (*Verifier, error) {
	options := []jwt.ParserOption{
		jwt.WithValidMethods(methods),
		jwt.WithExpirationRequired(),
		jwt.WithIssuedAt(),
		jwt.WithLeeway(leeway),
		jwt.WithStrictDecoding(),
	}
	if cfg.Issuer != "" {
		options = append(options, jwt.WithIssuer(cfg.Issuer))
	}
	if cfg.Audience != "" {
		options = append(options, jwt.WithAudience(cfg.Audience))
	}
	verified, err := newVerifiedTokens()
	if err != nil {
		return nil, err
	}
	return &Verifier{log: cfg.Logger, parser: jwt.NewParser(options...), key: refuseExtensions(key), scoped: cfg.Scoped, verified: verified}, nil
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
	var keys *[]setKey // read before the token is checked with them
	if v.keys != nil {
		keys = v.keys.keys.Load()
	}
	if holder, ok := v.verified.find(token, keys); ok {
		return holder, nil
	}
	holder, err := v.holder(token)
	if err != nil {
		return model.Principal{}, v.refuse(ctx, err)
	}
	v.verified.add(token, verdict{holder, holder.Expires.Add(leeway), keys})
	return holder, nil
}

// holder checks a token.
func (v *Verifier) holder(token string) (model.Principal, error) {
	claims, err := v.claims(token)
	if err != nil {
		return model.Principal{}, err
	}
	subject, err := claims.GetSubject()
	if err != nil {
		return model.Principal{}, err
	}
	end, err := claims.GetExpirationTime()
	if err != nil {
		return model.Principal{}, err
	}
	return model.Principal{Subject: subject, Expires: end.Time, Scoped: v.scoped, Scopes: scopes(claims)}, nil
}

// claims takes the claims as a map because that is the strict way: a struct
// would match names in any case and take "1700000000" in quotes for a date.
func (v *Verifier) claims(token string) (jwt.MapClaims, error) {
	if len(token) > maxCredentials {
		return nil, fmt.Errorf("the token has %d bytes", len(token))
	}
	// Go's base64 skips line breaks, even in strict mode: a token would have
	// many spellings.
	if strings.ContainsAny(token, "\r\n") {
		return nil, errors.New("a line break in the token")
	}
	claims := jwt.MapClaims{}
	if _, err := v.parser.ParseWithClaims(token, claims, v.key); err != nil {
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

// Sign returns an HS256 token for subject that is valid from now for ttl, in
// whole seconds, with the given scopes. Empty subject, issuer and audience, and
// no scopes, are left out. The error says that the secret is too short, that ttl
// is less than a second, or that a scope is none (RFC 6749, section 3.3).
func Sign(secret []byte, subject, issuer, audience string, ttl time.Duration, now time.Time, scopes ...string) (string, error) {
	if err := CheckSecret(secret); err != nil {
		return "", err
	}
	if ttl < time.Second {
		return "", fmt.Errorf("a token must be valid for at least a second, and not for %v", ttl)
	}
	for _, scope := range scopes {
		if scope == "" || strings.ContainsFunc(scope, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' }) {
			return "", fmt.Errorf("%q is no scope: write it like books:create", scope)
		}
	}
	claims := struct {
		jwt.RegisteredClaims
		Scope string `json:"scope,omitempty"`
	}{jwt.RegisteredClaims{
		Subject:   subject,
		Issuer:    issuer,
		IssuedAt:  jwt.NewNumericDate(now),
		ExpiresAt: jwt.NewNumericDate(now.Add(ttl)),
	}, strings.Join(scopes, " ")}
	if audience != "" {
		claims.Audience = jwt.ClaimStrings{audience}
	}
	return jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(secret)
}

// Package auth authenticates requests. It verifies JSON Web Tokens (RFC 7519) in Bearer credentials (RFC 6750) and
// manages the keys for them.
//
// The package refuses no request. A request without a valid token continues without a caller; if its token is invalid,
// the context has a model.TokenError. Resolvers call model.Authorise. So the package must not depend on routes, GraphQL
// or envelopes.
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

	"github.com/golang-jwt/jwt/v5"

	"library-catalogue/graph/model"
)

const (
	// maxCredentialBytes is the maximum size of an Authorization header. It limits the work before a signature is
	// checked.
	maxCredentialBytes = 8 << 10

	// maxDateSeconds is the maximum absolute NumericDate: the largest integer that JSON numbers hold exactly (RFC 8259,
	// section 6). A larger nbf could overflow time.Time and look like a time in the past.
	maxDateSeconds = 1 << 53
)

// Config configures a Verifier. At most one of Secret, PublicKey and JWKSURL is set. OIDC is set alone or in addition;
// then tokens of both are valid. One of the four is required, or Accounts, which may be added to each.
type Config struct {
	Logger *slog.Logger // nil: no log

	Secret    []byte           // for HS256, at least 32 bytes
	PublicKey crypto.PublicKey // from ParsePublicKey; its type determines RS256, ES256 or EdDSA
	JWKSURL   string           // JWK Set (RFC 7517, section 5); use https, because its keys make tokens valid

	Issuer   string // required iss; empty: any
	Audience string // required aud; empty: any

	OIDC OIDC // OpenID provider; no Issuer: none

	Accounts Accounts // nil: none

	// Scoped limits a token to its scopes (see model.Caller). Else a valid token allows everything.
	Scoped bool
}

// Verifier verifies tokens. It is safe for concurrent use.
type Verifier struct {
	log      *slog.Logger
	issuers  []*issuer // first the OpenID provider
	provider *provider // nil: none
	scoped   bool
	accounts Accounts // nil: none

	verified *verifiedTokens
}

// issuer verifies the tokens of one issuer.
type issuer struct {
	name   string // iss of its tokens; empty if there is only one issuer, or its name is unknown
	parser *jwt.Parser
	key    jwt.Keyfunc
	keys   *keySet // nil: one fixed key
}

// currentKeys returns the current keys, or nil for a fixed key.
func (i *issuer) currentKeys() *[]setKey {
	if i.keys == nil {
		return nil
	}
	return i.keys.keys.Load()
}

// New returns a Verifier, or an error if cfg is invalid.
//
// With a JWKSURL or an OpenID provider New fetches the keys, within 5 seconds, and refreshes them until ctx is done.
// An unreachable endpoint is not an error: New logs a warning, and its tokens are refused until it responds.
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
	if keys > 1 || keys == 0 && cfg.OIDC.Issuer == "" && cfg.Accounts == nil {
		return nil, fmt.Errorf("set exactly one of a secret, a public key and a JWKS URL to verify tokens, or an "+
			"OpenID provider; %d are set", keys)
	}
	v := &Verifier{log: cfg.Logger, scoped: cfg.Scoped, accounts: cfg.Accounts}
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
	v.verified = newVerifiedTokens()
	return v, nil
}

// newIssuer returns the issuer with the configured key or JWKS URL.
func newIssuer(ctx context.Context, cfg Config) (*issuer, error) {
	switch {
	case cfg.PublicKey != nil:
		method, err := methodFor(cfg.PublicKey)
		if err != nil {
			return nil, fmt.Errorf("using the public key for tokens: %w", err)
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
	return &issuer{parser: newParser(cfg.Issuer, cfg.Audience, jwt.SigningMethodHS256.Alg()),
		key: fixed(cfg.Secret)}, nil
}

// newParser returns a parser for tokens with one of the methods. The key determines the methods, because a token's alg
// could pass a public key off as an HMAC secret (RFC 8725, section 2.1).
func newParser(iss, aud string, methods ...string) *jwt.Parser {
	options := []jwt.ParserOption{
		jwt.WithValidMethods(methods),
		jwt.WithExpirationRequired(),
		jwt.WithIssuedAt(),
		jwt.WithLeeway(model.TokenLeeway),
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

// fixed returns the same key for every token. It ignores kid, jwk, jku and x5u, because a token must not choose its
// key.
func fixed(key any) jwt.Keyfunc {
	return func(*jwt.Token) (any, error) { return key, nil }
}

// refuseExtensions refuses tokens with the header crit or b64, and calls next for others. Unknown critical extensions
// make a token invalid (RFC 7515, section 4.1.11), and tokens must not use b64 (RFC 7797, section 7).
func refuseExtensions(next jwt.Keyfunc) jwt.Keyfunc {
	return func(t *jwt.Token) (any, error) {
		for _, name := range []string{"crit", "b64"} {
			if _, has := t.Header[name]; has {
				return nil, fmt.Errorf("unsupported extension in the header: %s", name)
			}
		}
		return next(t)
	}
}

// Verify returns the caller who holds token, a JWS in compact form (RFC 7515, section 3.1). The subject may be empty.
// The error is a *model.TokenError. Its message says only that the token is expired, invalid or not verifiable now,
// so that it does not help to forge one. Its cause has the details and is logged at debug level.
func (v *Verifier) Verify(ctx context.Context, token string) (model.Caller, error) {
	caller, err := v.callerOf(ctx, token)
	if err != nil {
		return model.Caller{}, v.refuse(ctx, err)
	}
	return caller, nil
}

func (v *Verifier) callerOf(ctx context.Context, token string) (model.Caller, error) {
	if v.accounts != nil && strings.HasPrefix(token, accountToken) {
		return looked(v.accounts.Token(ctx, token))
	}
	found, cached := v.verified.find(token)
	if !cached {
		var err error
		if found, err = v.verify(ctx, token); err != nil {
			return model.Caller{}, err
		}
		v.verified.add(token, found)
	}
	if found.sid != "" { // its session may have ended since
		return looked(v.accounts.Session(ctx, found.sid))
	}
	return found.caller, nil
}

// verify verifies a token without the cache.
func (v *Verifier) verify(ctx context.Context, token string) (verifiedToken, error) {
	if len(token) > maxCredentialBytes {
		return verifiedToken{}, fmt.Errorf("the token has %d bytes", len(token))
	}
	// Go's base64 ignores line breaks even in strict mode, so a token would have many spellings.
	if strings.ContainsAny(token, "\r\n") {
		return verifiedToken{}, errors.New("a line break in the token")
	}
	named := claimedIssuer(token)
	switch isLogin := strings.HasPrefix(named, accountIssuer); {
	case isLogin && v.accounts != nil:
		return v.verifyLogin(ctx, token)
	case isLogin || len(v.issuers) == 0:
		return verifiedToken{}, jwt.ErrTokenInvalidIssuer
	}
	issuer := v.issuers[len(v.issuers)-1] // which may have no name
	if named == v.issuers[0].name {
		issuer = v.issuers[0]
	}
	keys := issuer.currentKeys() // before claims uses them
	claims, err := issuer.claims(token)
	if err != nil {
		return verifiedToken{}, err
	}
	subject, err := claims.GetSubject()
	if err != nil {
		return verifiedToken{}, err
	}
	expires, err := claims.GetExpirationTime()
	if err != nil {
		return verifiedToken{}, err
	}
	if model.LooksLikeAccount(subject) {
		return verifiedToken{}, errors.New("the subject has the form of an account of this service")
	}
	iss, err := claims.GetIssuer()
	if err != nil {
		return verifiedToken{}, err
	}
	caller := model.Caller{
		Issuer: iss, Subject: subject, Expires: expires.Time, Scoped: v.scoped, Scopes: scopes(claims),
	}
	return verifiedToken{caller, issuer, keys, ""}, nil
}

// claimedIssuer returns the iss of a token, or "" if there is none. It does not verify the token.
func claimedIssuer(token string) string {
	claims := jwt.MapClaims{}
	if _, _, err := jwt.NewParser().ParseUnverified(token, claims); err != nil {
		return ""
	}
	iss, _ := claims["iss"].(string)
	return iss
}

// claims verifies a token and returns its claims. They are a map, because a struct would match names in any case and
// accept a quoted "1700000000" as a date.
func (i *issuer) claims(token string) (jwt.MapClaims, error) {
	claims := jwt.MapClaims{}
	if _, err := i.parser.ParseWithClaims(token, claims, refuseExtensions(i.key)); err != nil {
		return nil, err
	}
	for _, name := range []string{"exp", "nbf", "iat"} {
		if seconds, ok := claims[name].(float64); ok && math.Abs(seconds) > maxDateSeconds {
			return nil, fmt.Errorf("%s is not a date: %g", name, seconds)
		}
	}
	return claims, nil
}

// scopes returns the scopes of a token, separated by spaces. It reads the claim scope (RFC 9068, section 2.2.3), and
// scp and permissions, which some issuers use for a list.
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

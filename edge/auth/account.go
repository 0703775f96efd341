package auth

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/golang-jwt/jwt/v5"

	"library-catalogue/graph/model"
)

// Accounts looks up the credentials of the service's own accounts. A look-up may be a second old.
type Accounts interface {
	// Key returns the public key of login tokens with an issuer and an id, or nil if this service has none.
	Key(ctx context.Context, issuer, kid string) (ed25519.PublicKey, error)
	// Session returns the caller of a session by the sid of a login token, Token by an own token of an account, and
	// Cookie by the value of a cookie. ok is false if there is none.
	Session(ctx context.Context, sid string) (caller model.Caller, ok bool, err error)
	Token(ctx context.Context, token string) (caller model.Caller, ok bool, err error)
	Cookie(ctx context.Context, secret string) (caller model.Caller, ok bool, err error)
}

const (
	// accountIssuer begins the iss of login tokens. No other key is accepted for such an issuer.
	accountIssuer = "catalogue:"
	// accountToken begins the own tokens of accounts.
	accountToken = "cat_"
)

var (
	// errSession is the cause of a refused session or own token.
	errSession = errors.New("the session or the token is unknown, revoked or expired")
	// errUnchecked is the cause of a session or own token that could not be looked up.
	errUnchecked = errors.New("looking up the session or the token failed")
)

// looked returns the result of a look-up.
func looked(caller model.Caller, ok bool, err error) (model.Caller, error) {
	switch {
	case err != nil:
		return model.Caller{}, fmt.Errorf("%w: %w", errUnchecked, err)
	case !ok:
		return model.Caller{}, errSession
	}
	return caller, nil
}

// verifyLogin verifies a login token without its session.
func (v *Verifier) verifyLogin(ctx context.Context, token string) (verifiedToken, error) {
	own := &issuer{parser: newParser("", "", jwt.SigningMethodEdDSA.Alg())}
	own.key = func(t *jwt.Token) (any, error) {
		kid, _ := t.Header["kid"].(string)
		name, _ := t.Claims.(jwt.MapClaims)["iss"].(string)
		key, err := v.accounts.Key(ctx, name, kid)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%w: %w", errUnchecked, err)
		case key == nil:
			return nil, fmt.Errorf("unknown key %.20q of the issuer %.50q", kid, name)
		}
		return key, nil
	}
	claims, err := own.claims(token)
	if err != nil {
		return verifiedToken{}, err
	}
	sid, _ := claims["sid"].(string)
	expires, err := claims.GetExpirationTime()
	if err != nil || sid == "" {
		return verifiedToken{}, errors.Join(err, errors.New("the login token has no session"))
	}
	return verifiedToken{model.Caller{Expires: expires.Time}, own, nil, sid}, nil
}

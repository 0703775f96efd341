package auth

import (
	"errors"

	"github.com/golang-jwt/jwt/v5"

	"library-catalogue/graph/model"
)

// Check reports whether there are keys that tokens can be checked with. Whether
// they are those that the issuer signs with, only refused tokens tell.
func (v *Verifier) Check() model.Check {
	check := model.Check{Name: "token_keys", Status: model.Pass}
	if v.keys == nil {
		return check
	}
	none := len(*v.keys.keys.Load()) == 0
	failure := v.keys.failed.Load()
	if failure != nil {
		check.Status, check.Err = model.Warn, *failure
		check.Output = "The keys for tokens could not be refreshed; those known before still hold."
	}
	if none {
		check.Status = model.Fail
		check.Output = "There is no key to check tokens with: the JWKS endpoint gives none that can be used. Every write is refused."
	}
	return check
}

// The reasons for which a token is refused, in a word each.
var reasons = []struct {
	err  error
	word string
}{
	{jwt.ErrTokenMalformed, "malformed"},
	{jwt.ErrTokenUnverifiable, "unknown_key"},
	{jwt.ErrTokenSignatureInvalid, "signature"},
	{jwt.ErrTokenExpired, "expired"},
	{jwt.ErrTokenNotValidYet, "not_yet_valid"},
	{jwt.ErrTokenUsedBeforeIssued, "not_yet_valid"},
	{jwt.ErrTokenInvalidIssuer, "issuer"},
	{jwt.ErrTokenInvalidAudience, "audience"},
}

// reasonOf returns why a token is refused: one of few words.
func reasonOf(cause error) string {
	for _, reason := range reasons {
		if errors.Is(cause, reason.err) {
			return reason.word
		}
	}
	return "malformed"
}

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
	without := 0
	for _, i := range v.issuers {
		if i.keys == nil {
			continue
		}
		if failure := i.keys.failed.Load(); failure != nil {
			check.Status, check.Err = model.Warn, *failure
			check.Output = "The keys for tokens could not be refreshed; those known before still hold."
		}
		if len(*i.current()) == 0 {
			without++
		}
	}
	switch {
	case without == len(v.issuers):
		check.Status = model.Fail
		check.Output = "There is no key to check tokens with: the issuer gives none that can be used. Every write is refused."
	case without > 0:
		check.Status = model.Warn
		check.Output = "There is no key to check the tokens of one issuer with: it gives none that can be used. These tokens are refused."
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

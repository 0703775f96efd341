package auth

import (
	"errors"

	"github.com/golang-jwt/jwt/v5"

	"library-catalogue/graph/model"
)

// Check reports whether there are keys to verify tokens. It cannot report whether these are the issuer's current keys.
func (v *Verifier) Check() model.Check {
	check := model.Check{Name: "token_keys", Status: model.Pass}
	withoutKeys := 0
	for _, i := range v.issuers {
		if i.keys == nil {
			continue
		}
		if failure := i.keys.failed.Load(); failure != nil {
			check.Status, check.Err = model.Warn, *failure
			check.Output = "Refreshing the keys for tokens failed. The previous keys are still in use."
		}
		if len(*i.currentKeys()) == 0 {
			withoutKeys++
		}
	}
	switch {
	case withoutKeys == len(v.issuers) && v.accounts == nil:
		check.Status = model.Fail
		check.Output = "No usable key to verify tokens was received from the issuer. All writes are refused."
	case withoutKeys > 0:
		check.Status = model.Warn
		check.Output = "No usable key was received from one of the issuers. Its tokens are refused."
	}
	return check
}

// reasons are the values of the metric label reason.
var reasons = []struct {
	err    error
	reason string
}{
	{errSession, "session"},
	{errUnchecked, "unchecked"},
	{jwt.ErrTokenMalformed, "malformed"},
	{jwt.ErrTokenUnverifiable, "unknown_key"},
	{jwt.ErrTokenSignatureInvalid, "signature"},
	{jwt.ErrTokenExpired, "expired"},
	{jwt.ErrTokenNotValidYet, "not_yet_valid"},
	{jwt.ErrTokenUsedBeforeIssued, "not_yet_valid"},
	{jwt.ErrTokenInvalidIssuer, "issuer"},
	{jwt.ErrTokenInvalidAudience, "audience"},
}

// reasonOf returns the metric label for the cause of a refusal.
func reasonOf(cause error) string {
	for _, r := range reasons {
		if errors.Is(cause, r.err) {
			return r.reason
		}
	}
	return "malformed"
}

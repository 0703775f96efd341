package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"library-catalogue/graph/model"
	"library-catalogue/server/telemetry"
)

// Middleware runs next with the principal (model.WithPrincipal) where r has a
// valid Bearer token (RFC 6750, section 2.1), and without one where it has none:
// reading is open to all, and what writes refuses. Where r has another Authorization
// header, the answer says so in WWW-Authenticate, and next is told
// (model.WithTokenError).
func (v *Verifier) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers := r.Header["Authorization"]
		if len(headers) == 0 {
			next.ServeHTTP(w, r)
			return
		}
		ctx := r.Context()
		if p, err := v.principal(ctx, headers); err == nil {
			ctx = model.WithPrincipal(ctx, p)
		} else if refused, ok := errors.AsType[*model.TokenError](err); ok {
			if refused.Code != model.TokenUnchecked {
				w.Header()["Www-Authenticate"] = []string{`Bearer error="invalid_token", error_description="` + refused.Message + `"`} // RFC 6750, section 3
			}
			ctx = model.WithTokenError(ctx, refused)
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

func (v *Verifier) principal(ctx context.Context, headers []string) (model.Principal, error) {
	token, err := bearer(headers)
	if err != nil {
		return model.Principal{}, v.refuse(ctx, err)
	}
	return v.Verify(ctx, token)
}

// refuse returns what is said of a token that is not accepted, and logs why. No cause
// quotes the token, which another server may accept.
func (v *Verifier) refuse(ctx context.Context, cause error) *model.TokenError {
	reason := reasonOf(cause)
	telemetry.RequestOf(ctx).TokenRefusal = reason
	v.log.DebugContext(ctx, "token refused", "cause", cause)
	switch {
	case errors.Is(cause, errNoKeys):
		return &model.TokenError{Code: model.TokenUnchecked, Message: "Tokens cannot be checked at the moment, since the keys of their issuer cannot be had. Try again later.", Err: cause}
	case reason == "expired":
		return &model.TokenError{Code: model.TokenExpired, Message: "The token has expired. Get a new one.", Err: cause}
	}
	return &model.TokenError{Code: model.TokenInvalid, Message: "The token is not valid. Send one of the issuer that this service trusts: Authorization: Bearer TOKEN.", Err: cause}
}

// bearer returns the token in a request's Authorization headers. Of two headers
// it takes none: a proxy may have checked the one and not the other.
func bearer(headers []string) (string, error) {
	if len(headers) > 1 {
		return "", fmt.Errorf("%d Authorization headers", len(headers))
	}
	if len(headers[0]) > maxCredentials {
		return "", fmt.Errorf("an Authorization header of %d bytes", len(headers[0]))
	}
	// The scheme is case-insensitive, and one space or more follow it (RFC
	// 9110, sections 11.1 and 11.4).
	scheme, token, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", errors.New("an Authorization header whose scheme is not Bearer")
	}
	return strings.TrimLeft(token, " "), nil
}

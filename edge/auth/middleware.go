package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/model"
)

// Middleware calls next with the caller of a valid Bearer token (model.WithCaller; RFC 6750, section 2.1), or
// without one if the request has no Authorization header. For any other header it sets WWW-Authenticate and calls
// next with model.WithTokenError.
func (v *Verifier) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers := r.Header["Authorization"]
		if len(headers) == 0 {
			next.ServeHTTP(w, r)
			return
		}
		ctx := r.Context()
		if caller, err := v.bearer(ctx, headers); err == nil {
			ctx = withCaller(ctx, caller, func(ctx context.Context) (model.Caller, error) {
				token, _ := bearerToken(headers) // accepted before
				return v.callerOf(ctx, token)    // does not write to the record of the request
			})
		} else if refused, ok := errors.AsType[*model.TokenError](err); ok {
			if refused.Code != model.TokenUnchecked {
				// RFC 6750, section 3
				w.Header()["Www-Authenticate"] = []string{`Bearer error="invalid_token", error_description="` +
					refused.Message + `"`}
			}
			ctx = model.WithTokenError(ctx, refused)
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// withCaller returns a context with a caller. again looks the session or token of an account up again.
func withCaller(
	ctx context.Context, caller model.Caller, again func(context.Context) (model.Caller, error),
) context.Context {
	ctx = model.WithCaller(ctx, caller)
	if caller.Account == nil {
		return ctx
	}
	return model.WithStillValid(ctx, func(ctx context.Context) bool {
		_, err := again(ctx)
		return err == nil || errors.Is(err, errUnchecked) // TokenError unwraps to it
	})
}

// bearer returns the caller of a request with these Authorization headers.
func (v *Verifier) bearer(ctx context.Context, headers []string) (model.Caller, error) {
	token, err := bearerToken(headers)
	if err != nil {
		return model.Caller{}, v.refuse(ctx, err)
	}
	return v.Verify(ctx, token)
}

// refuse logs the cause of a refused token and returns the error for the client. The cause must not quote the token,
// because another server may accept it.
func (v *Verifier) refuse(ctx context.Context, cause error) *model.TokenError {
	reason := reasonOf(cause)
	telemetry.RequestOf(ctx).TokenRefusal = reason
	v.log.DebugContext(ctx, "token refused", "cause", cause)
	refused := &model.TokenError{Err: cause}
	switch {
	case errors.Is(cause, errUnchecked):
		refused.Code = model.TokenUnchecked
		refused.Message = "The token cannot be verified at the moment, because the database does not answer. " +
			"Try again later."
	case errors.Is(cause, errNoKeys):
		refused.Code = model.TokenUnchecked
		refused.Message = "The token cannot be verified at the moment, because the issuer's keys are not available. " +
			"Try again later."
	case reason == "expired":
		refused.Code, refused.Message = model.TokenExpired, "The token has expired. Get a new one."
	default:
		refused.Code = model.TokenInvalid
		refused.Message = "The token is not valid. Use a token from a trusted issuer: Authorization: Bearer TOKEN."
	}
	return refused
}

// bearerToken returns the token in a request's Authorization headers. It refuses several headers, because a proxy may
// have checked only one of them.
func bearerToken(headers []string) (string, error) {
	if len(headers) > 1 {
		return "", fmt.Errorf("the request has %d Authorization headers", len(headers))
	}
	if len(headers[0]) > maxCredentialBytes {
		return "", fmt.Errorf("the Authorization header has %d bytes", len(headers[0]))
	}
	// The scheme is case-insensitive; one or more spaces follow it (RFC 9110, sections 11.1 and 11.4).
	scheme, token, _ := strings.Cut(headers[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return "", errors.New("the scheme of the Authorization header is not Bearer")
	}
	return strings.TrimLeft(token, " "), nil
}

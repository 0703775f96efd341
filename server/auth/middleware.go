package auth

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"library-catalogue/graph/model"
)

// Middleware runs next with the principal (model.WithPrincipal) where r has a
// valid Bearer token (RFC 6750, section 2.1), and without one where it has
// none or an invalid one: reading is open to all, and what writes refuses.
func (v *Verifier) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p, ok := v.principal(r); ok {
			r = r.WithContext(model.WithPrincipal(r.Context(), p))
		}
		next.ServeHTTP(w, r)
	})
}

func (v *Verifier) principal(r *http.Request) (model.Principal, bool) {
	headers := r.Header.Values("Authorization")
	if len(headers) == 0 {
		return model.Principal{}, false
	}
	token, err := bearer(headers)
	if err != nil {
		v.logRefusal(r.Context(), err)
		return model.Principal{}, false
	}
	p, err := v.Verify(r.Context(), token)
	return p, err == nil
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

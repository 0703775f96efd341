package server

import (
	"context"
	"net/http"
	"time"

	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/model"
)

// requireValidToken refuses requests with an invalid token, if required is true. Requests without a token pass.
func requireValidToken(required bool) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := model.CallerOf(r.Context()); required && model.TokenErrorOf(r.Context()) != nil {
				refuse(w, r, err)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// withDeadline limits the work on a request.
func withDeadline(timeout time.Duration) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), timeout)
			defer cancel()
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}

// recordRoute records the route of a request, for metrics.
func recordRoute(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { // also after a panic
			if r.Pattern != "" {
				telemetry.RequestOf(r.Context()).Operation.Store(&telemetry.Operation{Label: r.Pattern})
			}
		}()
		next.ServeHTTP(w, r)
	})
}

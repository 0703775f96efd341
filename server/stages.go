package server

import (
	"context"
	"net/http"
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/server/telemetry"
)

// requireValidToken refuses requests with a token that is not accepted, if that is
// required. Requests without a token pass.
func requireValidToken(required bool) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, err := model.Caller(r.Context()); required && model.TokenErrorOf(r.Context()) != nil {
				refuse(w, r, err)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// withDeadline bounds the work on a request.
func withDeadline(timeout time.Duration) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), timeout)
			defer cancel()
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}

// except returns a stage that requests pass of which exempt reports false.
func except(exempt func(*http.Request) bool, stage middleware) middleware {
	return func(next http.Handler) http.Handler {
		staged := stage(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if exempt(r) {
				next.ServeHTTP(w, r)
			} else {
				staged.ServeHTTP(w, r)
			}
		})
	}
}

// recordRoute notes the route that answers a request, for metrics.
func recordRoute(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { // a panic too has a route
			if r.Pattern != "" {
				telemetry.RequestOf(r.Context()).SetOperation(&telemetry.Operation{Label: r.Pattern})
			}
		}()
		next.ServeHTTP(w, r)
	})
}

package server

import (
	"context"
	"net/http"
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/rest"
	"library-catalogue/server/admission"
	"library-catalogue/server/ratelimit"
	"library-catalogue/server/telemetry"
)

// withLoaders gives each request its own batches.
func withLoaders(catalogue Catalogue) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r.WithContext(catalogue.WithLoaders(r.Context())))
		})
	}
}

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
func withDeadline(timeout func(*http.Request) time.Duration) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := context.WithTimeout(r.Context(), timeout(r))
			defer cancel()
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}

// timeoutREST returns the time for a request under /api: more for a whole list, which
// waits for its place and is read before it is sent. Sending has no deadline.
func timeoutREST(timeout time.Duration) func(*http.Request) time.Duration {
	return func(r *http.Request) time.Duration {
		if r.Method == http.MethodGet && rest.IsWhole(r) {
			return wholeRequestTimeout
		}
		return timeout
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

// priceAndAdmit charges requests under /api by their price, and lets them begin when
// there are places for them, which they hold until they are answered. Long whole lists get
// theirs in rest, which reads one for all who want the same.
func priceAndAdmit(admissions *admission.Controller, catalogue Catalogue) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			price, whole := rest.Cost(r, catalogue.Sizes())
			if err := ratelimit.Charge(w, r, price.Total); err != nil {
				refuse(w, r, err)
				return
			}
			if whole {
				next.ServeHTTP(w, r)
				return
			}
			release, err := admissions.Acquire(r.Context(), price)
			if err != nil {
				refuse(w, r, err)
				return
			}
			defer release()
			ctx, cancel := admission.LimitRead(r.Context(), price) // writes are light
			defer cancel()
			next.ServeHTTP(admission.ReleaseOnAnswer(w, release), r.WithContext(ctx))
		})
	}
}

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

// preemptible is a catalogue whose reads yield to those of others (see admission.Read).
type preemptible struct {
	Catalogue
	timeout time.Duration // of a look at the revision by a request without a deadline
}

// Revision returns the catalogue's revision. A request for a whole list has no deadline.
func (c preemptible) Revision(ctx context.Context) (model.Revision, error) {
	admission.ReleasePermit(ctx)
	if _, bounded := ctx.Deadline(); !bounded {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.timeout)
		defer cancel()
	}
	return c.Catalogue.Revision(ctx)
}

// ReadConsistent runs fn, all of whose reads are of one revision. fn may be run several
// times.
func (c preemptible) ReadConsistent(ctx context.Context, fn func(context.Context) error) error {
	again := false
	return admission.Read(ctx, func(ctx context.Context) error {
		if again {
			ctx = c.WithLoaders(ctx) // which have seen the end of the context
		}
		again = true
		return c.Catalogue.ReadConsistent(ctx, fn)
	})
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

// releasePermit lets another request be looked at: probes and pages wait for the database.
func releasePermit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		admission.ReleasePermit(r.Context())
		next.ServeHTTP(w, r)
	})
}

// isPaced reports whether a request under /api takes as long as its client: to send a
// body, after which rest bounds the work, or to take a whole list.
func isPaced(r *http.Request) bool {
	_, streamed := rest.Cost(r, model.Sizes{})
	return streamed || r.ContentLength != 0
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

// priceAndAdmit charges requests under /api by their cost, and lets them begin when
// there is room, until they are answered. Whole lists are not let in here: rest asks
// for room while it reads one, which it does once for all who want the same.
func priceAndAdmit(admissions *admission.Controller, catalogue Catalogue) middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			cost, streamed := rest.Cost(r, catalogue.Sizes())
			if err := ratelimit.ChargeCost(w, r, cost.Total); err != nil {
				refuse(w, r, err)
				return
			}
			if streamed {
				next.ServeHTTP(w, r)
				return
			}
			ctx, release, err := admissions.Admit(r.Context(), cost.Work())
			if err != nil {
				refuse(w, r, err)
				return
			}
			defer release()
			next.ServeHTTP(admission.ReleaseOnAnswer(w, release), r.WithContext(ctx))
		})
	}
}

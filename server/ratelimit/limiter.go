// Package ratelimit bounds how much one caller may ask in a time, by token buckets.
package ratelimit

import (
	"context"
	"net/http"
	"strconv"

	"github.com/maypok86/otter/v2"
	"golang.org/x/time/rate"

	"library-catalogue/graph/model"
	"library-catalogue/server/caller"
)

// Rate is how much one caller may ask, in units: a request costs one, a large body
// more, and its handler charges for what it does.
type Rate struct {
	PerSecond float64 // 0: there is no limit
	Burst     int     // units at once, after a rest; at least 1
}

const (
	// maxBuckets bounds the memory of a limiter, in bytes, of 256 for each caller: 60,000
	// callers, more than ask within the seconds in which a bucket fills.
	maxBuckets = 16 << 20
	// bodyUnit is how many bytes of a body cost a unit. The first are free: every request
	// may have a small body.
	bodyUnit = 8 << 10
	// unitPrice is how much of a price, as graph/cost estimates it, costs a unit: the rows
	// of a page of 100.
	unitPrice = 100
)

// ErrExceeded refuses a caller who has no units left.
var ErrExceeded = model.Errorf(model.RateLimited, "Too many requests: wait as many seconds as Retry-After says.")

// Limiter keeps a token bucket for each caller. Where there are too many, the
// buckets of those who seldom come go first. A nil Limiter limits nobody.
type Limiter struct {
	rate    Rate
	policy  []string // RateLimit-Policy
	buckets *otter.Cache[caller.Caller, *rate.Limiter]
}

// New returns a limiter, nil where there is no limit.
func New(r Rate) (*Limiter, error) {
	if r.PerSecond == 0 {
		return nil, nil
	}
	buckets, err := otter.New(&otter.Options[caller.Caller, *rate.Limiter]{
		MaximumWeight: maxBuckets,
		Weigher: func(c caller.Caller, _ *rate.Limiter) uint32 {
			const overhead = 256 // of a bucket and its entry
			return uint32(c.Size() + overhead)
		},
	})
	policy := `"default";q=` + strconv.Itoa(r.Burst) + `;w=` + seconds(float64(r.Burst)/r.PerSecond)
	return &Limiter{rate: r, buckets: buckets, policy: []string{policy}}, err
}

// Middleware charges every request a unit, and one more for each 8 KiB of a large
// body, of which there may be maxBody bytes. It calls refuse with ErrExceeded where the
// caller has fewer units left.
func (l *Limiter) Middleware(maxBody int, refuse func(http.ResponseWriter, *http.Request, error)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		if l == nil {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b := budget{l, l.bucket(r), w.Header(), new(int)}
			units := 1 + bodyUnits(r.ContentLength, maxBody)
			if !b.take(min(units, l.rate.Burst), units) {
				refuse(w, r, ErrExceeded)
				return
			}
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), budgetKey{}, b)))
		})
	}
}

// bodyUnits returns what a body of that length costs, -1 for one that does not say
// how long it is: that may become as long as any.
func bodyUnits(length int64, maxBody int) int {
	switch {
	case length < 0 || length > int64(maxBody):
		return maxBody / bodyUnit
	case length <= bodyUnit:
		return 0
	}
	return int(length / bodyUnit)
}

// bucket returns the bucket of the caller of a request.
func (l *Limiter) bucket(r *http.Request) *rate.Limiter {
	who := caller.Of(r.Context())
	b, ok := l.buckets.GetIfPresent(who)
	if !ok {
		b, _ = l.buckets.SetIfAbsent(who, rate.NewLimiter(rate.Limit(l.rate.PerSecond), l.rate.Burst))
	}
	return b
}

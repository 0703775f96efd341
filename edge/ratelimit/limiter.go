// Package ratelimit limits the requests of each caller by token buckets.
package ratelimit

import (
	"context"
	"net/http"
	"strconv"

	"golang.org/x/time/rate"

	"library-catalogue/edge/caller"
	"library-catalogue/graph/model"
	"library-catalogue/lru"
)

// Rate is the limit of one caller in units. A request costs one unit; a large body and an expensive operation cost more.
type Rate struct {
	PerSecond float64 // 0: no limit
	Burst     int     // size of the bucket in units; at least 1
}

const (
	// maxBucketBytes is the maximum memory of a limiter: 60,000 callers at 256 bytes. An evicted bucket is full again
	// within seconds anyway.
	maxBucketBytes = 16 << 20
	// bytesPerUnit is the size of a body that costs one unit. The first bytes are free.
	bytesPerUnit = 8 << 10
	// pricePerUnit is the price, as graph/cost estimates it, that costs one unit: the rows of a page of 100.
	pricePerUnit = 100
)

// ErrExceeded is the error of a caller without enough units.
var ErrExceeded = model.Errorf(model.RateLimited, "Too many requests. Retry after the delay in the Retry-After header.")

// Limiter has a token bucket for each caller. It evicts the least used buckets. A nil Limiter has no limit. It is safe
// for concurrent use.
type Limiter struct {
	rate    Rate
	policy  []string // RateLimit-Policy
	buckets lru.Cache[caller.Caller, *rate.Limiter]
}

// New returns a limiter, or nil if r has no limit.
func New(r Rate) *Limiter {
	if r.PerSecond == 0 {
		return nil
	}
	buckets := lru.New(maxBucketBytes, func(c caller.Caller, _ *rate.Limiter) int {
		const overhead = 256 // of a bucket and its entry
		return c.Size() + overhead
	})
	policy := `"default";q=` + strconv.Itoa(r.Burst) + `;w=` + seconds(float64(r.Burst)/r.PerSecond)
	return &Limiter{rate: r, buckets: buckets, policy: []string{policy}}
}

// Middleware takes one unit per request, and one per 8 KiB of a body of at most maxBodyBytes. It calls refuse with
// ErrExceeded if the caller has too few units.
func (l *Limiter) Middleware(maxBodyBytes int, refuse func(http.ResponseWriter, *http.Request, error)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		if l == nil {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b := budget{l, l.bucket(r), w.Header(), new(int)}
			units := 1 + bodyUnits(r.ContentLength, maxBodyBytes)
			if !b.take(min(units, l.rate.Burst), units) {
				refuse(w, r, ErrExceeded)
				return
			}
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), budgetKey{}, b)))
		})
	}
}

// bodyUnits returns the units of a body. A negative length means an unknown length, which costs as much as maxBodyBytes.
func bodyUnits(length int64, maxBodyBytes int) int {
	if length < 0 || length > int64(maxBodyBytes) {
		return maxBodyBytes / bytesPerUnit
	}
	if length <= bytesPerUnit {
		return 0
	}
	return int(length / bytesPerUnit)
}

func (l *Limiter) bucket(r *http.Request) *rate.Limiter {
	who := caller.Of(r.Context())
	b, ok := l.buckets.Get(who)
	if !ok {
		b = l.buckets.GetOrSet(who, rate.NewLimiter(rate.Limit(l.rate.PerSecond), l.rate.Burst))
	}
	return b
}

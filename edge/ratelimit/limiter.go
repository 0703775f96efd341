// Package ratelimit limits the requests of each caller by token buckets.
package ratelimit

import (
	"net/http"
	"strconv"

	"golang.org/x/time/rate"

	"library-catalogue/edge/caller"
	"library-catalogue/lru"
)

// Rate is the limit of one caller in units. A request costs one unit; a large body and an expensive operation cost
// more.
type Rate struct {
	PerSecond float64 // 0: no limit
	Burst     int     // size of the bucket in units; at least 1
}

const (
	// maxBucketBytes is the maximum memory of a limiter: 40,000 callers at 384 bytes. An evicted bucket is full again
	// within seconds anyway.
	maxBucketBytes = 16 << 20
	// freeBytes is the size of an input that the first unit of a request pays. Beyond it each bytesPerUnit that are
	// begun cost one unit, before they are read.
	freeBytes, bytesPerUnit = 4 << 10, 8 << 10
	// pricePerUnit is the price, as graph/cost estimates it, that costs one unit: the rows of a page of 100.
	pricePerUnit = 100
)

// Limiter has a token bucket for each caller. It evicts the least used buckets. A nil Limiter has no limit. It is safe
// for concurrent use.
type Limiter struct {
	rate    Rate
	policy  []string // RateLimit-Policy
	buckets lru.Cache[caller.Key, *buckets]
}

// buckets are the token buckets of one caller.
type buckets struct{ all, live *rate.Limiter }

// New returns a limiter, or nil if r has no limit.
func New(r Rate) *Limiter {
	if r.PerSecond == 0 {
		return nil
	}
	buckets := lru.New(maxBucketBytes, func(c caller.Key, _ *buckets) int {
		const overhead = 384 // bytes of two buckets and their entry
		return c.Size() + overhead
	})
	policy := `"default";q=` + strconv.Itoa(r.Burst) + `;w=` + strconv.Itoa(seconds(float64(r.Burst)/r.PerSecond))
	return &Limiter{rate: r, buckets: buckets, policy: []string{policy}}
}

// Middleware takes one unit per request, and more for a URI and a body of more than 4 KiB. A body has at most
// maxBodyBytes. Middleware reads nothing of it, and calls refuse with a RateLimited error if the caller has too few
// units.
func (l *Limiter) Middleware(
	maxBodyBytes int, refuse func(http.ResponseWriter, *http.Request, error),
) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		if l == nil {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b := budget{l, l.bucketsOf(r), w.Header(), new(int)}
			units := 1 + inputUnits(len(r.RequestURI)+bodyBytes(r.ContentLength, maxBodyBytes))
			if err := b.take(min(units, l.rate.Burst), units); err != nil {
				refuse(w, r, err)
				return
			}
			next.ServeHTTP(w, b.attach(r))
		})
	}
}

// Attach is middleware that takes no unit, but lets a Meter charge the caller of the request.
func (l *Limiter) Attach(next http.Handler) http.Handler {
	if l == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, budget{l, l.bucketsOf(r), w.Header(), new(int)}.attach(r))
	})
}

// bodyBytes returns the bytes of a body that are read at most. A negative length means an unknown length.
func bodyBytes(length int64, maxBodyBytes int) int {
	if length < 0 || length > int64(maxBodyBytes) {
		return maxBodyBytes
	}
	return int(length)
}

// inputUnits returns the units of an input, without the first one.
func inputUnits(bytes int) int {
	return (max(bytes, freeBytes) - freeBytes + bytesPerUnit - 1) / bytesPerUnit
}

func (l *Limiter) bucketsOf(r *http.Request) *buckets {
	who := caller.Of(r.Context())
	b, ok := l.buckets.Get(who)
	if !ok {
		b = l.buckets.GetOrSet(who, &buckets{
			all:  rate.NewLimiter(rate.Limit(l.rate.PerSecond), l.rate.Burst),
			live: rate.NewLimiter(rate.Limit(l.rate.PerSecond/2), (l.rate.Burst+1)/2),
		})
	}
	return b
}

// Package ratelimit bounds how much one caller may ask in a time, by token buckets.
package ratelimit

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/maypok86/otter/v2"
	"golang.org/x/time/rate"

	"library-catalogue/graph/model"
	"library-catalogue/server/admission"
	"library-catalogue/server/caller"
)

// Rate is how much one caller may ask, in units: a request costs one, a large body
// more, and its handler may charge for what it does.
type Rate struct {
	PerSecond float64 // 0: there is no limit
	Burst     int     // units at once, after a rest; at least 1
}

const (
	// maxBuckets bounds the memory of a limiter, in bytes, of 256 for each caller: 60,000
	// callers, more than ask within the seconds in which a bucket fills.
	maxBuckets = 16 << 20
	// bodyUnit is how many bytes of a body cost a unit: the size of one that is small, as
	// admission has it. The first are free: every request may have a small body.
	bodyUnit = 8 << 10
	// costUnit is how much cost of an operation, as graph/cost estimates it, costs a
	// unit: the rows of a page of 100, which costs 4 with genres and categories. A cached
	// answer costs nobody anything, so a request for one pays the one unit that every
	// request does.
	costUnit = 100

	// refusalDelay is how long the refusal of a caller is delayed who was refused less
	// than that ago, so that a flood takes little of anything. It is the least that
	// Retry-After can say.
	refusalDelay = time.Second
	// maxDiscarded is how many bytes of the body of a refused request are read: of as
	// many net/http does so too.
	maxDiscarded = 256 << 10
	// maxDelayed is how many refusals are delayed at once: half of the connections that
	// there may be by default, so that the others are left.
	maxDelayed = 250
)

// ErrExceeded refuses a caller who has no units left.
var ErrExceeded = model.Errorf(model.RateLimited, "Too many requests: wait as many seconds as Retry-After says.")

// Limiter keeps a token bucket for each caller. Where there are too many, the
// buckets of those who seldom come go first. A nil Limiter limits nobody.
type Limiter struct {
	rate    Rate
	policy  []string // RateLimit-Policy
	buckets *otter.Cache[caller.Caller, *bucket]
	delayed chan struct{} // has an element for each refusal that is delayed
}

// bucket is what one caller has left.
type bucket struct {
	*rate.Limiter
	refused atomic.Int64 // when its caller was refused last, in ns since 1970
}

// New returns a limiter, nil where there is no limit.
func New(r Rate) (*Limiter, error) {
	if r.PerSecond == 0 {
		return nil, nil
	}
	buckets, err := otter.New(&otter.Options[caller.Caller, *bucket]{
		MaximumWeight: maxBuckets,
		Weigher: func(c caller.Caller, _ *bucket) uint32 {
			const overhead = 256 // of a bucket and its entry
			return uint32(c.Size() + overhead)
		},
	})
	return &Limiter{
		rate: r, buckets: buckets, delayed: make(chan struct{}, maxDelayed),
		policy: []string{`"default";q=` + strconv.Itoa(r.Burst) + `;w=` + seconds(float64(r.Burst)/r.PerSecond)},
	}, err
}

// Middleware charges every request a unit, and one more for each 8 KiB of a large
// body, of which there may be maxBody bytes. One whose caller has fewer units left
// is refused with ErrExceeded.
func (l *Limiter) Middleware(maxBody int, refuse func(http.ResponseWriter, *http.Request, error)) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		if l == nil {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b := budget{l, l.bucket(r)}
			before := b.bucket.refused.Load()
			units := 1 + bodyUnits(r.ContentLength, maxBody)
			if !b.take(w, min(units, l.rate.Burst), units) {
				if time.Since(time.Unix(0, before)) < refusalDelay {
					l.delay(r)
				}
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
func (l *Limiter) bucket(r *http.Request) *bucket {
	who := caller.Of(r.Context())
	b, ok := l.buckets.GetIfPresent(who)
	if !ok {
		b, _ = l.buckets.SetIfAbsent(who, &bucket{Limiter: rate.NewLimiter(rate.Limit(l.rate.PerSecond), l.rate.Burst)})
	}
	return b
}

// delay waits for refusalDelay, unless maxDelayed refusals do already, or the client
// goes: net/http sees that once the body has been read.
func (l *Limiter) delay(r *http.Request) {
	select {
	case l.delayed <- struct{}{}:
		defer func() { <-l.delayed }()
	default:
		return
	}
	timer := time.NewTimer(refusalDelay)
	defer timer.Stop()
	if _, err := io.CopyN(io.Discard, r.Body, maxDiscarded); !errors.Is(err, io.EOF) {
		return // net/http closes the connection
	}
	admission.ReleasePermit(r.Context())
	select {
	case <-timer.C:
	case <-r.Context().Done():
	}
}

package server

import (
	"context"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/maypok86/otter/v2"
	"golang.org/x/time/rate"

	"library-catalogue/graph/model"
)

// Rate is how much one caller may ask of both faces, in units: a request costs
// one, a large body more, and its handler may charge for what it does.
type Rate struct {
	PerSecond float64 // 0: there is no limit
	Burst     int     // units at once, after a rest; at least 1
}

// maxBuckets bounds the memory of a limiter, in bytes.
const maxBuckets = 16 << 20

// limiter keeps a token bucket for each caller. Where there are too many, the
// buckets of those who seldom come go first.
type limiter struct {
	rate    Rate
	policy  []string // RateLimit-Policy
	proxies []netip.Prefix
	buckets *otter.Cache[caller, *rate.Limiter]
}

// caller is who pays: the subject of a valid token, else a network.
type caller struct {
	subject string
	network netip.Addr
}

// newLimiter makes a limiter, or none, which is nil, where there is no limit.
func newLimiter(r Rate, proxies []netip.Prefix) *limiter {
	if r.PerSecond == 0 {
		return nil
	}
	buckets, err := otter.New(&otter.Options[caller, *rate.Limiter]{
		MaximumWeight: maxBuckets,
		Weigher: func(c caller, _ *rate.Limiter) uint32 {
			const overhead = 256 // of a bucket and its entry
			return uint32(len(c.subject) + overhead)
		},
	})
	if err != nil {
		panic(err) // the options are constants
	}
	return &limiter{
		rate: r, proxies: proxies, buckets: buckets,
		policy: []string{`"default";q=` + strconv.Itoa(r.Burst) + `;w=` + seconds(float64(r.Burst)/r.PerSecond)},
	}
}

// limit charges every request a unit, and one more for each 8 KiB of a large body.
// One whose caller has fewer left is refused.
func (l *limiter) limit(next http.Handler) http.Handler {
	if l == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := caller{}
		if p, err := model.Caller(r.Context()); err == nil && p.Subject != "" {
			who.subject = p.Subject
		} else {
			who.network = network(clientAddress(r, l.proxies))
		}
		bucket, ok := l.buckets.GetIfPresent(who)
		if !ok {
			bucket, _ = l.buckets.SetIfAbsent(who, rate.NewLimiter(rate.Limit(l.rate.PerSecond), l.rate.Burst))
		}
		b := budget{l, bucket}
		units := 1
		if body, ok := r.Context().Value(heldBodyKey{}).(*heldBody); ok {
			units += int(body.most / smallBody)
		}
		if b.take(w, r, min(units, l.rate.Burst)) {
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), budgetKey{}, b)))
		}
	})
}

// budget is the bucket that pays for a request.
type budget struct {
	*limiter
	bucket *rate.Limiter
}

type budgetKey struct{}

// charge takes the units that a request costs beyond the one that it has paid.
// Where its caller has fewer, it answers 429, takes none and gives false. Who has
// rested pays for anything, if need be with all it has.
func charge(w http.ResponseWriter, r *http.Request, units int) bool {
	b, limited := r.Context().Value(budgetKey{}).(budget)
	return !limited || b.take(w, r, min(units, b.rate.Burst-1))
}

// take takes units, and tells the client what is left
// (draft-ietf-httpapi-ratelimit-headers-09).
func (b budget) take(w http.ResponseWriter, r *http.Request, units int) bool {
	now := time.Now()
	taken := b.bucket.AllowN(now, units)
	left := math.Max(b.bucket.TokensAt(now), 0)
	header := w.Header()
	header["Ratelimit-Policy"] = b.policy
	header["Ratelimit"] = []string{`"default";r=` + strconv.Itoa(int(left)) + `;t=` + seconds((float64(b.rate.Burst)-left)/b.rate.PerSecond)}
	if taken {
		return true
	}
	header.Set("Retry-After", seconds(math.Max((float64(units)-left)/b.rate.PerSecond, 1)))
	message := "Too many requests: wait as many seconds as Retry-After says."
	if inAPI(r) {
		message = "Too Many Attempts."
	}
	refuse(w, r, refusal{http.StatusTooManyRequests, model.RateLimited, message})
	return false
}

// seconds writes a number of seconds, rounded up.
func seconds(s float64) string { return strconv.Itoa(int(math.Ceil(math.Min(s, math.MaxInt32)))) }

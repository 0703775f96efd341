package server

import (
	"context"
	"math"
	"net/http"
	"net/netip"
	"strconv"
	"sync/atomic"
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

const (
	// holdBack is how long a caller waits for the answer who was refused less than
	// that ago, and asks again all the same. So a flood takes little of anything.
	holdBack = time.Second
	// maxHeldBack is how many wait for that at once.
	maxHeldBack = 250
)

// limiter keeps a token bucket for each caller. Where there are too many, the
// buckets of those who seldom come go first.
type limiter struct {
	rate    Rate
	policy  []string // RateLimit-Policy
	proxies []netip.Prefix
	buckets *otter.Cache[caller, *bucket]
	held    chan struct{} // has an element for each caller who is held back
}

// bucket is what one caller has left.
type bucket struct {
	*rate.Limiter
	refused atomic.Int64 // when its caller was refused last, in ns since 1970
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
	buckets, err := otter.New(&otter.Options[caller, *bucket]{
		MaximumWeight: maxBuckets,
		Weigher: func(c caller, _ *bucket) uint32 {
			const overhead = 256 // of a bucket and its entry
			return uint32(len(c.subject) + overhead)
		},
	})
	if err != nil {
		panic(err) // the options are constants
	}
	return &limiter{
		rate: r, proxies: proxies, buckets: buckets, held: make(chan struct{}, maxHeldBack),
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
		its, ok := l.buckets.GetIfPresent(who)
		if !ok {
			its, _ = l.buckets.SetIfAbsent(who, &bucket{Limiter: rate.NewLimiter(rate.Limit(l.rate.PerSecond), l.rate.Burst)})
		}
		b := budget{l, its}
		units := 1
		if body, ok := r.Context().Value(heldBodyKey{}).(*heldBody); ok {
			units += int(body.most / smallBody)
		}
		before := b.bucket.refused.Load()
		if !b.take(w, min(units, l.rate.Burst)) {
			if time.Since(time.Unix(0, before)) < holdBack {
				b.wait(r.Context())
			}
			refuseRate(w, r)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), budgetKey{}, b)))
	})
}

// budget is the bucket that pays for a request.
type budget struct {
	*limiter
	bucket *bucket
}

type budgetKey struct{}

// charge takes the units that a request costs beyond the one that it has paid.
// Where its caller has fewer, it answers 429, takes none and gives false. Who has
// rested pays for anything, if need be with all it has.
func charge(w http.ResponseWriter, r *http.Request, units int) bool {
	b, limited := r.Context().Value(budgetKey{}).(budget)
	if !limited || b.take(w, min(units, b.rate.Burst-1)) {
		return true
	}
	refuseRate(w, r)
	return false
}

// take takes units if there are so many, and tells the client what is left
// (draft-ietf-httpapi-ratelimit-headers-09).
func (b budget) take(w http.ResponseWriter, units int) bool {
	now := time.Now()
	taken := b.bucket.AllowN(now, units)
	left := math.Max(b.bucket.TokensAt(now), 0)
	header := w.Header()
	header["Ratelimit-Policy"] = b.policy
	header["Ratelimit"] = []string{`"default";r=` + strconv.Itoa(int(left)) + `;t=` + seconds((float64(b.rate.Burst)-left)/b.rate.PerSecond)}
	if !taken {
		b.bucket.refused.Store(now.UnixNano())
		header.Set("Retry-After", seconds(math.Max((float64(units)-left)/b.rate.PerSecond, 1)))
	}
	return taken
}

// wait holds a caller back, unless many are already.
func (b budget) wait(ctx context.Context) {
	select {
	case b.held <- struct{}{}:
		defer func() { <-b.held }()
	default:
		return
	}
	timer := time.NewTimer(holdBack)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// costUnit is how much cost makes a unit of a caller's rate. An answer that was
// kept costs nobody anything, so a request for one pays the one unit that every
// request does.
const costUnit = 100

// chargeCost charges what a request costs, or answers that its caller has not got
// that much.
func chargeCost(w http.ResponseWriter, r *http.Request, cost int64) bool {
	units := (cost + costUnit - 1) / costUnit
	return units <= 1 || charge(w, r, int(units-1))
}

func refuseRate(w http.ResponseWriter, r *http.Request) {
	message := "Too many requests: wait as many seconds as Retry-After says."
	if inAPI(r) {
		message = "Too Many Attempts."
	}
	refuse(w, r, refusal{http.StatusTooManyRequests, model.RateLimited, message})
}

// seconds writes a number of seconds, rounded up.
func seconds(s float64) string { return strconv.Itoa(int(math.Ceil(math.Min(s, math.MaxInt32)))) }

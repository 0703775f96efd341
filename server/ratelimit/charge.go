package ratelimit

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/time/rate"
)

// budget is the bucket that pays for a request.
type budget struct {
	*Limiter
	bucket *rate.Limiter
	header http.Header // of the response
	taken  *int        // by this request
}

type budgetKey struct{}

// Charge takes one unit for each 100 of a price, of which Middleware took the first. It
// takes none and returns ErrExceeded where the caller has fewer. A caller with a full
// bucket pays any price: the rest is deducted later.
func Charge(ctx context.Context, price int64) error {
	b, limited := ctx.Value(budgetKey{}).(budget)
	units := int(min(price/unitPrice+min(price%unitPrice, 1), math.MaxInt32)) - 1
	if !limited || units <= 0 || b.take(max(0, min(units, b.rate.Burst-*b.taken)), units) {
		return nil
	}
	return ErrExceeded
}

// take takes units if the bucket holds as many as required, and tells the client what
// is left (draft-ietf-httpapi-ratelimit-headers-09).
func (b budget) take(required, units int) bool {
	now := time.Now()
	taken := b.bucket.AllowN(now, required)
	if taken {
		*b.taken += units
		for owed := units - required; owed > 0; owed -= b.rate.Burst {
			b.bucket.ReserveN(now, min(owed, b.rate.Burst))
		}
	}
	left := b.bucket.TokensAt(now) // negative where units are owed
	b.header["Ratelimit-Policy"] = b.policy
	b.header["Ratelimit"] = []string{`"default";r=` + strconv.Itoa(int(math.Max(left, 0))) + `;t=` + seconds((float64(b.rate.Burst)-left)/b.rate.PerSecond)}
	if !taken {
		b.header.Set("Retry-After", seconds(math.Max((float64(required)-left)/b.rate.PerSecond, 1)))
	}
	return taken
}

// seconds writes a number of seconds, rounded up.
func seconds(s float64) string { return strconv.Itoa(int(math.Ceil(math.Min(s, math.MaxInt32)))) }

package ratelimit

import (
	"math"
	"net/http"
	"strconv"
	"time"
)

// budget is the bucket that pays for a request.
type budget struct {
	*Limiter
	bucket *bucket
}

type budgetKey struct{}

// Charge takes the units that a request costs beyond what Middleware took. Where
// its caller has fewer, it takes none and returns ErrExceeded. Who has rested pays
// for anything, if need be with all it has and with what it will have next.
func Charge(w http.ResponseWriter, r *http.Request, units int) error {
	b, limited := r.Context().Value(budgetKey{}).(budget)
	if !limited || b.take(w, min(units, b.rate.Burst-1), units) {
		return nil
	}
	return ErrExceeded
}

// ChargeCost takes the units for what an operation costs.
func ChargeCost(w http.ResponseWriter, r *http.Request, cost int64) error {
	units := (cost + costUnit - 1) / costUnit
	if units <= 1 {
		return nil
	}
	return Charge(w, r, int(units-1))
}

// take takes units if there are as many as must be there, and tells the client what
// is left (draft-ietf-httpapi-ratelimit-headers-09).
func (b budget) take(w http.ResponseWriter, there, units int) bool {
	now := time.Now()
	taken := b.bucket.AllowN(now, there)
	if taken {
		for owed := units - there; owed > 0; owed -= b.rate.Burst {
			b.bucket.ReserveN(now, min(owed, b.rate.Burst))
		}
	}
	left := b.bucket.TokensAt(now) // less than none where units are owed
	header := w.Header()
	header["Ratelimit-Policy"] = b.policy
	header["Ratelimit"] = []string{`"default";r=` + strconv.Itoa(int(math.Max(left, 0))) + `;t=` + seconds((float64(b.rate.Burst)-left)/b.rate.PerSecond)}
	if !taken {
		b.bucket.refused.Store(now.UnixNano())
		header.Set("Retry-After", seconds(math.Max((float64(there)-left)/b.rate.PerSecond, 1)))
	}
	return taken
}

// seconds writes a number of seconds, rounded up.
func seconds(s float64) string { return strconv.Itoa(int(math.Ceil(math.Min(s, math.MaxInt32)))) }

package ratelimit

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"time"

	"golang.org/x/time/rate"

	"library-catalogue/graph/model"
)

// budget is the token bucket of a request's caller.
type budget struct {
	*Limiter
	*buckets
	header http.Header // response header
	taken  *int        // units taken by this request
}

type budgetKey struct{}

// attach returns a request that Charge and a Meter charge to the budget.
func (b budget) attach(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), budgetKey{}, b))
}

// Charge takes one unit per 100 of a price, less the unit that Middleware took. If the caller has too
// few units, it takes none and returns a RateLimited error. A full bucket pays any price: Charge deducts the
// excess from later units.
func Charge(ctx context.Context, price int64) error {
	b, limited := ctx.Value(budgetKey{}).(budget)
	units := int(min(price/pricePerUnit+min(price%pricePerUnit, 1), math.MaxInt32)) - 1
	if !limited || units <= 0 {
		return nil
	}
	return b.take(max(0, min(units, b.rate.Burst-*b.taken)), units)
}

// Meter charges the parts of a stream. A stream has no response to refuse, so it waits instead. The zero Meter is ready
// for use by one goroutine.
type Meter struct{ price int64 } // not yet charged, less than one unit

// PayInput charges the caller for an input of more than 4 KiB, before it is parsed. The unit of its request is not
// included. It waits like Pay.
func (m *Meter) PayInput(ctx context.Context, bytes int) error {
	return m.Pay(ctx, pricePerUnit*int64(inputUnits(bytes)))
}

// Pay takes one unit per 100 of the prices of all parts. It waits until the caller has the units, or ctx ends. The
// error is the cause of that.
func (m *Meter) Pay(ctx context.Context, price int64) error {
	b, limited := ctx.Value(budgetKey{}).(budget)
	m.price += price
	units := int(min(m.price/pricePerUnit, math.MaxInt32))
	m.price %= pricePerUnit
	if !limited {
		return nil
	}
	for ; units > 0; units -= b.rate.Burst {
		if b.all.WaitN(ctx, min(units, b.rate.Burst)) != nil { // at once, if the deadline of ctx is nearer
			<-ctx.Done()
			return context.Cause(ctx)
		}
	}
	return nil
}

// TryPay is Pay for live queries, which get at most half of a caller's rate. If the caller has too few units it charges
// nothing and returns the time to wait.
func (m *Meter) TryPay(ctx context.Context, price int64) (wait time.Duration) {
	b, limited := ctx.Value(budgetKey{}).(budget)
	if !limited {
		return 0
	}
	now := time.Now()
	units := int(min((m.price+price)/pricePerUnit, math.MaxInt32))
	required := min(units, b.live.Burst())
	for _, bucket := range []*rate.Limiter{b.live, b.all} {
		if missing := float64(required) - bucket.TokensAt(now); missing > 0 {
			wait = max(wait, time.Duration(missing/float64(bucket.Limit())*float64(time.Second)))
		}
	}
	if wait > 0 {
		return wait
	}
	m.price = (m.price + price) % pricePerUnit
	for ; units > 0; units -= required {
		b.live.ReserveN(now, min(units, required))
		b.all.ReserveN(now, min(units, required))
	}
	return 0
}

// take takes units if the bucket has the required number, and sets the RateLimit headers
// (draft-ietf-httpapi-ratelimit-headers-11). t is the time until the next unit, because more are available then. So
// Retry-After is never earlier than t (section 6). The error is RateLimited, with a model.RetryError.
func (b budget) take(required, units int) error {
	now := time.Now()
	taken := b.all.AllowN(now, required)
	if taken {
		*b.taken += units
		for excess := units - required; excess > 0; excess -= b.rate.Burst {
			b.all.ReserveN(now, min(excess, b.rate.Burst))
		}
	}
	left := b.all.TokensAt(now) // negative after an excess
	available := math.Floor(math.Max(left, 0))
	b.header["Ratelimit-Policy"] = b.policy
	b.header["Ratelimit"] = []string{`"default";r=` + strconv.Itoa(int(available)) + `;t=` +
		strconv.Itoa(seconds((available+1-left)/b.rate.PerSecond))}
	if taken {
		return nil
	}
	again := float64(required + *b.taken) // the request that is sent again needs what this one has taken, too
	wait := max(1, seconds((again-left)/b.rate.PerSecond))
	err := model.Errorf(model.RateLimited, "Too many requests. Try again in %d s.", wait)
	err.Err = &model.RetryError{After: time.Duration(wait) * time.Second}
	return err
}

// seconds rounds a number of seconds up.
func seconds(s float64) int { return int(math.Ceil(math.Min(s, math.MaxInt32))) }

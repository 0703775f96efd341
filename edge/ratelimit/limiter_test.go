package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"library-catalogue/edge/caller"
	"library-catalogue/graph/model"
)

// TestCharge lets a handler charge a price, of which Middleware takes the first unit. t is the time until the next unit.
func TestCharge(t *testing.T) {
	t.Parallel()
	type step struct {
		rest       time.Duration
		price      int64
		limit      string
		retryAfter string
	}
	for burst, steps := range map[int][]step{
		100: {
			{0, 6_000, `"default";r=40;t=1`, ""},
			{0, 5_100, `"default";r=39;t=1`, "2"},  // 11 units are missing
			{0, 50_000, `"default";r=38;t=1`, "7"}, // 61 of a full bucket are
			{0, 3_800, `"default";r=0;t=1`, ""},
			{500 * time.Millisecond, 5_500, `"default";r=4;t=1`, "6"}, // 50, and the first one again
			{5 * time.Second, 0, `"default";r=53;t=1`, ""},
			{time.Minute, 100_100, `"default";r=0;t=91`, ""}, // more than anybody has: the rest is owed
			{10 * time.Second, 50_000, `"default";r=0;t=81`, "81"},
			{2 * time.Minute, 10_000, `"default";r=0;t=1`, ""},
			{time.Minute, 1, `"default";r=99;t=1`, ""}, // a unit for each 100 that is begun
			{0, 100, `"default";r=98;t=1`, ""},
			{0, 101, `"default";r=96;t=1`, ""},
			{0, 200, `"default";r=94;t=1`, ""},
			{0, 201, `"default";r=91;t=1`, ""},
		},
		1: {
			{0, 5_000, `"default";r=0;t=5`, ""},
			{4800 * time.Millisecond, 5_000, `"default";r=0;t=1`, "1"},
			{200 * time.Millisecond, 5_000, `"default";r=0;t=5`, ""},
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			l := New(Rate{PerSecond: 10, Burst: burst})
			price, retryAfter := int64(0), ""
			refuse := func(_ http.ResponseWriter, _ *http.Request, err error) {
				retryAfter = fmt.Sprint(model.RetryAfter(err))
				if want := "Too many requests. Try again in " + retryAfter + " s."; !model.IsCode(err, model.RateLimited) || model.AsError(err).Message != want {
					t.Errorf("%v, want %s", err, want)
				}
			}
			h := l.Middleware(1<<20, refuse)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if err := Charge(r.Context(), price); err != nil {
					refuse(w, r, err)
				}
			}))
			for _, tt := range steps {
				time.Sleep(tt.rest)
				price, retryAfter = tt.price, ""
				w := httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api", nil))
				limit := w.Header().Get("RateLimit")
				if limit != tt.limit || retryAfter != tt.retryAfter {
					t.Errorf("burst %d: %s, retry after %q; want %+v", burst, limit, retryAfter, tt)
				}
			}
		})
	}
}

// TestChargeAfterBody charges for a large body first: with a full bucket the caller pays any
// price beside it.
func TestChargeAfterBody(t *testing.T) {
	t.Parallel()
	l := New(Rate{PerSecond: 10, Burst: 10})
	refuse := func(http.ResponseWriter, *http.Request, error) { t.Error("the body is refused") }
	h := l.Middleware(1<<20, refuse)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := Charge(r.Context(), 50_000); err != nil {
			t.Error(err)
		}
	}))
	r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(strings.Repeat(" ", 20_000)))
	h.ServeHTTP(httptest.NewRecorder(), r)
}

// TestRetry sends a request again when its error says so: it is served.
func TestRetry(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(Rate{PerSecond: 1, Burst: 35})
		var refused error
		refuse := func(_ http.ResponseWriter, _ *http.Request, err error) { refused = err }
		h := l.Middleware(1<<20, refuse)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			refused = Charge(r.Context(), 1_000)
		}))
		send := func() { h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/api", nil)) }
		for refused == nil {
			send()
		}
		time.Sleep(time.Duration(model.RetryAfter(refused)) * time.Second)
		if send(); refused != nil {
			t.Error(refused)
		}
	})
}

// TestMeter charges the parts of a stream: it waits for the units of their sum.
func TestMeter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := New(Rate{PerSecond: 10, Burst: 100})
		h := l.Middleware(1<<20, nil)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			var m Meter
			begun := time.Now()
			for _, price := range []int64{9_850, 2, 40, 7, 1, 100, 25_000} { // 99 units are left, then each waits
				if err := m.Pay(r.Context(), price); err != nil {
					t.Error(err)
				}
			}
			if waited := time.Since(begun); waited != 25_100*time.Millisecond {
				t.Errorf("waited for %s", waited)
			}
			ended, cancel := context.WithCancel(r.Context())
			cancel()
			if err := m.Pay(ended, 1_000); !errors.Is(err, context.Canceled) {
				t.Errorf("after the end: %v", err)
			}
			expired := errors.New("expired")
			ending, stop := context.WithTimeoutCause(r.Context(), 5*time.Second, expired)
			defer stop()
			begun = time.Now()
			if err := m.Pay(ending, 100_000); !errors.Is(err, expired) || time.Since(begun) != 5*time.Second {
				t.Errorf("%v after %s, want the end after 5s", err, time.Since(begun))
			}
		}))
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/api", nil))
	})
}

// TestMaxBuckets has very many callers, with short and with long subjects: what is kept of
// them is bounded in bytes.
func TestMaxBuckets(t *testing.T) {
	t.Parallel()
	for length, n := range map[int]int{10: 80_000, 4_000: 8_000} {
		l := New(Rate{PerSecond: 1, Burst: 1})
		r := httptest.NewRequest(http.MethodGet, "/api", nil)
		for i := range n {
			who := caller.Subject(fmt.Sprintf("%0*d", length, i))
			l.bucketsOf(r.WithContext(caller.With(r.Context(), who)))
		}
		kept, most := l.buckets.Len(), maxBucketBytes/(length+256)
		if kept > most || kept < most/2 {
			t.Errorf("of %d callers with %d bytes each %d are kept, want %d", n, length, kept, most)
		}
	}
}

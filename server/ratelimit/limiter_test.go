package ratelimit

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/server/caller"
)

func newLimiter(t *testing.T, r Rate) *Limiter {
	t.Helper()
	l, err := New(r)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// limited is a handler behind a limiter that refuses with 429.
func limited(t *testing.T, l *Limiter, handle http.HandlerFunc) http.Handler {
	return l.Middleware(1<<20, func(w http.ResponseWriter, _ *http.Request, err error) {
		if !errors.Is(err, ErrExceeded) {
			t.Errorf("refused with %v", err)
		}
		w.WriteHeader(http.StatusTooManyRequests)
	})(handle)
}

// TestCharge lets a handler cost more than one unit.
func TestCharge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cost, answered := 0, false
		h := limited(t, newLimiter(t, Rate{PerSecond: 10, Burst: 100}), func(w http.ResponseWriter, r *http.Request) {
			answered = Charge(w, r, cost) == nil
		})
		for _, tt := range []struct {
			rest       time.Duration
			cost       int
			limit      string
			retryAfter string
		}{
			{0, 59, `"default";r=40;t=6`, ""},
			{0, 50, `"default";r=39;t=7`, "2"}, // 11 are missing
			{0, 38, `"default";r=0;t=10`, ""},
			{500 * time.Millisecond, 54, `"default";r=4;t=10`, "5"},
			{5 * time.Second, 0, `"default";r=53;t=5`, ""},
			{time.Minute, 1000, `"default";r=0;t=101`, ""}, // more than anybody has: the rest is owed
			{10 * time.Second, 99, `"default";r=0;t=91`, "81"},
			{2 * time.Minute, 99, `"default";r=0;t=10`, ""},
		} {
			time.Sleep(tt.rest)
			cost, answered = tt.cost, false
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api", nil))
			if answered != (tt.retryAfter == "") || w.Header().Get("RateLimit") != tt.limit || w.Header().Get("Retry-After") != tt.retryAfter {
				t.Errorf("%d units: answered %t, %v, want %s", tt.cost, answered, w.Header(), tt.limit)
			}
		}
	})
}

// TestBurstBelowCost has a burst below what is asked for: that is paid all the same.
func TestBurstBelowCost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answered := 0
		h := limited(t, newLimiter(t, Rate{PerSecond: 10, Burst: 1}), func(w http.ResponseWriter, r *http.Request) {
			if Charge(w, r, 49) == nil {
				answered++
			}
		})
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); {
			h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/api", nil))
			time.Sleep(100 * time.Millisecond)
		}
		if answered > 3 {
			t.Errorf("%d operations of 50 units were answered in 10 s at 10 units a second", answered)
		}
	})
}

// TestRateMemory comes from very many places, with subjects of any length.
func TestRateMemory(t *testing.T) {
	l := newLimiter(t, Rate{PerSecond: 1, Burst: 1})
	h := caller.Middleware(nil)(limited(t, l, func(http.ResponseWriter, *http.Request) {}))
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/api", nil)
	for i := range 120_000 {
		r.RemoteAddr = netip.AddrPortFrom(netip.AddrFrom4([4]byte{1, byte(i >> 16), byte(i >> 8), byte(i)}), 1).String()
		h.ServeHTTP(w, r)
	}
	for i := range 8_000 {
		long := model.Principal{Subject: fmt.Sprint(i, strings.Repeat("x", 4_000))}
		h.ServeHTTP(w, r.WithContext(model.WithPrincipal(r.Context(), long)))
	}
	l.buckets.CleanUp()
	if grown := int64(heap() - before); grown > 2*maxBuckets {
		t.Errorf("the heap grew by %d MB", grown>>20)
	}
	runtime.KeepAlive(l)
}

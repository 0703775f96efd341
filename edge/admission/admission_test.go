package admission

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"library-catalogue/graph/cost"
)

// TestClassOf has the bounds of the classes.
func TestClassOf(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		price, looked int64
		want          Class
	}{
		{0, 0, Light}, {5_000, 50, Light}, {5_001, 0, Medium}, {51, 51, Medium},
		{20_000, 1_000, Medium}, {20_001, 0, Heavy}, {1_001, 1_001, Heavy}, {1 << 62, 1 << 62, Heavy},
	} {
		if got := ClassOf(cost.Estimate{Total: tt.price, Looked: tt.looked}); got != tt.want {
			t.Errorf("price %d, %d for looks: class %d, want %d", tt.price, tt.looked, got, tt.want)
		}
	}
}

var (
	light  = cost.Estimate{Total: 3}
	medium = cost.Estimate{Total: 400, Looked: 300}
	heavy  = cost.Estimate{Total: 40_000, Looked: 40_000}
)

// TestPlaces has callers ask for all that they can have of a class: another caller's work
// of another class does not wait, and none of its own class where only one caller asks.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		connections, callers int
		work                 cost.Estimate
		begun                int
		others               []cost.Estimate
	}{
		{16, 20, medium, 6, []cost.Estimate{light, heavy}},
		{16, 20, heavy, 5, []cost.Estimate{light, medium}},
		{16, 1, light, 4_000, []cost.Estimate{light, {Total: 4_000}, medium, heavy}},
		{16, 1, cost.Estimate{Total: 5_000}, 2, []cost.Estimate{light, {Total: 4_000}, medium, heavy}},
		{16, 1, medium, 5, []cost.Estimate{light, medium, heavy}},
		{16, 1, heavy, 4, []cost.Estimate{light, medium, heavy}},
		{1, 1, light, 250, []cost.Estimate{light, medium, heavy}},
	} {
		synctest.Test(t, func(t *testing.T) {
			c := New(tt.connections)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var begun atomic.Int64
			for i := range 5_000 {
				who := as(string(rune('a' + i%tt.callers)))
				go func() {
					if release, err := c.Acquire(who, tt.work); err == nil {
						begun.Add(1)
						<-ctx.Done()
						release()
					}
				}()
			}
			synctest.Wait()
			if n := int(begun.Load()); n != tt.begun {
				t.Errorf("%d of %+v have begun, want %d", n, tt.work, tt.begun)
			}
			for _, other := range tt.others {
				asked := time.Now()
				release, err := c.Acquire(as("zoe"), other)
				if err != nil || time.Since(asked) > 0 {
					t.Fatalf("%d callers with %+v: %+v waits for %v: %v", tt.callers, tt.work, other, time.Since(asked), err)
				}
				release()
			}
		})
	}
}

// TestWholeListsAreMedium has a whole list of a low price: it takes a place of medium work.
func TestWholeListsAreMedium(t *testing.T) {
	t.Parallel()
	c := New(16)
	release, err := c.AcquireWhole(t.Context(), cost.Estimate{Total: 3})
	if err != nil || c.queues[Light].used != 0 || c.queues[Medium].used != 1 {
		t.Errorf("%d light, %d medium: %v", c.queues[Light].used, c.queues[Medium].used, err)
	}
	release()
}

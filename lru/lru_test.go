package lru_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"library-catalogue/lru"
)

// TestCache runs random operations on a cache and on a model: a list of entries, the one used last first.
func TestCache(t *testing.T) {
	t.Parallel()
	const maxWeight = 50
	weigh := func(key, value int) int { return key + value }
	type entry struct{ key, value int }
	var model []entry
	c := lru.New(maxWeight, weigh)
	random := rand.New(rand.NewPCG(1, 2))
	find := func(key int) int { return slices.IndexFunc(model, func(e entry) bool { return e.key == key }) }
	weight := func() (n int) {
		for _, e := range model {
			n += weigh(e.key, e.value)
		}
		return n
	}
	add := func(e entry) {
		if weigh(e.key, e.value) > maxWeight {
			return
		}
		for model = append([]entry{e}, model...); weight() > maxWeight; {
			model = model[:len(model)-1]
		}
	}
	for range 20_000 {
		key, value := random.IntN(12), random.IntN(60)
		i := find(key)
		switch random.IntN(4) {
		case 0:
			got, ok := c.Get(key)
			if ok != (i >= 0) || ok && got != model[i].value {
				t.Fatalf("Get(%d) = %d, %t of %v", key, got, ok, model)
			}
			if ok {
				found := model[i]
				model = append([]entry{found}, slices.Delete(model, i, i+1)...)
			}
		case 1:
			c.Set(key, value)
			if i >= 0 {
				model = slices.Delete(model, i, i+1)
			}
			add(entry{key, value})
		case 2:
			want := value
			if i >= 0 {
				want = model[i].value
				model = append([]entry{model[i]}, slices.Delete(slices.Clone(model), i, i+1)...)
			} else {
				add(entry{key, value})
			}
			if got := c.GetOrSet(key, value); got != want {
				t.Fatalf("GetOrSet(%d) = %d, want %d", key, got, want)
			}
		case 3:
			c.Delete(key)
			if i >= 0 {
				model = slices.Delete(model, i, i+1)
			}
		}
		if c.Len() != len(model) || c.Weight() != weight() {
			t.Fatalf("%d entries of weight %d, want %v", c.Len(), c.Weight(), model)
		}
	}
}

// TestConcurrently uses a cache from several goroutines, for the race detector.
func TestConcurrently(t *testing.T) {
	t.Parallel()
	c := lru.New(10, func(int, int) int { return 1 })
	var running sync.WaitGroup
	for i := range 4 {
		running.Go(func() {
			for n := range 1_000 {
				c.Set((n+i)%20, n)
				c.Get(n % 20)
				c.GetOrSet(n%20, n)
				c.Delete(n % 7)
			}
		})
	}
	running.Wait()
	if c.Len() > 10 {
		t.Error(c.Len())
	}
}

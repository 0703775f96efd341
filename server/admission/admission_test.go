package admission

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"library-catalogue/server/caller"
)

// maxCost makes places of 1,000 where there are two processors' worth of them.
const maxCost = 50_000

// newController returns one whose callers are not alone.
func newController() *Controller {
	c := New(16, maxCost, timeout)
	c.shared = time.Now()
	return c
}

func as(name string) context.Context {
	return caller.With(context.Background(), caller.Subject(name))
}

// queue lets callers ask for work, and notes who may begin.
type queue struct {
	*Controller
	t     *testing.T
	begun []string
	mu    sync.Mutex // guards begun
}

func newQueue(t *testing.T) *queue {
	return &queue{Controller: newController(), t: t}
}

// ask has a caller ask for work that takes so long once it may begin.
func (q *queue) ask(name string, cost int64, takes time.Duration) {
	q.t.Helper()
	go func() {
		release, err := q.Acquire(as(name), cost)
		if err != nil {
			return
		}
		q.mu.Lock()
		q.begun = append(q.begun, name)
		q.mu.Unlock()
		time.Sleep(takes)
		release()
		release()
	}()
	synctest.Wait()
}

// names returns who has begun so far.
func (q *queue) names() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.begun)
}

// waits returns how many works wait.
func (q *queue) waits() int {
	q.Controller.mu.Lock()
	defer q.Controller.mu.Unlock()
	return len(q.waiting)
}

// used returns what a caller has had.
func (q *queue) used(name string) float64 {
	q.Controller.mu.Lock()
	defer q.Controller.mu.Unlock()
	return q.flows[caller.Subject(name)].used
}

func (q *queue) wantEmpty() {
	q.t.Helper()
	synctest.Wait()
	q.Controller.mu.Lock()
	defer q.Controller.mu.Unlock()
	for class, room := range q.rooms {
		if room.used != 0 || len(q.waiting) != 0 {
			q.t.Errorf("class %d: %d is taken, %d wait", class, room.used, len(q.waiting))
		}
	}
	for who, f := range q.flows {
		if f.pending != 0 || f.held != [classes]int64{} {
			q.t.Errorf("%v: %+v", who, *f)
		}
	}
}

// TestNewcomerIsNext has 200 requests of one caller, or of 200 callers, wait: one who
// comes then waits for no more than one that is under way.
func TestNewcomerIsNext(t *testing.T) {
	t.Parallel()
	for name, callers := range map[string]int{"one caller": 1, "20 callers": 20} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				q := newQueue(t)
				for i := range 200 {
					q.ask(fmt.Sprint(i%callers), 10_000+int64(i), time.Second)
				}
				time.Sleep(10*time.Second + time.Millisecond)
				for _, cost := range []int64{3, 300, 5_000} {
					asked := time.Now()
					release, err := q.Acquire(as(fmt.Sprint("new", cost)), cost)
					if waited := time.Since(asked); err != nil || waited > time.Second || cost <= lightCost && waited > 0 {
						t.Errorf("cost %d: %v after %v", cost, err, waited)
					} else {
						release()
					}
				}
				time.Sleep(time.Hour)
				q.wantEmpty()
			})
		})
	}
}

// TestCallersTakeTurns lets two ask for as much each, the one long before the other.
func TestCallersTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		for range 40 {
			q.ask("ada", maxCost, time.Second)
		}
		for range 5 {
			q.ask("bob", maxCost, time.Second)
		}
		time.Sleep(11 * time.Second)
		if bobs := len(q.names()) - len(slices.DeleteFunc(slices.Clone(q.names()), func(s string) bool { return s == "bob" })); bobs < 5 {
			t.Errorf("of bob's 5 %d have begun: %v", bobs, q.names())
		}
		time.Sleep(time.Hour)
		q.wantEmpty()
	})
}

// TestSomeRoomIsForOthers has 20 callers who ask for long work again and again: who asks
// for less finds a place free at once.
func TestSomeRoomIsForOthers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		ctx, cancel := context.WithCancel(t.Context())
		for i := range 20 {
			go func() {
				for ctx.Err() == nil {
					if release, err := q.Acquire(as(fmt.Sprint(i)), 5_000); err == nil {
						time.Sleep(2 * time.Second)
						release()
					}
				}
			}()
		}
		time.Sleep(2 * time.Minute) // each has had several turns
		for range 10 {
			asked := time.Now()
			release, err := q.Acquire(as("honest"), 1_000)
			if err != nil || time.Since(asked) > 0 {
				t.Fatalf("%v after %v", err, time.Since(asked))
			}
			time.Sleep(100 * time.Millisecond)
			release()
			time.Sleep(3 * time.Second)
		}
		cancel()
		time.Sleep(time.Hour)
		q.wantEmpty()
	})
}

// TestWeights has one caller ask for three times what another does: that takes three
// times as many turns of the other.
func TestWeights(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		const cost = 20_000
		for range 60 {
			q.ask("large", 3*cost, 3*cost*costTime)
			q.ask("small", cost, cost*costTime)
		}
		time.Sleep(25 * cost * costTime)
		count := map[string]int{}
		for _, name := range q.names() {
			count[name]++
		}
		if count["small"] < 2*count["large"] || count["small"] > 4*count["large"]+4 || count["large"] < 3 {
			t.Error(count)
		}
		time.Sleep(time.Hour)
		q.wantEmpty()
	})
}

// TestWhatWorkTook counts, and not what it was taken to cost: who asks for little that
// takes long waits behind who asks for as much that does not.
func TestWhatWorkTook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		for range 3 {
			q.ask("quick", 500, time.Millisecond)
			time.Sleep(time.Second)
		}
		for range 3 {
			q.ask("slow", 500, 10*time.Second)
		}
		q.ask("other", 500, 10*time.Second)
		time.Sleep(11 * time.Second)
		for i := range 20 { // fill all places
			q.ask(fmt.Sprint(i), maxCost, time.Second)
		}
		q.ask("slow", 500, 0)
		q.ask("quick", 500, 0)
		q.Controller.mu.Lock()
		place := func(name string) int {
			return slices.IndexFunc(q.waiting, func(w *work) bool { return w.flow == q.flows[caller.Subject(name)] })
		}
		if quick, slow := place("quick"), place("slow"); quick < 0 || quick > slow {
			t.Errorf("quick waits at %d, slow at %d", quick, slow)
		}
		q.Controller.mu.Unlock()
		time.Sleep(time.Minute)
		q.wantEmpty()
	})
}

// TestWhatNobodyWaitedForIsFree has a caller work while nobody waits: that counts
// nothing, and what somebody waits for counts from then on.
func TestWhatNobodyWaitedForIsFree(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		for range 10 {
			q.ask("early", 5_000, time.Second)
			time.Sleep(2 * time.Second)
		}
		if used := q.used("early"); used > 1 {
			t.Errorf("%v is counted that nobody waited for", used)
		}
		for i := range 2 { // which fill all places
			q.ask(fmt.Sprint(i), maxCost, 4*time.Second)
		}
		time.Sleep(3 * time.Second)
		q.ask("late", maxCost, 0)
		time.Sleep(time.Minute)
		if used, want := q.used("0"), units(time.Second); used > 1.1*want || used < 0.9*want {
			t.Errorf("%v is counted of a second that one waited for: %v", used, want)
		}
		q.wantEmpty()
	})
}

// TestLessIsNext has callers who have had nothing ask for long work: who asks for little is
// next all the same, though that caller has had some.
func TestLessIsNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		for i := range 20 {
			q.ask(fmt.Sprint(i), 2_000, 300*time.Millisecond)
		}
		time.Sleep(10 * time.Second)
		for i := range 20 {
			q.ask(fmt.Sprint("new", i), maxCost, 4*time.Second)
		}
		asked := time.Now()
		release, err := q.Acquire(as("7"), 2_000)
		if waited := time.Since(asked); err != nil || waited > 4*time.Second {
			t.Fatalf("%v after %v", err, waited)
		}
		release()
		time.Sleep(time.Hour)
		q.wantEmpty()
	})
}

// TestOneCallerLeavesAPlace has one caller ask for more than there is room for: others
// begin at once, with work of either kind.
func TestOneCallerLeavesAPlace(t *testing.T) {
	t.Parallel()
	for _, cost := range []int64{1, lightCost, lightCost + 1, maxCost, 10 * maxCost} {
		synctest.Test(t, func(t *testing.T) {
			q := newQueue(t)
			for range 20_000 {
				q.ask("ada", cost, time.Second)
				if q.waits() > 0 {
					break
				}
			}
			if q.waits() == 0 {
				t.Fatalf("%d of cost %d are under way", len(q.names()), cost)
			}
			q.ask("bob", 1, 0)
			q.wantBegun("bob", 1)
			time.Sleep(100 * time.Millisecond)
			q.ask("bob", lightCost+1, 0)
			q.wantBegun("bob", 2)
			time.Sleep(time.Hour)
			q.wantEmpty()
		})
	}
}

func (q *queue) wantBegun(name string, want int) {
	q.t.Helper()
	n := 0
	for _, begun := range q.names() {
		if begun == name {
			n++
		}
	}
	if n != want {
		q.t.Errorf("%d of %s have begun, want %d", n, name, want)
	}
}

// TestLargeWorkIsNotPassedBy lets others come with little heavy work all the time, more
// than there is room for: what needs all that a caller may have begins all the same.
func TestLargeWorkIsNotPassedBy(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		for i := range 500 {
			q.ask(fmt.Sprint(i%20), lightCost+1, time.Second)
			if i == 40 {
				q.ask("large", maxCost, time.Second)
			}
			time.Sleep(100 * time.Millisecond)
		}
		q.wantBegun("large", 1)
		time.Sleep(time.Hour)
		q.wantEmpty()
	})
}

// TestWaitEnds has callers give up, and wait for too long: they hold nothing, and owe
// nothing.
func TestWaitEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		for range 2 * runtime.GOMAXPROCS(0) {
			q.ask("ada", maxCost, 10*time.Minute)
		}
		used := q.used("ada")
		ctx, cancel := context.WithCancel(as("ada"))
		time.AfterFunc(time.Second, cancel)
		begun := time.Now()
		if _, err := q.Acquire(ctx, maxCost); !errors.Is(err, ErrBusy) || time.Since(begun) != time.Second {
			t.Errorf("cancelled: %v after %v", err, time.Since(begun))
		}
		begun = time.Now()
		if _, err := q.Acquire(as("ada"), maxCost); !errors.Is(err, ErrBusy) || time.Since(begun) != timeout {
			t.Errorf("too late: %v after %v", err, time.Since(begun))
		}
		if got := q.used("ada"); got > used {
			t.Errorf("what was not done counts: %v, before %v", got, used)
		}
		time.Sleep(time.Hour)
		q.wantEmpty()
	})
}

// TestCallersAreForgotten comes from very many.
func TestCallersAreForgotten(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		q.ask("ada", 1, time.Hour)
		for i := range 10 * maxIdleFlows {
			release, err := q.Acquire(as(fmt.Sprint(i)), 1)
			if err != nil {
				t.Fatal(err)
			}
			release()
		}
		q.Controller.mu.Lock()
		if len(q.flows) > 2*maxIdleFlows {
			t.Errorf("%d callers are remembered", len(q.flows))
		}
		q.Controller.mu.Unlock()
		time.Sleep(time.Hour)
		q.wantEmpty()
	})
}

func BenchmarkAcquire(b *testing.B) {
	c, ctx := newController(), as("ada")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			release, err := c.Acquire(ctx, 3)
			if err != nil {
				b.Fatal(err)
			}
			release()
		}
	})
}

// TestAlone lets a caller take half of the connections with heavy work while nobody else
// has asked for a minute, and no more than its share from then on.
func TestAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		time.Sleep(memory + time.Second)
		for range 20 {
			q.ask("ada", lightCost+1, time.Second)
		}
		q.wantBegun("ada", 8)
		time.Sleep(time.Minute)
		q.wantBegun("ada", 20)
		q.ask("bob", 1, 0)
		for range 20 {
			q.ask("ada", lightCost+1, time.Second)
		}
		most := int(q.rooms[heavy].most / q.rooms[heavy].least)
		q.wantBegun("ada", 20+most)
		time.Sleep(time.Hour)
		q.wantEmpty()
	})
}

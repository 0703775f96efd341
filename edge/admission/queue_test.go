package admission

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"library-catalogue/edge/caller"
)

func as(subject string) context.Context {
	return caller.With(context.Background(), caller.Subject(subject))
}

// TestQueue plays scripts: "+ada:6" is a request of ada for 6 places, "-" gives back the
// places that are held longest, "!" ends the contexts of all requests, and "15s" waits.
// want names the callers in the order in which they are admitted, with "!" where refused.
func TestQueue(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		size, share  int64
		script, want string
	}{
		"served least recently": {
			1, 1, "+ada +ada +ada +bob +bob +eve - - - - +new +eve - - - -", "ada bob eve ada bob new eve ada",
		},
		"a share is admitted": {100, 75, "+ada:1000 +bob:25 - +ada:75", "ada bob ada"},
		"a share is a limit":  {100, 75, "+ada:75 +ada +bob:25 15s +ada -", "ada bob !ada ada"},
		"no place is left":    {100, 75, "+ada:75 +bob:25 +eve 15s", "ada bob !eve"},
		"a large request":     {8, 8, "+ada:6 +large:8 +small - -", "ada large small"},
		"the last moment":     {1, 1, "+ada +bob 14999ms -", "ada bob"},
		"giving up":           {1, 1, "+ada +bob 1s ! - +eve", "ada !bob eve"},
	} {
		synctest.Test(t, func(t *testing.T) {
			q := NewQueue(tt.size, tt.share)
			stop, cancel := context.WithCancel(t.Context())
			var mu sync.Mutex // guards order and held
			var order []string
			var held []func()
			ask := func(who string, places int64) {
				release, err := q.Acquire(caller.With(stop, caller.Subject(who)), places)
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					order = append(order, "!"+who)
					return
				}
				order, held = append(order, who), append(held, release)
			}
			giveBack := func() {
				mu.Lock()
				release := held[0]
				held = held[1:]
				mu.Unlock()
				release()
				release() // again does nothing
			}
			for word := range strings.FieldsSeq(tt.script) {
				switch word[0] {
				case '+':
					who, number, _ := strings.Cut(word[1:], ":")
					places, err := strconv.ParseInt(cmp.Or(number, "1"), 10, 64)
					if err != nil {
						t.Fatal(err)
					}
					go ask(who, places)
				case '-':
					giveBack()
				case '!':
					cancel()
					stop, cancel = context.WithCancel(t.Context())
				default:
					wait, err := time.ParseDuration(word)
					if err != nil {
						t.Fatal(err)
					}
					time.Sleep(wait)
				}
				synctest.Wait()
			}
			if got := strings.Join(order, " "); got != tt.want {
				t.Errorf("%s: %s, want %s", name, got, tt.want)
			}
			for len(held) > 0 {
				giveBack()
				synctest.Wait()
			}
			if used, waiting := q.holds(); used != 0 || waiting != 0 {
				t.Errorf("%s: %d places and %d requests are left", name, used, waiting)
			}
			cancel()
		})
	}
}

// holds returns how many places are held, and how many requests wait.
func (q *Queue) holds() (used int64, waiting int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.used, len(q.waiting)
}

// TestQueueForgets has more callers than are remembered.
func TestQueueForgets(t *testing.T) {
	t.Parallel()
	q := NewQueue(maxCallers, 1)
	hold, _ := q.Acquire(as("held"), 1)
	for i := range 3 * maxCallers {
		release, err := q.Acquire(as(fmt.Sprint(i)), 1)
		if err != nil {
			t.Fatal(err)
		}
		release()
	}
	if n := len(q.callers); n > maxCallers || q.callers[caller.Subject("held")] == nil {
		t.Errorf("%d callers are remembered", n)
	}
	hold()
}

// TestQueueAtOnce lets many ask, give up and release at random: no more places are held
// than there are, no caller has more than its share, and none is left in the end.
func TestQueueAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(20, 12)
		var all sync.WaitGroup
		for i := range 40 {
			all.Go(func() {
				random := rand.New(rand.NewPCG(1, uint64(i)))
				for range 50 {
					ctx, cancel := context.WithTimeout(as(fmt.Sprint(i%5)), time.Duration(random.IntN(50))*time.Millisecond)
					release, err := q.Acquire(ctx, int64(random.IntN(15)))
					q.mu.Lock()
					if q.used > 20 || slices.ContainsFunc(q.waiting, func(t *ticket) bool { return t.held > 12 }) {
						t.Errorf("%d places are held", q.used)
					}
					q.mu.Unlock()
					if err == nil {
						time.Sleep(time.Duration(random.IntN(20)) * time.Millisecond)
						release()
					}
					cancel()
				}
			})
		}
		all.Wait()
		if used, waiting := q.holds(); used != 0 || waiting != 0 {
			t.Errorf("%d places and %d requests are left", used, waiting)
		}
	})
}

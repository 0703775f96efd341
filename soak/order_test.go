package soak

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"library-catalogue/db/dbtest"
)

// orders are the engines, with the least number of light requests, one after the other, that are served during a whole
// list. On SQLite it was 70 when light requests had no processor time of their own, and is 650.
var orders = map[string]struct {
	database func(testing.TB) string
	least    int64
}{"sqlite": {dbtest.SQLite, 200}, "postgres": {dbtest.Postgres, 50}}

// TestOrderOfService counts the light requests that overtake a whole list, beside four callers that ask for heavy lists
// and whole lists in turn. It measures no time.
func TestOrderOfService(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes minutes")
	}
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has all of 127.0.0.0/8")
	}
	programs := filepath.SplitList(os.Getenv(programsVariable))
	if len(programs) == 0 {
		programs = []string{build(t)}
	}
	for engine, order := range orders {
		t.Run(engine, func(t *testing.T) {
			for _, program := range programs {
				s := startTarget(t, program, order.database(t))
				s.measure(t, 2*time.Second) // warms up
				stop := s.attack(t, slices.IndexFunc(attacks, func(a attack) bool {
					return a.name == heavyAndWhole
				}), 4)
				time.Sleep(2 * time.Second)
				overtaking := s.overtaking(t, 7)
				t.Logf("%s: %d light requests for each whole list; attackers: %s", program, overtaking, stop())
				if median := overtaking[len(overtaking)/2]; median < order.least {
					t.Errorf("%s: %d light requests were served during a whole list, want %d", program, median,
						order.least)
				}
			}
		})
	}
}

// overtaking requests so many whole lists, and light ones all the time. It returns the number of light responses during
// each list, in order of size.
func (s *target) overtaking(t *testing.T, lists int) (counts []int64) {
	t.Helper()
	ask := func(k kind) {
		if _, err := s.ask(k, int(s.asked.Add(1))); err != nil {
			t.Errorf("%s: %v", k.name, err)
		}
	}
	var served atomic.Int64
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for i := 0; ; i++ {
			select {
			case <-end:
				return
			default:
				ask(kinds[i%3]) // a book, a page, a nested page
				served.Add(1)
			}
		}
	}()
	for range lists {
		before := served.Load()
		ask(kind{name: "list", request: path("/api/books?price_max=9%03d"), check: checkList})
		counts = append(counts, served.Load()-before)
	}
	close(end)
	<-ended
	slices.Sort(counts)
	return counts
}

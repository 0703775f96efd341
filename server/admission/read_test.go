package admission

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// read reads for so long in the name of a caller, and counts how often it has begun.
func (q *queue) read(name string, cost int64, takes time.Duration, begun *atomic.Int64) error {
	ctx, release, err := q.Admit(as(name), cost)
	if err != nil {
		return err
	}
	defer release()
	return Read(ctx, func(ctx context.Context) error {
		begun.Add(1)
		select {
		case <-ctx.Done():
			return errors.New("interrupted")
		case <-time.After(takes):
			return nil
		}
	})
}

// TestReadingYields fills all places with long reading: who comes anew begins as soon as
// it may, whatever that is taken to cost, the reading is begun again, and all of it ends
// well.
func TestReadingYields(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		cost := q.rooms[heavy].least
		places := int(q.rooms[heavy].size / cost)
		var begun atomic.Int64
		for i := range places {
			go func() {
				if err := q.read(fmt.Sprint(i), cost, 4*time.Second, &begun); err != nil {
					t.Error(err)
				}
			}()
		}
		synctest.Wait()
		asked := time.Now()
		release, err := q.Acquire(as("other"), cost)
		if waited := time.Since(asked); err != nil || waited > firstQuantum {
			t.Errorf("%v after %v", err, waited)
		}
		time.Sleep(time.Second)
		release()
		time.Sleep(time.Minute)
		if n := int(begun.Load()); n <= places || n > 4*places {
			t.Errorf("reading has begun %d times in %d places", n, places)
		}
		q.wantEmpty()
	})
}

// TestLongReadingIsNotEverywhere fills all places with reading that has yielded before:
// who comes anew begins as soon as it may nevertheless, and all of it ends well.
func TestLongReadingIsNotEverywhere(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		cost := q.rooms[heavy].least
		for i := range 2 * q.rooms[heavy].size / cost {
			go func() {
				if err := q.read(fmt.Sprint(i), cost, 2*time.Second, new(atomic.Int64)); err != nil {
					t.Error(err)
				}
			}()
		}
		for i := range 20 {
			asked := time.Now()
			if err := q.read("other "+fmt.Sprint(i), cost, firstQuantum/2, new(atomic.Int64)); err != nil || time.Since(asked) > 2*firstQuantum {
				t.Errorf("%d: %v after %v", i, err, time.Since(asked))
			}
			time.Sleep(firstQuantum)
		}
		time.Sleep(time.Minute)
		q.wantEmpty()
	})
}

// TestEqualsYieldTwice has many ask for a second of reading: each yields after 100 and 400
// milliseconds at most.
func TestEqualsYieldTwice(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		var begun atomic.Int64
		const cost = 20_000
		for i := range 10 {
			go func() {
				if err := q.read(fmt.Sprint(i), cost, cost*costTime, &begun); err != nil {
					t.Error(err)
				}
			}()
		}
		time.Sleep(time.Minute)
		if n := begun.Load(); n > 30 {
			t.Errorf("reading has begun %d times", n)
		}
		q.wantEmpty()
	})
}

// TestReadingIsLimited reads for longer than its cost allows.
func TestReadingIsLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		asked := time.Now()
		if err := q.read("ada", lightCost+1, time.Hour, new(atomic.Int64)); !errors.Is(err, ErrTimeLimit) || time.Since(asked) > minTime+time.Second {
			t.Errorf("%v after %v", err, time.Since(asked))
		}
		q.wantEmpty()
	})
}

// TestManyWaitForLess has 200 callers ask for long work at once: who must wait in vain
// is told so within two seconds.
func TestManyWaitForLess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		for i := range 200 {
			q.ask(fmt.Sprint(i), maxCost, time.Minute)
		}
		asked := time.Now()
		if _, err := q.Acquire(as("other"), maxCost); !errors.Is(err, ErrBusy) || time.Since(asked) > 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(asked))
		}
		time.Sleep(time.Hour)
		q.wantEmpty()
	})
}

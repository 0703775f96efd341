package admission

import (
	"context"
	"errors"
	"slices"
	"time"
)

const (
	// minTime is how long any heavy reading may take, for a database that is slow for
	// others' sake.
	minTime = 5 * time.Second
	// maxTime is half of what a request has with its wait to begin.
	maxTime = 15 * time.Second
	// firstQuantum is how long reading is under way before it may yield: less than half of
	// the 250 ms by which what is asked for beside it may take longer. Each time it may have
	// quantumGrowth times as long, so that at most half of its work is in vain, and of long
	// work a third. Beside work that has not begun yet one at a time has longer: with 20
	// who read for a second each a search with facets takes 0.2 s, and 0.65 to 1.1 s where
	// all have.
	firstQuantum  = 100 * time.Millisecond
	quantumGrowth = 4
	// yieldFactor is by how much more a caller will have had than another to yield: what
	// is about as long is not done by halves.
	yieldFactor = 2.0
)

// timeLimit returns how long reading of that cost may take, so that work which takes
// more than it was taken to cost does not keep others waiting.
func timeLimit(cost int64) time.Duration {
	return min(minTime+time.Duration(min(cost, int64(maxTime/costTime)))*costTime, maxTime)
}

// errYield ends reading for the sake of others.
var errYield = errors.New("others have had less")

type workKey struct{}

// Read runs fn, which reads for what was admitted with ctx. Where that is heavy, it ends
// with ErrTimeLimit when it takes longer than its cost allows, and it yields to work that
// waits of callers who have had less: the context of fn ends, and fn is run again
// when its caller is next.
func Read(ctx context.Context, fn func(context.Context) error) error {
	w, _ := ctx.Value(workKey{}).(*work)
	if w == nil || w.class == light {
		return fn(ctx)
	}
	for {
		err, cause := w.read(ctx, fn)
		switch {
		case err == nil || cause == nil:
			return err
		case !errors.Is(cause, errYield):
			return cause
		}
		w.controller.askAgain(w)
		if err := w.wait(ctx); err != nil {
			return err
		}
	}
}

// read runs fn, and returns its error and why its context has ended: nil where that has
// not, or with ctx.
func (w *work) read(ctx context.Context, fn func(context.Context) error) (err, cause error) {
	limited, cancel := context.WithTimeoutCause(ctx, w.timeLimit, ErrTimeLimit)
	defer cancel()
	run, yield := context.WithCancelCause(limited)
	defer yield(nil)
	w.controller.setReading(w, yield)
	defer w.controller.setReading(w, nil)
	if err = fn(run); ctx.Err() == nil {
		cause = context.Cause(run)
	}
	return err, cause
}

// setReading notes what ends the reading of work, and nil where it has ended.
func (c *Controller) setReading(w *work, yield context.CancelCauseFunc) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.yield = yield; yield == nil {
		c.reading = slices.DeleteFunc(c.reading, func(other *work) bool { return other == w })
		return
	}
	c.reading = append(c.reading, w)
	c.preempt(time.Now())
}

// askAgain puts work that has yielded in the queue.
func (c *Controller) askAgain(w *work) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	w.expected = max(w.expected, units(c.end(w, now)))
	w.quantum *= quantumGrowth
	c.enqueue(w, now)
	c.dispatch(now)
}

// preempt ends reading for the heavy work that is next, as soon as its caller will have
// had far more than that of the other. That one's work counts for firstQuantum at most: by
// its cost a search with facets takes eight times as long as it does, and what is really
// long yields later itself.
func (c *Controller) preempt(now time.Time) {
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
	next := slices.IndexFunc(c.waiting, func(w *work) bool { return w.class == heavy })
	if next < 0 || len(c.reading) == 0 || slices.ContainsFunc(c.reading, func(w *work) bool { return w.yield == nil }) {
		return
	}
	enough := yieldFactor * (c.waiting[next].flow.used + min(c.waiting[next].expected, units(firstQuantum)))
	grown := slices.IndexFunc(c.reading, func(w *work) bool { return w.quantum > firstQuantum })
	yields := func(w *work) time.Time {
		quantum := w.quantum
		if c.waiting[next].quantum == firstQuantum && w != c.reading[max(grown, 0)] {
			quantum = firstQuantum
		}
		had := enough - max(0, w.flow.used-w.expected)
		if w.expected > had {
			had = 0
		}
		return w.begun.Add(max(quantum, time.Duration(min(had, units(maxTime)))*costTime))
	}
	victim := slices.MinFunc(c.reading, func(a, b *work) int { return yields(a).Compare(yields(b)) })
	if wait := yields(victim).Sub(now); wait > 0 {
		c.timer = time.AfterFunc(wait, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.preempt(time.Now())
		})
		return
	}
	victim.yield(errYield)
	victim.yield = nil
}

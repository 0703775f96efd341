package live

import (
	"context"
	"crypto/sha256"
	"time"

	"library-catalogue/edge/ratelimit"
	"library-catalogue/task"
)

// Listener receives the States of a query. One goroutine uses it.
type Listener struct {
	query    *query
	ctx      context.Context // has the caller, who pays
	throttle time.Duration

	// The lock of query guards these.
	meter     ratelimit.Meter
	waiting   bool      // Next waits
	credit    bool      // the next State is paid
	notBefore time.Time // of the next State
	minRun    int64     // run whose State, or that of a later one, is new enough
	begun     bool      // a State was returned
	last      [sha256.Size]byte
}

// Next waits for a State that differs from the last one, and returns the newest. The error is the cause of the end of
// ctx, or why the query ended.
func (l *Listener) Next(ctx context.Context) (State, error) {
	q := l.query
	q.mu.Lock()
	defer q.mu.Unlock()
	defer func() { l.waiting = false }()
	for ctx.Err() == nil { // else Close may have been called
		wait := never
		if l.hasNews() {
			if wait = l.pay(); wait <= 0 {
				l.credit, l.begun, l.last = false, true, q.state.Sum
				l.notBefore = time.Now().Add(l.throttle)
				state := *q.state
				q.forget()
				return state, nil
			}
		} else if q.err != nil {
			return State{}, q.err
		}
		if l.waiting = true; q.marked {
			q.signal()
		}
		changed := q.changed
		q.mu.Unlock()
		task.Wait(ctx, wait, changed)
		q.mu.Lock()
	}
	return State{}, context.Cause(ctx)
}

// hasNews reports whether the last State is new for the listener. The caller holds the lock.
func (l *Listener) hasNews() bool {
	state := l.query.state
	return state != nil && state.Response != nil && state.run >= l.minRun && (!l.begun || state.Sum != l.last)
}

// pay pays for a State, if that is not done, and returns 0. Else it returns the time to wait: for the throttle, or
// because the caller has too few units. Listeners share the price of a run. The caller holds the lock.
func (l *Listener) pay() (wait time.Duration) {
	if wait = time.Until(l.notBefore); wait > 0 || l.credit {
		return max(wait, 0)
	}
	price := int64(0)
	if l.query.state != nil {
		price = max(l.query.state.Price/int64(len(l.query.listeners)), 1)
	}
	wait = l.meter.TryPay(l.ctx, price)
	l.credit = wait <= 0
	return wait
}

// Close ends the listener. Further calls do nothing.
func (l *Listener) Close() { l.query.hub.leave(l) }

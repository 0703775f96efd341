package live

import (
	"context"
	"sync"
	"time"

	"library-catalogue/edge/caller"
	"library-catalogue/edge/respcache"
	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/model"
	"library-catalogue/task"
)

const (
	// maxFailing is the time after which failing runs end the listeners.
	maxFailing = 5 * time.Second
	// maxRetryDelay is the maximum time between the starts of two failing runs.
	maxRetryDelay = time.Second
	// maxKeptBytes is the maximum size of a State that is kept for later listeners: 128 MB for 2,000 queries.
	maxKeptBytes = 64 << 10
)

// query is a running Query with its listeners.
type query struct {
	Query
	hub    *Hub
	key    respcache.Key   // of Key
	ctx    context.Context // of the runs
	cancel context.CancelFunc
	wake   chan struct{} // has a value after a change of marked or of a listener

	mu        sync.Mutex
	listeners map[*Listener]struct{}
	marked    bool          // the response may have changed since the last run began
	awaited   bool          // a listener needs the next State even if it is equal
	runs      int64         // runs begun
	state     *State        // nil before the first run
	err       error         // why the query ended
	changed   chan struct{} // closed and replaced when state or err is news for listeners
}

// newQuery starts a query. ctx has the caller of the runs, unless they are shared: those have none.
func newQuery(ctx context.Context, h *Hub, q Query, key respcache.Key) *query {
	if q.Key != nil {
		ctx = h.ctx
	}
	out := &query{Query: q, hub: h, key: key, wake: make(chan struct{}, 1),
		listeners: map[*Listener]struct{}{}, changed: make(chan struct{})}
	out.ctx, out.cancel = context.WithCancel(ctx)
	h.goes(out.ctx, func() error {
		err := task.Run(out.ctx, out.serve)
		h.mu.Lock()
		h.unshare(out)
		h.mu.Unlock()
		out.end(err)
		return nil
	})
	return out
}

// join adds a listener. Its first State is the last one if that is of the current revision, else that of the next run.
func (q *query) join(l *Listener, current model.Revision) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.listeners[l] = struct{}{}
	if q.isOf(current) {
		l.minRun = q.state.run
		return
	}
	l.minRun = q.runs + 1
	q.marked, q.awaited = true, true
}

// isOf reports whether the last State is of a revision. The caller holds the lock.
func (q *query) isOf(revision model.Revision) bool {
	return q.Key != nil && q.state != nil && revision.IsKnown() && q.state.Revision == revision.Catalogue
}

// leave removes a listener and reports whether it was the last one.
func (q *query) leave(l *Listener) (last bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, open := q.listeners[l]; !open {
		return false
	}
	delete(q.listeners, l)
	return len(q.listeners) == 0
}

func (q *query) isMarked() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.marked
}

func (q *query) mark() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.marked = true
	q.signal()
}

// signal wakes the query's goroutine.
func (q *query) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// serve runs the query when it is marked and a listener that waits has paid, until ctx ends. Its error is for the
// listeners.
func (q *query) serve() error {
	var failing time.Time // first failure since the last success
	delay := minRunInterval
	for q.ctx.Err() == nil {
		payer, wait := q.payer()
		if payer == nil {
			task.Wait(q.ctx, wait, q.wake)
			continue
		}
		begun := time.Now()
		err := q.run(payer)
		switch {
		case err == nil:
			failing, delay = time.Time{}, minRunInterval
		case !model.IsCode(err, model.Unavailable):
			return err
		case failing.IsZero():
			failing = begun
		case time.Since(failing) >= maxFailing:
			return err
		default:
			delay = min(2*delay, maxRetryDelay)
		}
		task.Wait(q.ctx, time.Until(begun.Add(delay)), nil)
	}
	return q.ctx.Err()
}

// payer returns a listener that waits for a State and has paid for the next run, if one is due. Else wait is the time
// after which a listener may pay.
func (q *query) payer() (payer *Listener, wait time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	wait = never
	if !q.marked {
		return nil, wait
	}
	for l := range q.listeners {
		if !l.waiting {
			continue
		}
		if wait = min(wait, l.pay()); wait <= 0 {
			return l, 0
		}
	}
	return nil, wait
}

// run runs the query once, unless its State is of the current revision.
func (q *query) run(payer *Listener) error {
	q.mu.Lock()
	number, awaited := q.runs+1, q.awaited
	q.runs, q.marked, q.awaited = number, false, false
	q.mu.Unlock()

	state, err := q.read(caller.Of(payer.ctx))
	q.mu.Lock()
	defer q.mu.Unlock()
	if err != nil {
		q.marked, q.awaited = true, q.awaited || awaited
		return err
	}
	state.run = number
	equal := q.state != nil && q.state.Sum == state.Sum
	q.state = &state
	if equal && !awaited {
		payer.credit = false // it has no news for its unit
		q.forget()
		return nil
	}
	q.announce()
	return nil
}

// forget drops a large State that all listeners have. The caller holds the lock.
func (q *query) forget() {
	if q.state.Bytes <= maxKeptBytes {
		return
	}
	for l := range q.listeners {
		if l.hasNews() {
			return
		}
	}
	q.state.Response, q.state.Revision = nil, -1
}

// read returns the State of now. In the queue for permits it stands for the payer.
func (q *query) read(payer caller.Key) (State, error) {
	ctx := caller.With(telemetry.WithStatements(q.ctx), payer)
	known, err := q.hub.revision(ctx)
	if err != nil {
		return State{}, err
	}
	q.mu.Lock()
	if q.isOf(known) {
		defer q.mu.Unlock()
		return *q.state, nil
	}
	q.mu.Unlock()
	state, err := q.Run(ctx, known)
	if err == nil && telemetry.WithoutPrimary(ctx) {
		err = model.ErrNoPrimary
	}
	return state, err
}

// end ends the listeners.
func (q *query) end(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.err = err
	q.announce()
}

// announce wakes all listeners. The caller holds the lock.
func (q *query) announce() {
	close(q.changed)
	q.changed = make(chan struct{})
}

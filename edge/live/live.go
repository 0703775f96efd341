// Package live runs queries again when their responses may have changed (live queries).
//
//	a commit ──▶ Hub.follow marks the queries that it may affect
//	                 │
//	                 ▼
//	             query.run ──▶ one run for all listeners, at most every 100 ms ──▶ State
//	                 ▲                                                               │
//	                 └── a listener that waits pays its share     Listener.Next ◀────┘
//
// A State is the whole response at one revision. There is no backlog: a listener always gets the newest State, and none
// that equals its last one.
package live

import (
	"context"
	"crypto/sha256"
	"math"
	"sync"
	"time"

	"library-catalogue/edge/pipeline"
	"library-catalogue/edge/respcache"
	"library-catalogue/graph/model"
	"library-catalogue/graph/reads"
	"library-catalogue/task"
)

const (
	// minRunInterval is the minimum time between the starts of two runs of a query.
	minRunInterval = 100 * time.Millisecond
	// checkInterval is the time between two checks that the database answers.
	checkInterval = time.Second
	// never is the time until a wake-up that no timer causes.
	never = time.Duration(math.MaxInt64)
)

// State is a response of a query.
type State struct {
	Sum      [sha256.Size]byte // hash of the response; equal responses have equal ones
	Response any               // shared by all listeners
	Bytes    int               // size of Response
	Price    int64             // what the run has cost
	Revision int64             // -1: unknown
	run      int64             // number of the last run that returned the State
}

// Query is a query to run again.
type Query struct {
	// Key identifies equal queries, which share their runs. Without a Key a query runs for its own listener, with the
	// caller of the listener.
	Key pipeline.Key
	// Reads are the rows that the response depends on.
	Reads reads.Rows
	// Run runs the query. known is the current revision. Unavailable is tried again; other errors end the listeners.
	Run func(ctx context.Context, known model.Revision) (State, error)
}

// Follow calls fn with each page of new changes, until ctx ends or fn fails.
type Follow func(ctx context.Context, args model.ChangeArgs, admit func(context.Context) (release func(), err error),
	fn func(context.Context, *model.ChangePage) error) error

// Hub runs the live queries of a server. It is safe for concurrent use.
type Hub struct {
	ctx      context.Context // reports panics; never ends
	pipeline *pipeline.Pipeline
	changes  Follow

	mu      sync.Mutex
	queries map[*query]struct{}
	shared  map[respcache.Key]*query
	stop    context.CancelFunc // ends following; nil without queries
	running sync.WaitGroup
}

// NewHub returns a Hub that follows the changes of a catalogue. ctx is for its goroutines, which Wait waits for.
func NewHub(ctx context.Context, p *pipeline.Pipeline, changes Follow) *Hub {
	return &Hub{ctx: ctx, pipeline: p, changes: changes, queries: map[*query]struct{}{},
		shared: map[respcache.Key]*query{}}
}

// Wait waits for the goroutines of the Hub. Call it after all listeners have ended.
func (h *Hub) Wait() { h.running.Wait() }

// goes runs fn in a goroutine. The caller holds the lock.
func (h *Hub) goes(ctx context.Context, fn func() error) {
	h.running.Add(1)
	task.Go(ctx, func() error {
		defer h.running.Done()
		return fn()
	})
}

// Listen returns a new listener of a query. ctx has the caller, which has paid for the first State. throttle is the
// minimum time between two States. Call Close.
func (h *Hub) Listen(ctx context.Context, q Query, throttle time.Duration) *Listener {
	current, err := h.revision(ctx)
	if err != nil {
		current = model.NoRevision // the run fails, too
	}
	l := &Listener{ctx: ctx, throttle: throttle, credit: true}
	h.mu.Lock()
	defer h.mu.Unlock()
	var key respcache.Key
	if q.Key != nil {
		key = q.Key()
		l.query = h.shared[key]
	}
	if l.query == nil {
		l.query = newQuery(ctx, h, q, key)
		h.queries[l.query] = struct{}{}
		if q.Key != nil {
			h.shared[key] = l.query
		}
	}
	l.query.join(l, current)
	if h.stop == nil {
		var ctx context.Context
		ctx, h.stop = context.WithCancel(h.ctx)
		h.goes(ctx, func() error { h.follow(ctx); return nil })
		h.goes(ctx, func() error { h.check(ctx); return nil })
	}
	return l
}

var errNoRevision = model.Errorf(model.Unavailable, "The database does not answer. Try again in a moment.")

// revision reads the current revision. The error is Unavailable, after maxFailing at the latest.
func (h *Hub) revision(ctx context.Context) (model.Revision, error) {
	ctx, cancel := context.WithTimeout(ctx, maxFailing)
	defer cancel()
	current, err := h.pipeline.Catalogue.Revision(ctx)
	if err != nil && ctx.Err() != nil {
		err = errNoRevision
	}
	return current, err
}

// leave removes a listener, and its query with the last one.
func (h *Hub) leave(l *Listener) {
	h.mu.Lock()
	defer h.mu.Unlock()
	q := l.query
	if !q.leave(l) {
		return
	}
	q.cancel()
	delete(h.queries, q)
	h.unshare(q)
	if len(h.queries) == 0 {
		h.stop()
		h.stop = nil
	}
}

// unshare lets later listeners start a new query. The caller holds the lock.
func (h *Hub) unshare(q *query) {
	if h.shared[q.key] == q {
		delete(h.shared, q.key)
	}
}

// follow marks the queries that new changes may affect, until ctx ends. After a gap it marks all.
func (h *Hub) follow(ctx context.Context) {
	for ctx.Err() == nil {
		begun := false
		_ = h.changes(ctx, model.ChangeArgs{}, nil, func(_ context.Context, page *model.ChangePage) error {
			if !begun {
				begun = true
				h.mark(nil)
			}
			if len(page.Nodes) > 0 {
				h.mark(page.Nodes)
			}
			return nil
		})
		task.Wait(ctx, checkInterval, nil)
	}
}

// check marks all queries while the database refuses to answer, so that their runs fail. It ends them when the database
// hangs.
func (h *Hub) check(ctx context.Context) {
	for ctx.Err() == nil {
		begun := time.Now()
		switch _, err := h.revision(ctx); {
		case err == nil:
		case time.Since(begun) >= maxFailing:
			h.end(err)
		default:
			h.mark(nil)
		}
		task.Wait(ctx, checkInterval, nil)
	}
}

// end ends all queries.
func (h *Hub) end(err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for q := range h.queries {
		h.unshare(q)
		q.end(err)
	}
}

// mark marks the queries that changes may affect; nil may affect all.
func (h *Hub) mark(changes []*model.Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for q := range h.queries {
		if !q.isMarked() && (changes == nil || q.Reads.AffectedBy(changes)) {
			q.mark()
		}
	}
}

package admission

import (
	"context"
	"slices"
	"sync"
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/server/caller"
)

const (
	// maxWait is how long a request waits for its places: half of what it may take.
	maxWait = 15 * time.Second
	// maxCallers is how many callers a queue remembers, in about 1 MB. Past that it
	// forgets those who hold nothing and do not wait.
	maxCallers = 10_000
)

// ErrBusy refuses a request that has waited too long.
var ErrBusy = model.Errorf(model.Unavailable, "The server is busy with other requests. Try again in a moment.")

// Queue shares places between callers. Of the callers who wait, the one served least
// recently is next, with its oldest request. A caller holds no more than its share. It is
// safe for concurrent use.
type Queue struct {
	size, share int64 // places, and those that one caller may hold

	mu      sync.Mutex
	used    int64
	turn    uint64 // counts the requests that were admitted
	callers map[caller.Caller]*usage
	waiting []*ticket // the oldest first
}

// usage is what one caller holds of a queue.
type usage struct {
	held    int64
	pending int    // requests that wait or hold places
	served  uint64 // turn of the request admitted last
}

// ticket is a request for places.
type ticket struct {
	*usage
	places   int64
	admitted chan struct{} // closed when the places are held
}

// NewQueue returns a queue of so many places, of which one caller may hold its share.
func NewQueue(size, share int64) *Queue {
	return &Queue{size: size, share: share, callers: map[caller.Caller]*usage{}}
}

// Acquire waits until the caller of ctx holds so many places, its share at most. The
// caller must call release when it needs them no longer; further calls do nothing. The
// error is ErrBusy, after 15 s or when ctx ends.
func (q *Queue) Acquire(ctx context.Context, places int64) (release func(), err error) {
	t := q.enter(caller.Of(ctx), min(max(places, 1), q.share))
	release = sync.OnceFunc(func() { q.leave(t) })
	select {
	case <-t.admitted:
		return release, nil
	default:
	}
	timer := time.NewTimer(maxWait)
	defer timer.Stop()
	select {
	case <-t.admitted:
		return release, nil
	case <-ctx.Done():
	case <-timer.C:
	}
	release()
	return nil, ErrBusy
}

func (q *Queue) enter(who caller.Caller, places int64) *ticket {
	q.mu.Lock()
	defer q.mu.Unlock()
	u := q.callers[who]
	if u == nil {
		if len(q.callers) >= maxCallers {
			for other, u := range q.callers {
				if u.pending == 0 {
					delete(q.callers, other)
				}
			}
		}
		u = &usage{}
		q.callers[who] = u
	}
	u.pending++
	t := &ticket{u, places, make(chan struct{})}
	q.waiting = append(q.waiting, t)
	q.dispatch()
	return t
}

// leave gives the places of a ticket back, or ends its wait.
func (q *Queue) leave(t *ticket) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.pending--
	if i := slices.Index(q.waiting, t); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	} else {
		q.used -= t.places
		t.held -= t.places
	}
	q.dispatch()
}

// dispatch admits requests in turn while there are places. The next one is not passed
// over where it needs more than are free, so that large requests do not starve.
func (q *Queue) dispatch() {
	for {
		next := -1
		for i, t := range q.waiting {
			if t.held+t.places <= q.share && (next < 0 || t.served < q.waiting[next].served) {
				next = i
			}
		}
		if next < 0 || q.used+q.waiting[next].places > q.size {
			return
		}
		t := q.waiting[next]
		q.waiting = slices.Delete(q.waiting, next, next+1)
		q.turn++
		t.served = q.turn
		t.held += t.places
		q.used += t.places
		close(t.admitted)
	}
}

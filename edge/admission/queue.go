package admission

import (
	"context"
	"slices"
	"sync"
	"time"

	"library-catalogue/edge/caller"
	"library-catalogue/graph/model"
)

const (
	// maxWait is the maximum wait for permits: half of a request's timeout.
	maxWait = 15 * time.Second
	// maxCallers is the number of callers, in about 1 MB, above which a queue forgets idle ones.
	maxCallers = 10_000
)

// ErrBusy is the error of a request that has waited too long for permits.
var ErrBusy = model.Errorf(model.Unavailable, "The server is busy with other requests. Try again in a moment.")

// Queue is a weighted semaphore that is fair between callers. The next permits go to the waiting caller that was served
// least recently, for its oldest request. A caller holds at most maxPerCaller permits. It is safe for concurrent use.
type Queue struct {
	size, maxPerCaller int64 // permits

	mu          sync.Mutex
	used        int64
	servedTotal uint64 // admitted requests
	callers     map[caller.Key]*usage
	waiting     []*ticket // the oldest first
}

// usage is one caller's use of a queue.
type usage struct {
	held       int64  // permits
	pending    int    // requests that wait or hold permits
	lastServed uint64 // Queue.servedTotal at the last admitted request
}

// ticket is a request for permits.
type ticket struct {
	*usage
	permits  int64
	admitted chan struct{} // closed when the permits are held
}

// NewQueue returns a queue with size permits. One caller can hold maxPerCaller of them.
func NewQueue(size, maxPerCaller int64) *Queue {
	return &Queue{size: size, maxPerCaller: maxPerCaller, callers: map[caller.Key]*usage{}}
}

// Acquire waits until the caller of ctx holds the permits, at most maxPerCaller. Call release when
// they are no longer needed; further calls do nothing. The error is ErrBusy, after 15 s or when ctx ends.
func (q *Queue) Acquire(ctx context.Context, permits int64) (release func(), err error) {
	t := q.enter(caller.Of(ctx), min(max(permits, 1), q.maxPerCaller))
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

func (q *Queue) enter(who caller.Key, permits int64) *ticket {
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
	t := &ticket{u, permits, make(chan struct{})}
	q.waiting = append(q.waiting, t)
	q.dispatch()
	return t
}

// leave releases the permits of a ticket, or ends its wait.
func (q *Queue) leave(t *ticket) {
	q.mu.Lock()
	defer q.mu.Unlock()
	t.pending--
	if i := slices.Index(q.waiting, t); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	} else {
		q.used -= t.permits
		t.held -= t.permits
	}
	q.dispatch()
}

// dispatch admits requests while there are permits. It does not skip a request that needs more permits than are free,
// so that large requests do not starve.
func (q *Queue) dispatch() {
	for {
		next := -1
		for i, t := range q.waiting {
			if t.held+t.permits <= q.maxPerCaller && (next < 0 || t.lastServed < q.waiting[next].lastServed) {
				next = i
			}
		}
		if next < 0 || q.used+q.waiting[next].permits > q.size {
			return
		}
		t := q.waiting[next]
		q.waiting = slices.Delete(q.waiting, next, next+1)
		q.servedTotal++
		t.lastServed = q.servedTotal
		t.held += t.permits
		q.used += t.permits
		close(t.admitted)
	}
}

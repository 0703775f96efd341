// Package admission lets work begin when there is room for it. What a request takes
// is known before: by its body, by whether its document is known, and by its cost.
// So what is large waits for its like, and what is small does not wait for it.
package admission

import (
	"context"
	"net/http"
	"runtime"
	"time"

	"golang.org/x/sync/semaphore"

	"library-catalogue/graph/model"
)

const (
	// smallCost is how much a request of the small ones costs at most, and smallRoom
	// how much those together that are worked on. A page of 100 books costs 300 by REST.
	smallCost = 1_000
	smallRoom = 12 * smallCost
)

// ErrBusy refuses work that has waited too long.
var ErrBusy = model.Errorf(model.Unavailable, "The server is busy with other requests. Try again in a moment.")

// Controller admits work.
type Controller struct {
	timeout      time.Duration // after which work that waits is refused
	small, large *semaphore.Weighted
	largest      int64 // cost that large has room for

	// parsers has an element for each that parses what was not seen before: work of
	// which nobody knows how long it takes.
	parsers chan struct{}
}

// New returns a controller that has room for one operation of that cost, or more
// smaller ones, and refuses what has waited for so long.
func New(maxCost int, timeout time.Duration) *Controller {
	return &Controller{
		timeout: timeout,
		small:   semaphore.NewWeighted(smallRoom),
		large:   semaphore.NewWeighted(int64(maxCost)), largest: int64(maxCost),
		parsers: make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2)), // so that others find a processor free
	}
}

// Acquire waits until there is room for work of that cost. release is to be called
// when it is done, and may be called again.
func (c *Controller) Acquire(ctx context.Context, cost int64) (release func(), _ error) {
	if cost <= smallCost {
		return c.acquire(ctx, c.small, cost)
	}
	// More at once than there are processors for gets none done sooner.
	return c.acquire(ctx, c.large, max(min(cost, c.largest), c.largest/int64(2*runtime.GOMAXPROCS(0))))
}

func (c *Controller) acquire(ctx context.Context, s *semaphore.Weighted, cost int64) (release func(), _ error) {
	if !s.TryAcquire(cost) {
		ctx, cancel := context.WithTimeout(ctx, c.timeout)
		defer cancel()
		if s.Acquire(ctx, cost) != nil {
			return nil, ErrBusy
		}
	}
	begun, released := time.Now(), false
	return func() {
		if !released {
			released = true
			afterCooldown(begun, func() { s.Release(cost) })
		}
	}, nil
}

// AcquireParser waits until something that was not seen before may be parsed. A
// request with a large body has done so when that was read.
func (c *Controller) AcquireParser(ctx context.Context) (release func(), _ error) {
	if body, ok := ctx.Value(bodyKey{}).(*reservedBody); ok && body.releaseWork != nil {
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	select {
	case c.parsers <- struct{}{}:
		begun := time.Now()
		return func() { afterCooldown(begun, func() { <-c.parsers }) }, nil
	case <-ctx.Done():
		return nil, ErrBusy
	}
}

// acquireLarge waits until the work on a large body may begin: alone among parsers,
// and not beside operations that take as much memory.
func (c *Controller) acquireLarge(ctx context.Context) (release func(), _ error) {
	releaseRoom, err := c.acquire(ctx, c.large, (c.largest+1)/2)
	if err != nil {
		return nil, err
	}
	releaseParser, err := c.AcquireParser(ctx)
	if err != nil {
		releaseRoom()
		return nil, err
	}
	return func() {
		releaseParser()
		releaseRoom()
	}, nil
}

const (
	shortWork   = time.Millisecond
	maxCooldown = 50 * time.Millisecond
)

// afterCooldown calls release after as long a pause as the work has taken, if that
// was long: so that work of which there is no end leaves processors free.
func afterCooldown(begun time.Time, release func()) {
	if worked := time.Since(begun); worked > shortWork {
		time.AfterFunc(min(worked, maxCooldown), release)
		return
	}
	release()
}

// ReleaseOnAnswer returns a writer that releases what a request has acquired when
// it is answered: a client that is slow to read the answer keeps nobody waiting.
func ReleaseOnAnswer(w http.ResponseWriter, release func()) http.ResponseWriter {
	return answering{w, release}
}

type answering struct {
	http.ResponseWriter
	release func()
}

func (a answering) WriteHeader(status int) {
	a.release()
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (a answering) Unwrap() http.ResponseWriter { return a.ResponseWriter }

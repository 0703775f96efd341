package server

import (
	"context"
	"net/http"
	"runtime"
	"time"

	"golang.org/x/sync/semaphore"

	"library-catalogue/graph/model"
	"library-catalogue/rest"
)

// admission lets work begin when there is room for it. What a request takes is
// known before: by its body, by whether its document is known, and by its cost. So
// what is large waits for its like, and what is small does not wait for it.
type admission struct {
	turns        turns
	small, large *semaphore.Weighted
	largest      int64 // cost that large has room for
}

const (
	// smallCost is how much a request of the small ones costs at most, and
	// roomForSmall how much those together that are worked on.
	smallCost    = 1_000
	roomForSmall = 12 * smallCost
)

// newAdmission makes room for one operation of that cost, or more smaller ones.
func newAdmission(largest int64) *admission {
	return &admission{
		turns: make(turns, max(1, runtime.GOMAXPROCS(0)/2)), // so that others find a processor free
		small: semaphore.NewWeighted(roomForSmall),
		large: semaphore.NewWeighted(largest), largest: largest,
	}
}

// errBusy is for work that has waited too long.
var errBusy = model.Errorf(model.Unavailable, "The server is busy with other requests. Try again in a moment.")

// enter waits until there is room for work of that cost. leave is to be called
// when it is done, and may be called again.
func (a *admission) enter(ctx context.Context, cost int64) (leave func(), _ *model.Error) {
	if cost <= smallCost {
		return take(ctx, a.small, cost)
	}
	// More at once than there are processors for gets none done sooner.
	return take(ctx, a.large, max(min(cost, a.largest), a.largest/int64(2*runtime.GOMAXPROCS(0))))
}

// takeLarge lets the work on a large body begin: in turn, and not beside operations
// that take as much memory.
func (a *admission) takeLarge(ctx context.Context) (leave func(), _ *model.Error) {
	leaveRoom, err := take(ctx, a.large, (a.largest+1)/2)
	if err != nil {
		return nil, err
	}
	leaveTurn, err := a.turns.take(ctx)
	if err != nil {
		leaveRoom()
		return nil, err
	}
	return func() {
		leaveTurn()
		leaveRoom()
	}, nil
}

func take(ctx context.Context, lane *semaphore.Weighted, cost int64) (leave func(), _ *model.Error) {
	if !lane.TryAcquire(cost) {
		ctx, cancel := context.WithTimeout(ctx, requestTimeout)
		defer cancel()
		if lane.Acquire(ctx, cost) != nil {
			return nil, errBusy
		}
	}
	begun, left := time.Now(), false
	return func() {
		if !left {
			left = true
			restAfter(begun, func() { lane.Release(cost) })
		}
	}, nil
}

const (
	shortWork   = time.Millisecond
	longestRest = 50 * time.Millisecond
)

// restAfter lets the next one begin after as long a rest as the work has taken, if
// that was long: so that work of which there is no end leaves processors free.
func restAfter(begun time.Time, next func()) {
	if worked := time.Since(begun); worked > shortWork {
		time.AfterFunc(min(worked, longestRest), next)
		return
	}
	next()
}

// turns are for work of which it is not known how long it takes: to parse what was
// not seen before. There is an element for each that is taken.
type turns chan struct{}

// take waits for a turn, unless the request has one.
func (t turns) take(ctx context.Context) (leave func(), _ *model.Error) {
	if body, ok := ctx.Value(heldBodyKey{}).(*heldBody); ok && body.leave != nil {
		return func() {}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	select {
	case t <- struct{}{}:
		begun := time.Now()
		return func() { restAfter(begun, func() { <-t }) }, nil
	case <-ctx.Done():
		return nil, errBusy
	}
}

type heldBodyKey struct{}

// leaveTurn ends the turn that a request with a large body has, if it has one.
func leaveTurn(ctx context.Context) {
	if body, ok := ctx.Value(heldBodyKey{}).(*heldBody); ok {
		body.leaveTurn()
	}
}

// api charges requests under /api by their cost, and lets them begin when there is
// room, until they are answered. A whole list has turns of its own there.
func (a *admission) api(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cost, streamed := rest.Cost(r)
		if !chargeCost(w, r, cost) {
			return
		}
		if streamed {
			next.ServeHTTP(w, r)
			return
		}
		leave, err := a.enter(r.Context(), cost)
		if err != nil {
			refuse(w, r, refusal{http.StatusServiceUnavailable, err.Code, err.Message})
			return
		}
		defer leave()
		next.ServeHTTP(answering{w, leave}, r)
	})
}

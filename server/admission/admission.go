// Package admission lets work begin when there is room for it, fair by caller: what
// one has asked for waits behind what others have asked for less of.
package admission

import (
	"cmp"
	"context"
	"math"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/server/caller"
)

const (
	// lightCost is how much light work costs at most: a page of 100 books, each with
	// its genre and category, costs 301, and up to 380 by its number among 100,000. It
	// is over within milliseconds, and has room of its own, so that it never waits for
	// heavy work.
	lightCost = 400
	// costPerConnection is how much light work there is room for, for each connection
	// to the database: the rows of a page of the largest size. Much of it shares
	// statements with other work, so that it needs less than a connection each.
	costPerConnection = model.MaxPageSize
	// costTime is how long a unit of cost is taken to last until it is known how
	// long the work lasted: between the 3 µs of a row that is read by an index, and
	// the 300 µs of 300 rows that are compared with a text.
	costTime = 50 * time.Microsecond
	// maxIdleFlows is how many callers are remembered who have nothing under way.
	maxIdleFlows = 1 << 10
)

var (
	// ErrBusy refuses work that has waited too long.
	ErrBusy = model.Errorf(model.Unavailable, "The server is busy with other requests. Try again in a moment.")
	// ErrTimeLimit ends work that takes longer than WithTimeLimit allows.
	ErrTimeLimit = model.Errorf(model.Unavailable, "The request takes longer than its cost allows. Ask for less, or give a condition by id, genreId, name or author; if it did not take long before, try again in a moment.")
)

// maxTime is how long any work may take: half of what a request has with its wait to begin.
const maxTime = 15 * time.Second

// WithTimeLimit returns the context for reading that has that cost, whose cause is
// ErrTimeLimit when it has taken too long: so that work which takes more than it was
// taken to cost does not keep others waiting. Light work takes milliseconds: it has the
// request's own deadline, since one of its own would be 3 % of the work on a book by id.
func WithTimeLimit(ctx context.Context, cost int64) (context.Context, context.CancelFunc) {
	if cost <= lightCost {
		return ctx, func() {}
	}
	const minTime = 5 * time.Second // for a database that is slow for others' sake
	return context.WithTimeoutCause(ctx, min(minTime+time.Duration(min(cost, int64(maxTime/costTime)))*costTime, maxTime), ErrTimeLimit)
}

// Controller admits work by weighted fair queueing (Demers, Keshav and Shenker, 1989):
// each caller is a flow, and work is due when it would be done if all flows were
// served at once. So little work of somebody who comes anew is next. What work has
// taken in the end counts, not what it was taken to cost.
type Controller struct {
	timeout time.Duration // after which work that waits is refused

	mu      sync.Mutex
	rooms   [classes]room
	flows   map[caller.Caller]*flow
	running int       // works that are under way
	active  int       // flows with work that waits or is under way
	clock   float64   // virtual time: what each active flow would have had by now if all had as much, in units of cost
	at      time.Time // when the clock was set
	waiting []*work   // in the order in which it is due
	sweepAt int       // flows, at which idle ones are forgotten
}

// class is a kind of work that has room of its own.
type class int

const (
	light class = iota
	heavy
	classes
)

// room bounds the work of a class that is under way. A part of it is for callers who
// are new, or with what they ask for have had less than others, since nothing that runs
// is interrupted for them.
type room struct {
	size, used int64
	least      int64 // room that any work takes; half of size at most
	share      int64 // room that the work of one caller takes at most, or of all who have had more
}

func newRoom(size, least int64) room {
	return room{size: size, least: least, share: size - max(least, size/4)}
}

// flow is the work of one caller.
type flow struct {
	finish  float64 // in virtual time, of all that was asked for
	pending int     // that waits or is under way
	held    [classes]int64
}

// work is what was asked for at once.
type work struct {
	flow     *flow
	class    class
	weight   int64   // room that it takes
	within   int64   // room that may be taken with it
	cost     float64 // what it is taken to cost
	due      float64 // in virtual time
	admitted chan struct{}
	begun    time.Time // zero where it waits, or is over
}

// New returns a controller for a database with so many connections, and operations of
// at most that cost. It refuses what has waited for so long.
//
// Of heavy work twice as much is under way as there are processors, so that none is
// idle while some of it waits for the database; but on no more than half of the
// connections. All together may cost as much as one operation, which bounds the rows
// in memory.
func New(connections, maxCost int, timeout time.Duration) *Controller {
	places := max(2, min(2*runtime.GOMAXPROCS(0), connections/2))
	return &Controller{
		timeout: timeout,
		rooms: [classes]room{
			light: newRoom(int64(connections)*costPerConnection, 1),
			heavy: newRoom(int64(maxCost), max(1, int64(maxCost/places))),
		},
		flows: map[caller.Caller]*flow{}, sweepAt: maxIdleFlows,
	}
}

// Acquire waits until work of that cost may begin for the caller of ctx. release is to
// be called when it is done, and may be called again.
func (c *Controller) Acquire(ctx context.Context, cost int64) (release func(), _ error) {
	w := c.ask(caller.Of(ctx), max(cost, 1))
	release = func() { c.release(w) }
	if w.admitted == nil {
		return release, nil
	}
	timer := time.NewTimer(c.timeout)
	defer timer.Stop()
	select {
	case <-w.admitted:
		return release, nil
	case <-ctx.Done():
	case <-timer.C:
	}
	release()
	return nil, ErrBusy
}

// AcquireParser waits until something that was not seen before may be parsed. A
// request with a large body has done so when that was read.
func (c *Controller) AcquireParser(ctx context.Context, cost int64) (release func(), _ error) {
	if body, ok := ctx.Value(bodyKey{}).(*largeBody); ok && body.releaseWork != nil {
		return func() {}, nil
	}
	return c.Acquire(ctx, cost)
}

// ask admits work, or puts it in the queue.
func (c *Controller) ask(who caller.Caller, cost int64) *work {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.advance()
	f := c.flow(who)
	w := &work{flow: f, cost: float64(cost)}
	if cost > lightCost {
		w.class = heavy
	}
	room := &c.rooms[w.class]
	w.weight, w.within = min(max(cost, room.least), room.size/2), room.size
	if f.pending++; f.pending == 1 {
		c.active++
	}
	if c.active > 1 && f.finish+w.cost > c.clock {
		w.within = room.share
	}
	f.finish = max(c.clock, f.finish) + w.cost
	w.due = f.finish
	if len(c.waiting) == 0 && c.fits(w) {
		c.admit(w, now)
		return w
	}
	w.admitted = make(chan struct{})
	at, _ := slices.BinarySearchFunc(c.waiting, w, func(a, b *work) int {
		return cmp.Or(cmp.Compare(a.due, b.due), -1) // after those that are due at the same time
	})
	c.waiting = slices.Insert(c.waiting, at, w)
	c.dispatch(now)
	return w
}

// advance sets the clock by what is under way.
func (c *Controller) advance() (now time.Time) {
	now = time.Now()
	if c.running > 0 {
		c.clock += units(now.Sub(c.at)) * float64(c.running) / float64(c.active)
	}
	c.at = now
	return now
}

// units returns what has taken so long in units of cost.
func units(took time.Duration) float64 { return float64(took) / float64(costTime) }

func (c *Controller) flow(who caller.Caller) *flow {
	f := c.flows[who]
	if f == nil {
		if len(c.flows) >= c.sweepAt {
			for who, f := range c.flows {
				if f.pending == 0 {
					delete(c.flows, who)
				}
			}
			c.sweepAt = len(c.flows) + maxIdleFlows
		}
		f = &flow{finish: math.Inf(-1)}
		c.flows[who] = f
	}
	return f
}

// fits reports whether there is room for work.
func (c *Controller) fits(w *work) bool {
	room := &c.rooms[w.class]
	return room.used+w.weight <= w.within && w.flow.held[w.class]+w.weight <= room.share
}

func (c *Controller) admit(w *work, now time.Time) {
	c.running++
	c.rooms[w.class].used += w.weight
	w.flow.held[w.class] += w.weight
	w.begun = now
}

// dispatch admits what there is room for, in the order in which it is due. Work that
// must wait for others holds up all of its class that is due later and may take no
// more room, so that what is large is not passed by for ever; work that must wait for
// its own caller's, none.
func (c *Controller) dispatch(now time.Time) {
	var full [classes]int64 // of the room up to which work is held up
	c.waiting = slices.DeleteFunc(c.waiting, func(w *work) bool {
		if w.within <= full[w.class] {
			return false
		}
		if !c.fits(w) {
			if c.rooms[w.class].used+w.weight > w.within {
				full[w.class] = w.within
			}
			return false
		}
		c.admit(w, now)
		close(w.admitted)
		return true
	})
}

// release ends work, or the wait for it.
func (c *Controller) release(w *work) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.advance()
	switch i := slices.Index(c.waiting, w); {
	case i >= 0:
		c.waiting = slices.Delete(c.waiting, i, i+1)
		w.flow.finish -= w.cost
	case w.begun.IsZero():
		return
	default:
		c.rooms[w.class].used -= w.weight
		w.flow.held[w.class] -= w.weight
		c.running--
		w.flow.finish += units(now.Sub(w.begun)) - w.cost
	}
	w.begun = time.Time{}
	if w.flow.pending--; w.flow.pending == 0 {
		c.active--
	}
	c.dispatch(now)
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

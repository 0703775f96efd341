// Package admission lets work begin when there is room for it, fair by caller: that of
// who has had least is next.
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
	// lightCost is how much light work costs at most: a page of 100 books, each with its
	// genre and category, costs 301, and up to 380 by its number among 100,000. It is
	// over within milliseconds, and has room of its own, so that it never waits for heavy
	// work.
	lightCost = 400
	// costPerConnection is how much light work there is room for, for each connection
	// to the database: the rows of a page of the largest size. Much of it shares
	// statements with other work, so that it needs less than a connection each.
	costPerConnection = model.MaxPageSize
	// costTime is how long a unit of cost is taken to last until it is known how
	// long the work lasted: between the 3 µs of a row that is read by an index, and
	// the 300 µs of 300 rows that are compared with a text.
	costTime = 50 * time.Microsecond
	// memory is how long ago it was that what a caller has had counts a third: as long
	// as 20 callers take one after another, with heavy work of three seconds each.
	memory = time.Minute
	// ample is what a caller may have had of that before work is bounded to a share of
	// its room: one second of a processor, in which a list of 100,000 books is read.
	ample = float64(time.Second / costTime)
	// fewCallers is how many may ask at once before each waits for less time: of 200,
	// none waits for two seconds, and is told then that the server is busy.
	fewCallers = 12
	// maxIdleFlows is how many callers are remembered who have nothing under way.
	maxIdleFlows = 1 << 10
)

var (
	// ErrBusy refuses work that has waited too long.
	ErrBusy = model.Errorf(model.Unavailable, "The server is busy with other requests. Try again in a moment.")
	// ErrTimeLimit ends reading that takes longer than its cost allows.
	ErrTimeLimit = model.Errorf(model.Unavailable, "The request takes longer than its cost allows. Ask for less, or give a condition by id, genreId, name or author; if it did not take long before, try again in a moment.")
)

// Controller admits work by decay usage scheduling, as time-sharing systems do: who
// will have had least of late is next. What work is expected to take counts until it is
// over, and then the time for which others waited meanwhile: what took nothing from
// anybody is free. Heavy reading yields to others (see Read).
type Controller struct {
	timeout time.Duration // after which work that waits is refused, of few callers

	mu      sync.Mutex
	rooms   [classes]room
	flows   map[caller.Caller]*flow
	active  int         // flows with work that waits or is under way
	last    *flow       // that asked last
	shared  time.Time   // when one asked after another, last time
	waiting []*work     // in the order in which it was next, last time
	queued  stopwatch   // runs while work waits
	reading []*work     // that is under way and can be begun again
	timer   *time.Timer // until some of that yields; nil where nothing waits for it
	sweepAt int         // flows, at which idle ones are forgotten
}

// class is a kind of work that has room of its own.
type class int

const (
	light class = iota
	heavy
	classes
)

// room bounds the work of a class that is under way.
type room struct {
	size, used int64
	least      int64 // room that any work takes; half of size at most
	alone      int64 // room that it takes where nobody else has asked of late
	most       int64 // room that the work of one caller takes at most, beside others
	share      int64 // room that all take whose callers have had ample
}

// newRoom returns a room of which one caller takes three quarters at most, so that others
// begin at once, and those who have had ample take half, so that at least half is
// there for who comes anew.
func newRoom(size, least, alone int64) room {
	return room{size: size, least: least, alone: alone, most: size - max(least, size/4), share: max(least, size/2)}
}

// flow is the work of one caller.
type flow struct {
	used    float64   // of late, in units of cost, with what is under way
	at      time.Time // when used was that
	pending int       // that waits or is under way
	held    [classes]int64
}

// decay brings used up to date.
func (f *flow) decay(now time.Time) {
	f.used *= math.Exp(-float64(now.Sub(f.at)) / float64(memory))
	f.at = now
}

// work is what was asked for at once.
type work struct {
	controller *Controller
	flow       *flow
	class      class
	cost       int64
	weight     int64         // room that it takes
	expected   float64       // what it is taken to cost, which counts until it is over
	timeLimit  time.Duration // of reading
	quantum    time.Duration // for which reading does not yield

	timeout  time.Duration           // for which it waits
	admitted chan struct{}           // is closed when it may begin; nil where it may at once
	begun    time.Time               // zero where it waits, or is over
	queued   time.Duration           // for which work had waited by then
	yield    context.CancelCauseFunc // ends reading; nil where it is to end already
}

// due is what its caller will have had: the work with the least is next.
func (w *work) due() float64 { return w.flow.used + w.expected }

// New returns a controller for a database with so many connections, and operations of
// at most that cost. It refuses what has waited for so long.
//
// Of heavy work, each of which takes a processor here or in the database, one more is
// under way than there are processors, so that one caller may have them all and leaves
// a place; but on no more than half of the connections, on which a caller may have it who
// has asked alone for as long as is remembered. All together may cost as much as one
// operation, which bounds the rows in memory.
func New(connections, maxCost int, timeout time.Duration) *Controller {
	places := max(2, min(runtime.GOMAXPROCS(0)+1, connections/2))
	part := func(of int) int64 { return max(1, int64(maxCost/of)) }
	return &Controller{
		timeout: timeout,
		rooms: [classes]room{
			light: newRoom(int64(connections)*costPerConnection, 1, 1),
			heavy: newRoom(int64(maxCost), part(places), part(max(places, connections/2))),
		},
		flows: map[caller.Caller]*flow{}, sweepAt: maxIdleFlows,
	}
}

// Acquire waits until work of that cost may begin for the caller of ctx. release is to
// be called when it is done, and may be called again.
func (c *Controller) Acquire(ctx context.Context, cost int64) (release func(), _ error) {
	_, release, err := c.Admit(ctx, cost)
	return release, err
}

// Admit is as Acquire, and returns the context for Read.
func (c *Controller) Admit(ctx context.Context, cost int64) (_ context.Context, release func(), _ error) {
	ReleasePermit(ctx)
	w := c.ask(caller.Of(ctx), max(cost, 1))
	release = func() { c.release(w) }
	if err := w.wait(ctx); err != nil {
		return ctx, nil, err
	}
	return context.WithValue(ctx, workKey{}, w), release, nil
}

// wait waits until work may begin. Where it may not, it is over.
func (w *work) wait(ctx context.Context) error {
	if w.admitted == nil {
		return nil
	}
	timer := time.NewTimer(w.timeout)
	defer timer.Stop()
	select {
	case <-w.admitted:
		return nil
	case <-ctx.Done():
	case <-timer.C:
	}
	w.controller.release(w)
	return ErrBusy
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
	now := time.Now()
	w := &work{controller: c, flow: c.flow(who), cost: cost, expected: float64(cost), timeLimit: timeLimit(cost), quantum: firstQuantum}
	if cost > lightCost {
		w.class = heavy
	}
	if w.flow.pending++; w.flow.pending == 1 {
		c.active++
	}
	if c.last != nil && c.last != w.flow {
		c.shared = now
	}
	c.last = w.flow
	c.enqueue(w, now)
	return w
}

// enqueue admits work, or puts it in the queue.
func (c *Controller) enqueue(w *work, now time.Time) {
	w.flow.decay(now)
	if len(c.waiting) == 0 && c.fits(w, now) {
		c.admit(w, now)
		return
	}
	w.timeout = c.timeout * fewCallers / time.Duration(max(fewCallers, c.active))
	w.admitted = make(chan struct{})
	c.waiting = append(c.waiting, w)
	c.dispatch(now)
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
		f = &flow{at: time.Now()}
		c.flows[who] = f
	}
	return f
}

// within returns how much room may be taken with work.
func (c *Controller) within(w *work) int64 {
	if c.active > 1 && w.flow.used > ample {
		return c.rooms[w.class].share
	}
	return c.rooms[w.class].size
}

// fits reports whether there is room for work, of which it finds how much it takes.
func (c *Controller) fits(w *work, now time.Time) bool {
	room := &c.rooms[w.class]
	least, most := room.least, room.most
	if now.Sub(c.shared) > memory {
		least, most = room.alone, room.size
	}
	w.weight = min(max(w.cost, least), room.size/2)
	return room.used+w.weight <= c.within(w) && w.flow.held[w.class]+w.weight <= most
}

func (c *Controller) admit(w *work, now time.Time) {
	c.rooms[w.class].used += w.weight
	w.flow.held[w.class] += w.weight
	w.flow.used += w.expected
	w.begun, w.queued = now, c.queued.at(now)
}

// dispatch admits what there is room for, that of callers who have had least first.
// Work that must wait for others holds up all of its class that comes later and may take no
// more room, so that what is large is not passed by for ever; work that must wait for
// its own caller's, none.
func (c *Controller) dispatch(now time.Time) {
	for _, w := range c.waiting {
		w.flow.decay(now)
	}
	slices.SortStableFunc(c.waiting, func(a, b *work) int { return cmp.Compare(a.due(), b.due()) })
	var full [classes]int64 // of the room up to which work is held up
	c.waiting = slices.DeleteFunc(c.waiting, func(w *work) bool {
		within := c.within(w)
		if within <= full[w.class] {
			return false
		}
		if !c.fits(w, now) {
			if c.rooms[w.class].used+w.weight > within {
				full[w.class] = within
			}
			return false
		}
		c.admit(w, now)
		close(w.admitted)
		return true
	})
	c.queued.run(len(c.waiting) > 0, now)
	c.preempt(now)
}

// release ends work, or the wait for it.
func (c *Controller) release(w *work) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	switch i := slices.Index(c.waiting, w); {
	case i >= 0:
		c.waiting = slices.Delete(c.waiting, i, i+1)
	case w.begun.IsZero():
		return
	default:
		c.end(w, now)
	}
	if w.flow.pending--; w.flow.pending == 0 {
		c.active--
	}
	c.dispatch(now)
}

// end takes away the room of work, and counts what it has taken from others: the time
// for which some waited meanwhile. It returns how long it has taken.
func (c *Controller) end(w *work, now time.Time) time.Duration {
	took := now.Sub(w.begun)
	w.flow.decay(now)
	w.flow.used = max(0, w.flow.used-w.expected) + units(c.queued.at(now)-w.queued)
	c.rooms[w.class].used -= w.weight
	w.flow.held[w.class] -= w.weight
	w.begun = time.Time{}
	return took
}

// stopwatch measures for how long something was so.
type stopwatch struct {
	since  time.Time // zero where it is not so
	before time.Duration
}

// run begins, or goes on, while running is true, and stops where it is not.
func (s *stopwatch) run(running bool, now time.Time) {
	s.before = s.at(now)
	if s.since = now; !running {
		s.since = time.Time{}
	}
}

// at returns for how long it has run.
func (s *stopwatch) at(now time.Time) time.Duration {
	if s.since.IsZero() {
		return s.before
	}
	return s.before + now.Sub(s.since)
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

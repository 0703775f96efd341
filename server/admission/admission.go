// Package admission decides when the work of a request begins, so that no caller keeps
// others waiting. Work is light, medium or heavy by its estimated price, and each class
// has places of its own (see Queue). Bodies and connections are bounded here too.
package admission

import (
	"context"
	"runtime"
	"time"

	"library-catalogue/graph/cost"
	"library-catalogue/graph/model"
)

// Class is a kind of work with places of its own.
type Class int

// The classes. Light work reads by an index and ends within milliseconds. Medium work
// looks at all rows of a catalogue, as a search with facets or a whole list does. Heavy
// work looks at them many times.
const (
	Light Class = iota
	Medium
	Heavy
	classes
)

const (
	// Bounds of the price, and of the part of it for rows that are looked at (1,000 rows a
	// unit). The largest page with genres and categories costs 3,001. A search with five
	// facets looks at 360 units of 60,000 books, and a scan for ten text patterns at 6,000.
	maxLightPrice, maxLightLooked   = 5_000, 50
	maxMediumPrice, maxMediumLooked = 20_000, 1_000

	// lightPerConnection is the price of light work that runs at once, for each database
	// connection: a page of the largest size, without what is nested in it.
	lightPerConnection = model.MaxPageSize

	// readTimeout ends medium and heavy reading. A search of 1,000,000 books takes a second
	// or two.
	readTimeout = 10 * time.Second
)

// ErrTimeLimit ends reading that takes too long.
var ErrTimeLimit = model.Errorf(model.Unavailable, "The request took longer than 10 seconds. Ask for less, or give a condition by id, genreId, name or author.")

// Controller admits the work and the bodies of requests.
type Controller struct {
	queues [classes]*Queue
	bodies *Queue
}

// New returns a controller for a database with so many connections.
//
// Each processor works on one heavy request, on a third of the connections at most. A
// caller leaves one of these places to others, and medium work has one place more, so
// that it never waits for heavy work alone.
func New(connections int) *Controller {
	places := int64(max(1, min(runtime.GOMAXPROCS(0), connections/3)))
	light := int64(connections) * lightPerConnection
	return &Controller{
		queues: [classes]*Queue{
			Light:  NewQueue(light, light*3/4),
			Medium: NewQueue(places+1, places),
			Heavy:  NewQueue(places, max(1, places-1)),
		},
		bodies: NewQueue(roomForBodies, roomForBodies/2),
	}
}

// ClassOf returns the class of an operation.
func ClassOf(e cost.Estimate) Class {
	switch {
	case e.Total <= maxLightPrice && e.Looked <= maxLightLooked:
		return Light
	case e.Total <= maxMediumPrice && e.Looked <= maxMediumLooked:
		return Medium
	}
	return Heavy
}

// Acquire waits until an operation may begin. The caller of ctx must call release when
// it has ended; further calls do nothing. The error is ErrBusy.
func (c *Controller) Acquire(ctx context.Context, e cost.Estimate) (release func(), err error) {
	class := ClassOf(e)
	if class == Light {
		return c.queues[Light].Acquire(ctx, e.Total)
	}
	return c.queues[class].Acquire(ctx, 1)
}

// AcquireWhole is Acquire for a whole list, which is medium work at least.
func (c *Controller) AcquireWhole(ctx context.Context, e cost.Estimate) (release func(), err error) {
	return c.queues[max(ClassOf(e), Medium)].Acquire(ctx, 1)
}

// LimitRead returns a context for the reading of an operation. Its cause is ErrTimeLimit
// after 10 s, unless the operation is light.
func LimitRead(ctx context.Context, e cost.Estimate) (context.Context, context.CancelFunc) {
	if ClassOf(e) == Light {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, readTimeout, ErrTimeLimit)
}

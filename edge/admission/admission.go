// Package admission limits concurrent work, so that no caller can block others. An operation is light, medium or heavy
// by its estimated price, and each class has a Queue with its own permits. The package also limits request bodies and
// connections.
package admission

import (
	"context"
	"time"

	"library-catalogue/graph/cost"
	"library-catalogue/graph/model"
)

// Class is a class of operations with its own Queue.
type Class int

// The classes.
//   - Light operations read by an index and take milliseconds.
//   - Medium operations scan all rows once, like a search with facets or a whole list.
//   - Heavy operations scan all rows many times.
const (
	Light Class = iota
	Medium
	Heavy
	classes
)

const (
	// Maximum price of a class, and maximum part of it for scanned rows (1 unit per 1,000 rows). The largest page with
	// genres and categories costs 3,001. With 60,000 books a search with five facets scans 360 units, and ten text
	// patterns scan 6,000.
	maxLightPrice, maxLightLooked   = 5_000, 50
	maxMediumPrice, maxMediumLooked = 20_000, 1_000

	// lightUnitsPerConnection is the total price of concurrent light operations per database connection: one page of
	// the maximum size without nested objects.
	lightUnitsPerConnection = model.MaxPageSize

	// readTimeout limits medium and heavy reads. A search of 1,000,000 books takes one or two seconds.
	readTimeout = 10 * time.Second
)

// ErrTimeLimit is the error of a read that takes too long.
var ErrTimeLimit = model.Errorf(model.Unavailable,
	"The request took longer than 10 seconds. Request less, or filter by id, genreId, name or author.")

// Controller admits operations and request bodies. It is safe for concurrent use.
type Controller struct {
	queues [classes]*Queue
	bodies *Queue
}

// New returns a controller for a database with this number of connections.
//
// Heavy operations use at most a third of the connections, and one caller cannot hold all of these permits. Medium
// operations have one permit more, so that heavy operations alone cannot block them. The processors of this process
// do not count, because PostgreSQL does the work.
func New(connections int) *Controller {
	permits := int64(max(1, connections/3))
	light := int64(connections) * lightUnitsPerConnection
	return &Controller{
		queues: [classes]*Queue{
			Light:  NewQueue(light, light*3/4),
			Medium: NewQueue(permits+1, permits),
			Heavy:  NewQueue(permits, max(1, permits-1)),
		},
		bodies: NewQueue(maxTotalBodyBytes, maxTotalBodyBytes/2),
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

// Acquire waits for the permits of an operation. Call release when the operation has ended; further calls do nothing.
// The error is ErrBusy.
func (c *Controller) Acquire(ctx context.Context, e cost.Estimate) (release func(), err error) {
	class := ClassOf(e)
	if class == Light {
		return c.queues[Light].Acquire(ctx, e.Total)
	}
	return c.queues[class].Acquire(ctx, 1)
}

// AcquireWhole is Acquire for a whole list, which is at least a medium operation.
func (c *Controller) AcquireWhole(ctx context.Context, e cost.Estimate) (release func(), err error) {
	return c.queues[max(ClassOf(e), Medium)].Acquire(ctx, 1)
}

// LimitRead returns a context for the reads of an operation. Unless the operation is light, the context ends after
// 10 s with the cause ErrTimeLimit.
func LimitRead(ctx context.Context, e cost.Estimate) (context.Context, context.CancelFunc) {
	if ClassOf(e) == Light {
		return ctx, func() {}
	}
	return context.WithTimeoutCause(ctx, readTimeout, ErrTimeLimit)
}

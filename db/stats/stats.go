// Package stats records the SQL statements of a request. The context carries the
// record: db writes it, and who answers the request reads it.
package stats

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Record is what is known of the statements of one request. It is safe for
// concurrent use.
type Record struct {
	count  atomic.Int64
	nanos  atomic.Int64
	panics atomic.Int64

	mu      sync.Mutex
	slowest []Statement // not in order
}

// Statement is an SQL statement that was run.
type Statement struct {
	Text  string
	Begun time.Time
	Took  time.Duration // with the wait for a connection
	Fault Fault         // empty where it succeeded, or failed by what it was given
	// Shared reports that it was run for several requests, and is recorded for each.
	Shared bool
}

// Fault says why a statement failed, where the database is to blame.
type Fault string

// The faults.
const (
	FaultTimeout     Fault = "timeout"     // no answer in time
	FaultCanceled    Fault = "canceled"    // the client went away
	FaultUnavailable Fault = "unavailable" // the database is away
	FaultDiskFull    Fault = "disk_full"
	FaultRetried     Fault = "retried" // rolled back because of a conflict or a broken connection, and run again
	FaultInternal    Fault = "internal"
)

// Faults are all of them.
var Faults = []Fault{FaultTimeout, FaultCanceled, FaultUnavailable, FaultDiskFull, FaultRetried, FaultInternal}

// maxSlowest is how many statements of a request are kept: as many as a line of the
// log about a slow request shows.
const maxSlowest = 8

// Add counts a statement.
func (r *Record) Add(statement Statement) {
	r.AddCount(1)
	r.AddTime(statement)
}

// AddCount counts statements whose time is recorded elsewhere.
func (r *Record) AddCount(statements int) { r.count.Add(int64(statements)) }

// AddTime records what goes around statements and takes time, as COMMIT does.
func (r *Record) AddTime(statement Statement) {
	r.nanos.Add(int64(statement.Took))
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.slowest) < maxSlowest {
		r.slowest = append(r.slowest, statement)
		return
	}
	quickest := 0
	for i := range r.slowest {
		if r.slowest[i].Took < r.slowest[quickest].Took {
			quickest = i
		}
	}
	if r.slowest[quickest].Took < statement.Took {
		r.slowest[quickest] = statement
	}
}

// AddPanic counts a panic that was caught in a batch of look-ups.
func (r *Record) AddPanic() { r.panics.Add(1) }

// Panics returns how many panics were caught.
func (r *Record) Panics() int { return int(r.panics.Load()) }

// Statements returns how many statements were run.
func (r *Record) Statements() int { return int(r.count.Load()) }

// DatabaseTime returns how long they took, added up.
func (r *Record) DatabaseTime() time.Duration { return time.Duration(r.nanos.Load()) }

// Slowest returns the statements that took longest, the slowest first: 8 at most.
func (r *Record) Slowest() []Statement {
	r.mu.Lock()
	defer r.mu.Unlock()
	slowest := slices.Clone(r.slowest)
	slices.SortFunc(slowest, func(a, b Statement) int { return int(b.Took - a.Took) })
	return slowest
}

type key struct{}

// With returns a context whose statements are recorded.
func With(ctx context.Context) (context.Context, *Record) {
	r := new(Record)
	return context.WithValue(ctx, key{}, r), r
}

// Of returns the record of ctx, or one that nobody reads.
func Of(ctx context.Context) *Record {
	if r, ok := ctx.Value(key{}).(*Record); ok {
		return r
	}
	return new(Record)
}

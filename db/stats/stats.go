// Package stats records the SQL statements of a request. The context carries the
// Record: db writes it, and telemetry reads it.
package stats

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// Record sums up the statements of one request. It is safe for concurrent use.
type Record struct {
	mu         sync.Mutex
	statements int
	took       time.Duration
	panics     int
	slowest    []Statement // the slowest first
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

// maxSlowest is how many statements Slowest returns: what fits in a line of the slow log.
const maxSlowest = 8

// Add records a statement. BEGIN and COMMIT take time, but do not count.
func (r *Record) Add(s Statement) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.Text != "BEGIN" && s.Text != "COMMIT" {
		r.statements++
	}
	r.took += s.Took
	place, _ := slices.BinarySearchFunc(r.slowest, s, func(a, b Statement) int { return cmp.Compare(b.Took, a.Took) })
	if place < maxSlowest {
		r.slowest = slices.Insert(r.slowest, place, s)
		r.slowest = r.slowest[:min(len(r.slowest), maxSlowest)]
	}
}

// AddPanic counts a panic that was caught in a batch of look-ups.
func (r *Record) AddPanic() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.panics++
}

// Panics returns how many panics were caught.
func (r *Record) Panics() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.panics
}

// Statements returns the number of statements.
func (r *Record) Statements() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.statements
}

// DatabaseTime returns the sum of what the statements took.
func (r *Record) DatabaseTime() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.took
}

// Slowest returns the statements that took longest, the slowest first: 8 at most.
func (r *Record) Slowest() []Statement {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.slowest)
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

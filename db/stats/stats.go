// Package stats records the SQL statements of a request in its context. Package db writes the
// Record and package telemetry reads it.
package stats

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"
)

// Record summarizes the statements of one request. It is safe for concurrent use.
type Record struct {
	mu         sync.Mutex
	statements int
	took       time.Duration
	slowest    []Statement // slowest first

	replica        bool
	withoutPrimary bool
	lag            time.Duration
}

// Statement is an executed SQL statement.
type Statement struct {
	Text  string
	Begun time.Time
	Took  time.Duration // including the wait for a connection
	Fault Fault         // empty on success, and on errors of the input
	// Shared means that the statement served several requests. Each of them records it.
	Shared bool
}

// Fault is the reason why the database failed a statement.
type Fault string

// The reasons.
const (
	FaultTimeout     Fault = "timeout"     // no response in time
	FaultCanceled    Fault = "canceled"    // the client disconnected
	FaultUnavailable Fault = "unavailable" // the database is unreachable
	FaultDiskFull    Fault = "disk_full"
	FaultRetried     Fault = "retried" // rolled back by a conflict or a broken connection, and run again
	FaultInternal    Fault = "internal"
)

// Faults are all the reasons.
var Faults = []Fault{FaultTimeout, FaultCanceled, FaultUnavailable, FaultDiskFull, FaultRetried, FaultInternal}

// maxSlowest is the number of statements in a line of the slow log.
const maxSlowest = 8

// Add records a statement. BEGIN and COMMIT count as time, but not as statements.
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

// Statements returns the number of statements.
func (r *Record) Statements() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.statements
}

// DatabaseTime returns the total duration of the statements.
func (r *Record) DatabaseTime() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.took
}

// SetReplica records whether a replica serves the reads, and whether there is no primary.
func (r *Record) SetReplica(replica, withoutPrimary bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.replica, r.withoutPrimary = replica, withoutPrimary
}

// SetLag records that the reads may lack commits that are younger than lag, or none if it is 0.
func (r *Record) SetLag(lag time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lag = lag
}

// Lag returns the value of SetLag.
func (r *Record) Lag() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lag
}

// Replica reports whether a replica has served the reads.
func (r *Record) Replica() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.replica
}

// WithoutPrimary reports whether the reads may be old, because there is no primary.
func (r *Record) WithoutPrimary() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.withoutPrimary
}

// Slowest returns up to maxSlowest statements, slowest first.
func (r *Record) Slowest() []Statement {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.slowest)
}

// Replicas is the state of the replicas of a database.
type Replicas struct {
	Each       []Replica
	PassedOver int64 // expensive reads that the primary served
}

// Replica is the state of a replica.
type Replica struct {
	Name   string
	Up     bool   // it serves reads
	Reason string // why it is passed over
	Reads  int64
	Lag    time.Duration // age of the oldest change that it lacks
}

type key struct{}

// With returns a context with a new Record.
func With(ctx context.Context) (context.Context, *Record) {
	r := new(Record)
	return context.WithValue(ctx, key{}, r), r
}

// Of returns the Record of ctx, or an unused one.
func Of(ctx context.Context) *Record {
	if r, ok := ctx.Value(key{}).(*Record); ok {
		return r
	}
	return new(Record)
}

// Feed is the state of the feed of changes.
type Feed struct {
	LogBytes    int64         // size of the log at its last measurement
	Lag         time.Duration // since changes could last be read, 0 if the feed works
	Subscribers int
	Cut         int64 // subscribers that were too slow, since the start
}

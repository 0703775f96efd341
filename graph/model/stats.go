package model

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Stats notes what one request asks for, what it costs, and what goes wrong in
// it. It is safe for concurrent use.
type Stats struct {
	RequestID string // as the client got it; set before the request is worked on

	statements atomic.Int64
	nanos      atomic.Int64
	planned    atomic.Bool
	cached     atomic.Bool
	panics     atomic.Int64
	operation  atomic.Pointer[Operation]

	explanation *Explanation // set before the first statement; nil where nobody asks

	mu           sync.Mutex
	slowest      []Statement // not in order
	errors       []string
	tokenRefusal string
}

// Operation is what a request asks for.
type Operation struct {
	Label    string // in metrics: one of few, whatever clients send
	Name     string // in the log: the client's name for it, if it has one
	Document string // GraphQL's text
}

// Statement is an SQL statement that was run.
type Statement struct {
	Text  string
	Begun time.Time
	Took  time.Duration // with the wait for a connection
	Fault Fault         // empty where it succeeded, or failed by what it was given
	// Shared tells that it was run for several requests, and is noted for each.
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
	FaultRetried     Fault = "retried" // given up for another's sake, or with its connection, and run again
	FaultInternal    Fault = "internal"
)

// Faults are all of them.
var Faults = []Fault{FaultTimeout, FaultCanceled, FaultUnavailable, FaultDiskFull, FaultRetried, FaultInternal}

// maxSlowest is how many statements of a request are remembered.
const maxSlowest = 8

// Add counts an SQL statement.
func (s *Stats) Add(statement Statement) {
	s.Count(1)
	s.AddTime(statement)
}

// Count counts SQL statements whose time is noted elsewhere.
func (s *Stats) Count(statements int) { s.statements.Add(int64(statements)) }

// AddTime notes what goes around statements and takes time, as COMMIT does.
func (s *Stats) AddTime(statement Statement) {
	s.nanos.Add(int64(statement.Took))
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.slowest) < maxSlowest {
		s.slowest = append(s.slowest, statement)
		return
	}
	quickest := 0
	for i := range s.slowest {
		if s.slowest[i].Took < s.slowest[quickest].Took {
			quickest = i
		}
	}
	if s.slowest[quickest].Took < statement.Took {
		s.slowest[quickest] = statement
	}
}

// Statements gives how many SQL statements were run.
func (s *Stats) Statements() int { return int(s.statements.Load()) }

// DatabaseTime gives how long they took, added up.
func (s *Stats) DatabaseTime() time.Duration { return time.Duration(s.nanos.Load()) }

// Slowest gives the statements that took longest, the slowest first: 8 at most.
func (s *Stats) Slowest() []Statement {
	s.mu.Lock()
	defer s.mu.Unlock()
	slowest := slices.Clone(s.slowest)
	slices.SortFunc(slowest, func(a, b Statement) int { return int(b.Took - a.Took) })
	return slowest
}

// MarkPlanned notes that a compiled plan gave the answer.
func (s *Stats) MarkPlanned() { s.planned.Store(true) }

// Planned tells whether a compiled plan gave the answer.
func (s *Stats) Planned() bool { return s.planned.Load() }

// MarkCached notes that the answer was kept from an earlier request.
func (s *Stats) MarkCached() { s.cached.Store(true) }

// Cached tells whether the answer was kept from an earlier request.
func (s *Stats) Cached() bool { return s.cached.Load() }

// SetOperation notes what the request asks for, once that is known.
func (s *Stats) SetOperation(o *Operation) { s.operation.Store(o) }

// Operation gives what the request asks for, or nil where that is not known.
func (s *Stats) Operation() *Operation { return s.operation.Load() }

// AddPanic counts a panic that was caught.
func (s *Stats) AddPanic() { s.panics.Add(1) }

// Panics gives how many panics were caught.
func (s *Stats) Panics() int { return int(s.panics.Load()) }

// AddError notes the code of an error in the answer.
func (s *Stats) AddError(code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errors = append(s.errors, code)
}

// Errors gives the codes of the errors in the answer.
func (s *Stats) Errors() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.errors
}

// RefuseToken notes in a word why the request's token is not taken.
func (s *Stats) RefuseToken(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokenRefusal = why
}

// TokenRefusal gives why the request's token was not taken; empty where it was,
// or where there is none.
func (s *Stats) TokenRefusal() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tokenRefusal
}

type statsKey struct{}

// noting is a context whose request is noted.
type noting struct {
	context.Context
	stats Stats
}

// Value implements context.Context.
func (c *noting) Value(key any) any {
	if key == (statsKey{}) {
		return &c.stats
	}
	return c.Context.Value(key)
}

// WithStats gives a context whose request is noted.
func WithStats(ctx context.Context) (context.Context, *Stats) {
	c := &noting{Context: ctx}
	return c, &c.stats
}

// StatsOf gives the notes of ctx, or some that nobody reads.
func StatsOf(ctx context.Context) *Stats {
	if s, ok := ctx.Value(statsKey{}).(*Stats); ok {
		return s
	}
	return new(Stats)
}

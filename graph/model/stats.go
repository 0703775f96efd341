package model

import (
	"context"
	"sync"
	"sync/atomic"
)

// Stats notes what one request asks for and what goes wrong in it. It is safe for concurrent use.
type Stats struct {
	RequestID string // as the client got it; set before the request is worked on

	planned   atomic.Bool
	cached    atomic.Bool
	panics    atomic.Int64
	operation atomic.Pointer[Operation]

	mu           sync.Mutex
	errors       []string
	tokenRefusal string
}

// Operation is what a request asks for.
type Operation struct {
	Label    string // in metrics: one of few, whatever clients send
	Name     string // in the log: the client's name for it, if it has one
	Document string // GraphQL's text
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

package model

import (
	"context"
	"sync/atomic"
	"time"
)

// Stats counts what one request costs. It is safe for concurrent use.
type Stats struct {
	statements atomic.Int64
	nanos      atomic.Int64
	planned    atomic.Bool
	cached     atomic.Bool
}

// Add counts one SQL statement and the time that it took.
func (s *Stats) Add(took time.Duration) {
	s.statements.Add(1)
	s.nanos.Add(int64(took))
}

// Statements gives how many SQL statements were run.
func (s *Stats) Statements() int { return int(s.statements.Load()) }

// DatabaseTime gives how long they took, added up.
func (s *Stats) DatabaseTime() time.Duration { return time.Duration(s.nanos.Load()) }

// MarkPlanned notes that a compiled plan gave the answer.
func (s *Stats) MarkPlanned() { s.planned.Store(true) }

// Planned tells whether a compiled plan gave the answer.
func (s *Stats) Planned() bool { return s.planned.Load() }

// MarkCached notes that the answer was kept from an earlier request.
func (s *Stats) MarkCached() { s.cached.Store(true) }

// Cached tells whether the answer was kept from an earlier request.
func (s *Stats) Cached() bool { return s.cached.Load() }

type statsKey struct{}

// WithStats gives a context whose statements are counted.
func WithStats(ctx context.Context) (context.Context, *Stats) {
	s := new(Stats)
	return context.WithValue(ctx, statsKey{}, s), s
}

// StatsOf gives the counter of ctx, or one that nobody reads.
func StatsOf(ctx context.Context) *Stats {
	if s, ok := ctx.Value(statsKey{}).(*Stats); ok {
		return s
	}
	return new(Stats)
}

package server

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// timeout is a context that ends after some time. A timer for it, and a place among
// what ends with its parent, are made when somebody first waits for its end. For most
// requests nobody does.
type timeout struct {
	context.Context // that it is derived from
	deadline        time.Time

	once  sync.Once
	timed atomic.Pointer[timed] // nil while nobody waits
}

type timed struct {
	context.Context
	cancel context.CancelFunc
}

// withTimeout derives a context that ends after some time. stop gives up its timer.
func withTimeout(ctx context.Context, after time.Duration) *timeout {
	return &timeout{Context: ctx, deadline: time.Now().Add(after)}
}

func (t *timeout) stop() {
	if timed := t.timed.Load(); timed != nil {
		timed.cancel()
	}
}

// Deadline implements context.Context.
func (t *timeout) Deadline() (time.Time, bool) { return t.deadline, true }

// Done implements context.Context.
func (t *timeout) Done() <-chan struct{} {
	t.once.Do(func() {
		ctx, cancel := context.WithDeadline(t.Context, t.deadline)
		t.timed.Store(&timed{ctx, cancel})
	})
	return t.timed.Load().Done()
}

// Err implements context.Context.
func (t *timeout) Err() error {
	if timed := t.timed.Load(); timed != nil {
		return timed.Err()
	}
	if err := t.Context.Err(); err != nil || time.Now().Before(t.deadline) {
		return err
	}
	return context.DeadlineExceeded
}

// Value implements context.Context.
func (t *timeout) Value(key any) any {
	if timed := t.timed.Load(); timed != nil { // which tells context what it is
		return timed.Value(key)
	}
	return t.Context.Value(key)
}

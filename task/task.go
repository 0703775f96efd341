// Package task starts the goroutines and timers of the program. A panic in one would end the process; here it is
// recovered, reported and becomes an Internal error for the waiting goroutine. A test refuses other ways to start one.
//
// The owner of a task ends it: a handler before it returns, a socket when it closes, Store.Close or Server.Shutdown
// (structured concurrency).
package task

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"library-catalogue/graph/model"
)

// PanicError is a recovered panic.
type PanicError struct {
	Value any
	Stack []byte
}

// Error implements error.
func (p *PanicError) Error() string { return fmt.Sprintf("panic: %v", p.Value) }

type reportKey struct{}

// WithReport returns a context for tasks that call report after a panic, for logs and metrics. Tasks without it write
// to the default logger.
func WithReport(ctx context.Context, report func(context.Context, *PanicError)) context.Context {
	return context.WithValue(ctx, reportKey{}, report)
}

// Recovered reports a value of recover, and returns an Internal error with a *PanicError. Call it in the deferred
// function, because it reads the stack.
func Recovered(ctx context.Context, value any) error {
	p := &PanicError{value, debug.Stack()}
	Report(ctx, p)
	return model.AsError(p)
}

// Report reports a panic as the tasks of ctx do.
func Report(ctx context.Context, p *PanicError) {
	if report, ok := ctx.Value(reportKey{}).(func(context.Context, *PanicError)); ok {
		report(ctx, p)
	} else {
		Log(ctx, slog.Default(), p)
	}
}

// Log logs a panic.
func Log(ctx context.Context, log *slog.Logger, p *PanicError, attrs ...any) {
	log.ErrorContext(ctx, "panic", append([]any{"value", p.Value, "stack", string(p.Stack)}, attrs...)...)
}

// Run calls fn. A panic becomes its error, so that a loop goes on.
func Run(ctx context.Context, fn func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = Recovered(ctx, value)
		}
	}()
	return fn()
}

var errExited = errors.New("the goroutine has exited")

// Go runs fn in a goroutine. The channel gets its error, also after a panic, and is closed. It needs no receiver.
func Go(ctx context.Context, fn func() error) <-chan error {
	done := make(chan error, 1)
	go func() {
		err := errExited // by runtime.Goexit
		defer func() {
			done <- err
			close(done)
		}()
		err = Run(ctx, fn)
	}()
	return done
}

// AfterFunc is time.AfterFunc for a function that may panic. Stop does not wait for it.
func AfterFunc(ctx context.Context, d time.Duration, fn func()) *time.Timer {
	return time.AfterFunc(d, recovering(ctx, fn))
}

// OnDone is context.AfterFunc for a function that may panic. stop does not wait for it.
func OnDone(ctx context.Context, fn func()) (stop func() bool) {
	return context.AfterFunc(ctx, recovering(ctx, fn))
}

func recovering(ctx context.Context, fn func()) func() {
	return func() {
		defer func() {
			if value := recover(); value != nil {
				_ = Recovered(ctx, value)
			}
		}()
		fn()
	}
}

// Wait waits for a time, for a value of wake, which may be nil, or for the end of ctx. It returns false if ctx has
// ended.
func Wait(ctx context.Context, d time.Duration, wake <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

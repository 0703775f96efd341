package task_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/task"
)

// reports returns a context that sends the panics of its tasks.
func reports(t *testing.T) (context.Context, <-chan *task.PanicError) {
	came := make(chan *task.PanicError, 1)
	return task.WithReport(t.Context(), func(_ context.Context, p *task.PanicError) { came <- p }), came
}

func wantPanic(t *testing.T, came <-chan *task.PanicError) {
	t.Helper()
	select {
	case p := <-came:
		if p.Value != "on purpose" || !strings.Contains(string(p.Stack), "task_test.fail") {
			t.Errorf("reported %v with the stack\n%s", p.Value, p.Stack)
		}
	default:
		t.Error("the panic was not reported")
	}
}

func fail() { panic("on purpose") }

// TestPanics lets each kind of task panic. The waiting goroutine gets an Internal error.
func TestPanics(t *testing.T) {
	t.Parallel()
	failing := func() error { fail(); return nil }
	for name, start := range map[string]func(context.Context) error{
		"Run": func(ctx context.Context) error { return task.Run(ctx, failing) },
		"Go":  func(ctx context.Context) error { return <-task.Go(ctx, failing) },
	} {
		ctx, came := reports(t)
		err := start(ctx)
		if p, ok := errors.AsType[*task.PanicError](err); !ok || p.Value != "on purpose" || !model.IsCode(err, model.Internal) {
			t.Errorf("%s: %v, want an Internal error", name, err)
		}
		wantPanic(t, came)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, came := reports(t)
		task.AfterFunc(ctx, time.Second, fail)
		time.Sleep(time.Second)
		synctest.Wait()
		wantPanic(t, came)
		ctx, cancel := context.WithCancel(ctx)
		task.OnDone(ctx, fail)
		cancel()
		synctest.Wait()
		wantPanic(t, came)
	})
}

// TestErrors returns what fn returns, and an error if it exits.
func TestErrors(t *testing.T) {
	t.Parallel()
	want := errors.New("an error")
	if err := <-task.Go(t.Context(), func() error { return want }); !errors.Is(err, want) {
		t.Error(err)
	}
	if err := <-task.Go(t.Context(), func() error { return nil }); err != nil {
		t.Error(err)
	}
	if err := <-task.Go(t.Context(), func() error { runtime.Goexit(); return nil }); err == nil {
		t.Error("no error after Goexit")
	}
}

// TestNoReceiver starts tasks whose channel nobody reads. They end, else the bubble has a deadlock.
func TestNoReceiver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, _ := reports(t)
		for _, fn := range []func() error{
			func() error { return nil }, func() error { return errors.New("an error") }, func() error { fail(); return nil }, func() error { runtime.Goexit(); return nil },
		} {
			task.Go(ctx, fn)
		}
	})
}

// TestClosed receives from the channel of a task again: it is closed after the error, else the bubble has a deadlock.
func TestClosed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		done := task.Go(t.Context(), func() error { return errors.New("an error") })
		<-done
		if err, open := <-done; err != nil || open {
			t.Errorf("%v, open %t", err, open)
		}
	})
}

func TestLog(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	ctx := task.WithReport(t.Context(), func(ctx context.Context, p *task.PanicError) {
		task.Log(ctx, slog.New(slog.NewTextHandler(&out, nil)), p, "request_id", "7")
	})
	_ = task.Run(ctx, func() error { fail(); return nil })
	for _, part := range []string{"level=ERROR msg=panic", `value="on purpose"`, "stack=", "request_id=7"} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("%s has no %s", out.String(), part)
		}
	}
}

// TestRunAll runs functions, no more than the limit at once, and starts none after an error.
func TestRunAll(t *testing.T) {
	t.Parallel()
	failure := errors.New("mine")
	var running, most, runs atomic.Int64
	var functions []func() error
	for i := range 20 {
		functions = append(functions, func() error {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			if runs.Add(1); i == 4 {
				return failure
			}
			return nil
		})
	}
	if err := task.RunAll(t.Context(), 1, functions); !errors.Is(err, failure) || runs.Load() != 5 || most.Load() != 1 {
		t.Errorf("one at once: %v after %d runs, %d at once", err, runs.Load(), most.Load())
	}
	runs.Store(0)
	if err := task.RunAll(t.Context(), 3, functions[5:]); err != nil || runs.Load() != 15 || most.Load() > 3 {
		t.Errorf("three at once: %v after %d runs, %d at once", err, runs.Load(), most.Load())
	}
	if err := task.RunAll(t.Context(), 3, []func() error{func() error { panic("on purpose") }}); !model.IsCode(err, model.Internal) {
		t.Errorf("a panic: %v", err)
	}
}

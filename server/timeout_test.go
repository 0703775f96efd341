package server

import (
	"context"
	"errors"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// TestTimeout wants a context that has a timer only where somebody waits for its
// end to end as any other does.
func TestTimeout(t *testing.T) {
	type key struct{}
	for name, waits := range map[string]bool{"nobody waits": false, "somebody waits": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				parent, end := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
				defer end()
				due := time.Now().Add(time.Second)
				late, ended, stopped := withTimeout(parent, time.Second), withTimeout(parent, time.Hour), withTimeout(parent, time.Hour)
				if waits {
					goroutines := runtime.NumGoroutine()
					for _, ctx := range []*timeout{late, ended, stopped} {
						child, cancel := context.WithCancel(ctx)
						defer cancel()
						context.AfterFunc(child, func() {
							if ctx.Err() == nil || context.Cause(child) == nil {
								t.Error("it has ended without an error")
							}
						})
					}
					if n := runtime.NumGoroutine(); n > goroutines {
						t.Errorf("%d goroutines wait for its end", n-goroutines)
					}
				}
				for _, ctx := range []*timeout{late, ended, stopped} {
					if err := ctx.Err(); err != nil || ctx.Value(key{}) != "value" {
						t.Errorf("it begins with %v and %v", err, ctx.Value(key{}))
					}
				}
				if deadline, ok := late.Deadline(); !ok || !deadline.Equal(due) {
					t.Errorf("its deadline is %v, not %v", deadline, due)
				}
				if (late.timed.Load() != nil) != waits {
					t.Error("it has a timer, or none")
				}
				time.Sleep(2 * time.Second)
				if err := late.Err(); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("after its time: %v", err)
				}
				if waits {
					stopped.stop()
					<-stopped.Done()
				}
				end()
				if err := ended.Err(); !errors.Is(err, context.Canceled) {
					t.Errorf("after the end of its parent: %v", err)
				}
				<-late.Done()
				<-ended.Done()
			})
		})
	}
}

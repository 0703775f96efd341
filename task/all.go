package task

import (
	"cmp"
	"context"
	"sync/atomic"
)

// RunAll runs functions, limit at once, and returns the first error. After it no more functions start.
func RunAll(ctx context.Context, limit int, functions []func() error) (err error) {
	var next atomic.Int64
	var workers []<-chan error
	for range min(limit, len(functions)) {
		workers = append(workers, Go(ctx, func() error {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(functions) {
					return nil
				}
				if err := functions[i](); err != nil {
					return err
				}
			}
		}))
	}
	for _, done := range workers {
		err = cmp.Or(err, <-done)
	}
	return err
}

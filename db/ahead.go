package db

import (
	"fmt"
	"runtime/debug"
	"sync"

	"library-catalogue/graph/model"
)

// ahead has fn take what next gives, part after part, while next reads the one that
// follows. A part of fewer than most is the last.
func ahead[T any](next func() ([]T, error), most int, fn func([]T) error) error {
	type result struct {
		part []T
		err  error
	}
	var reading sync.WaitGroup
	defer reading.Wait()
	read := make(chan result, 1)
	begin := func() {
		reading.Go(func() {
			part, err := caught(next)
			read <- result{part, err}
		})
	}
	begin()
	for {
		got := <-read
		more := got.err == nil && len(got.part) == most
		if more {
			begin()
		}
		if got.err == nil && len(got.part) > 0 {
			got.err = fn(got.part)
		}
		if got.err != nil || !more {
			return got.err
		}
	}
}

// caught makes a panic an error, where it would end more than the request that it is of.
func caught[T any](fn func() (T, error)) (value T, err error) {
	defer func() {
		if failure := recover(); failure != nil {
			err = model.AsError(fmt.Errorf("panic: %v\n%s", failure, debug.Stack()))
		}
	}()
	return fn()
}

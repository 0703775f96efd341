package batch

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/graph/model"
)

// newBatcher returns a Batcher, and what waits for its batches.
func newBatcher(runOne func(context.Context, int) (int, error), runBatch func(context.Context, []int) ([]int, error)) (*Batcher[int, int], *sync.WaitGroup) {
	running := &sync.WaitGroup{}
	return New(Config[int, int]{
		RunOne: runOne, RunBatch: runBatch,
		Record: func(ctx context.Context) (context.Context, func(context.Context)) {
			return ctx, func(context.Context) {}
		},
		Start: func(fn func(context.Context)) { running.Go(func() { fn(context.Background()) }) },
	}), running
}

// TestBatches wants a request that comes while others run to get the next batch,
// since what runs may have begun before a commit that the caller knows of; those who
// wait to share a batch; and whose context has ended not to be asked for.
func TestBatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var batches [][]int
		finish := make(chan struct{})
		//nolint:unparam // RunBatch has an error
		runBatch := func(_ context.Context, inputs []int) (answers []int, err error) {
			batches = append(batches, inputs)
			for _, input := range inputs {
				answers = append(answers, 10*input)
			}
			<-finish
			return answers, nil
		}
		b, running := newBatcher(func(ctx context.Context, input int) (int, error) {
			answers, err := runBatch(ctx, []int{input})
			return answers[0], err
		}, runBatch)
		answers := make([]int, 5)
		gone, leave := context.WithCancel(t.Context())
		for i := range answers {
			ctx := t.Context()
			if i == 2 {
				ctx = gone
			}
			go func() {
				answer, err := b.Do(ctx, i)
				if (err != nil) != (i == 2) {
					t.Errorf("request %d: %v", i, err)
				}
				answers[i] = answer
			}()
			synctest.Wait() // it runs, or waits
		}
		leave()
		synctest.Wait()
		finish <- struct{}{}
		finish <- struct{}{}
		synctest.Wait()
		if diff := cmp.Diff([][]int{{0}, {1, 3, 4}}, batches); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]int{0, 10, 0, 30, 40}, answers); diff != "" {
			t.Error(diff)
		}
		if b.busy || len(b.queue) > 0 {
			t.Errorf("busy: %v, and %d batches wait", b.busy, len(b.queue))
		}
		running.Wait()
	})
}

// TestLongBatchDelaysNobody wants others to run when a request or a batch takes long.
func TestLongBatchDelaysNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		finish := make(chan struct{})
		long := func(input int) int {
			if input < 2 {
				<-finish
			}
			return input
		}
		b, running := newBatcher(
			func(_ context.Context, input int) (int, error) { return long(input), nil },
			func(_ context.Context, inputs []int) ([]int, error) {
				for _, input := range inputs {
					long(input)
				}
				return inputs, nil
			})
		for i := range 2 { // one alone, and one in a batch
			go func() {
				if answer, err := b.Do(t.Context(), i); answer != i || err != nil {
					t.Errorf("request %d: %d, %v", i, answer, err)
				}
			}()
			time.Sleep(MaxLinger)
			synctest.Wait()
		}
		for i := 2; i < 5; i++ {
			if answer, err := b.Do(t.Context(), i); answer != i || err != nil {
				t.Errorf("request %d: %d, %v", i, answer, err)
			}
		}
		close(finish)
		running.Wait()
	})
}

// TestEndedContexts wants a request whose context ends to end, though its batch has
// not, or has not begun.
func TestEndedContexts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		finish := make(chan struct{})
		b, running := newBatcher(
			func(context.Context, int) (int, error) { <-finish; return 0, nil },
			func(_ context.Context, inputs []int) ([]int, error) { <-finish; return inputs, nil })
		ctx, leave := context.WithCancel(t.Context())
		const requests = 3 * maxRequests
		var ended atomic.Int64
		for i := range requests {
			go func() {
				if _, err := b.Do(ctx, i); (err == nil) != (i == 0) {
					t.Errorf("request %d: %v", i, err)
				}
				ended.Add(1)
			}()
			synctest.Wait()
		}
		leave()
		synctest.Wait()
		if n := ended.Load(); n != requests-1 {
			t.Errorf("%d requests of %d have ended", n, requests)
		}
		close(finish)
		running.Wait()
	})
}

// TestPanics wants who waits for a batch that panics to get an error, and requests
// of one that is split to run one by one.
func TestPanics(t *testing.T) {
	t.Parallel()
	for _, split := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			finish := make(chan struct{})
			b, running := newBatcher(func(_ context.Context, input int) (int, error) {
				<-finish
				if input == 1 {
					panic("one by one")
				}
				return input, nil
			}, func(context.Context, []int) ([]int, error) {
				if split {
					return nil, ErrSplit
				}
				panic("together")
			})
			errs := make([]error, 3)
			for i := range errs {
				go func() { _, errs[i] = b.Do(t.Context(), i) }()
				synctest.Wait()
			}
			close(finish)
			synctest.Wait()
			for i, want := range []bool{false, true, !split} {
				if err := errs[i]; (err != nil) != want || want && !model.IsCode(err, model.Internal) {
					t.Errorf("split: %v, request %d: %v", split, i, err)
				}
			}
			running.Wait()
		})
	}
}

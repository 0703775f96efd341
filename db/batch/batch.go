// Package batch lets requests that come at the same time share one statement.
package batch

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

const (
	// maxRequests is how many requests a batch has at most: the size beyond which a
	// statement for all of them is no cheaper for each.
	maxRequests = 64
	// MaxLinger is how long those who wait do so for one batch. It is far more than
	// a statement takes that waits for no lock.
	MaxLinger = 50 * time.Millisecond
	// timeout bounds a batch, and a request that runs alone without a deadline.
	timeout = 30 * time.Second
)

// ErrSplit is the error of a batch whose requests must run one by one. Nothing was
// done for them.
var ErrSplit = errors.New("the requests of a batch must run one by one")

// Config is what a Batcher needs.
type Config[Q, A any] struct {
	// RunOne answers one request, and RunBatch several in their order, or returns
	// ErrSplit.
	RunOne   func(context.Context, Q) (A, error)
	RunBatch func(context.Context, []Q) ([]A, error)
	// Record returns the context of a batch, and the function that notes the batch's
	// statements for one of its requests.
	Record func(batch context.Context) (context.Context, func(request context.Context))
	// Go runs a function beside the requests.
	Go func(func(context.Context))
}

// Batcher answers requests of many callers. A request that finds none before it runs
// at once and alone. Those that come meanwhile wait for it to end, and then run as
// one batch: one statement, or one transaction. So what a request gets was read or
// written after it came, and the busier the service is, the less a request costs.
// What takes longer than MaxLinger delays nobody else.
type Batcher[Q, A any] struct {
	config Config[Q, A]

	mu    sync.Mutex
	busy  bool // something runs whose end the queue waits for
	queue []*batch[Q, A]
}

// New returns a Batcher.
func New[Q, A any](config Config[Q, A]) *Batcher[Q, A] { return &Batcher[Q, A]{config: config} }

// batch is requests that run together. Whose context ends before it runs is left out.
type batch[Q, A any] struct {
	requests []*request[Q, A]
	done     chan struct{} // closed when what follows is set, and the answers
	record   func(context.Context)
	err      error
}

type request[Q, A any] struct {
	ctx    context.Context
	input  Q
	answer A
}

// Do answers a request. What its batch ran counts as the request's own.
func (b *Batcher[Q, A]) Do(ctx context.Context, input Q) (answer A, err error) {
	b.mu.Lock()
	if !b.busy {
		b.busy = true
		b.mu.Unlock()
		linger := time.AfterFunc(MaxLinger, b.runQueue)
		defer func() {
			if linger.Stop() {
				b.runQueue()
			}
		}()
		if _, bounded := ctx.Deadline(); !bounded {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, timeout)
			defer cancel()
		}
		return b.config.RunOne(ctx, input)
	}
	r := &request[Q, A]{ctx: ctx, input: input}
	mine := b.enqueue(r)
	b.mu.Unlock()
	select {
	case <-mine.done:
	case <-ctx.Done():
		return answer, ctx.Err()
	}
	mine.record(ctx)
	if errors.Is(mine.err, ErrSplit) {
		return caught(func() (A, error) { return b.config.RunOne(ctx, input) })
	}
	return r.answer, mine.err
}

// enqueue adds a request to the last batch of the queue, or to a new one after it.
func (b *Batcher[Q, A]) enqueue(r *request[Q, A]) *batch[Q, A] {
	if n := len(b.queue); n == 0 || len(b.queue[n-1].requests) == maxRequests {
		b.queue = append(b.queue, &batch[Q, A]{done: make(chan struct{})})
	}
	last := b.queue[len(b.queue)-1]
	last.requests = append(last.requests, r)
	return last
}

// runQueue runs batch after batch until the queue is empty.
func (b *Batcher[Q, A]) runQueue() {
	next := b.dequeue()
	if next == nil {
		return
	}
	b.config.Go(func(ctx context.Context) {
		for ; next != nil; next = b.dequeue() {
			linger := time.AfterFunc(MaxLinger, b.runQueue)
			b.run(ctx, next)
			if !linger.Stop() {
				return // another goroutine runs the queue now
			}
		}
	})
}

// dequeue returns the batch that has waited longest, without those whose context has
// ended; nil where nobody waits.
func (b *Batcher[Q, A]) dequeue() *batch[Q, A] {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.queue) > 0 {
		first := b.queue[0]
		b.queue = b.queue[1:]
		first.requests = slices.DeleteFunc(first.requests, func(r *request[Q, A]) bool { return r.ctx.Err() != nil })
		if len(first.requests) > 0 {
			b.busy = true
			return first
		}
	}
	b.busy = false
	return nil
}

// run answers the requests of a batch.
func (b *Batcher[Q, A]) run(ctx context.Context, its *batch[Q, A]) {
	defer close(its.done)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	ctx, its.record = b.config.Record(ctx)
	inputs := make([]Q, len(its.requests))
	for i, r := range its.requests {
		inputs[i] = r.input
	}
	answers, err := caught(func() ([]A, error) { return b.config.RunBatch(ctx, inputs) })
	if its.err = err; err == nil {
		for i, r := range its.requests {
			r.answer = answers[i]
		}
	}
}

// caught makes a panic an error, where it would end more than the request that
// caused it.
func caught[T any](fn func() (T, error)) (value T, err error) {
	defer func() {
		if failure := recover(); failure != nil {
			err = fmt.Errorf("panic: %v\n%s", failure, debug.Stack())
		}
	}()
	return fn()
}

// Package batch coalesces concurrent requests into one statement.
package batch

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"library-catalogue/task"
)

const (
	// maxRequests is the maximum number of requests in a batch. A larger batch is no cheaper for
	// each request.
	maxRequests = 64
	// MaxLinger bounds the wait of a queue for the running batch. Statements are much faster unless
	// they wait for a lock.
	MaxLinger = 50 * time.Millisecond
	// timeout bounds a batch, and a single request without a deadline.
	timeout = 30 * time.Second
)

// ErrSplit is the error of a batch that did nothing. Its requests then run one by one.
var ErrSplit = errors.New("the requests of a batch must run one by one")

// Config contains the functions of a Batcher.
type Config[Q, A any] struct {
	// RunOne answers one request. RunBatch answers several in their order, or returns ErrSplit.
	RunOne   func(context.Context, Q) (A, error)
	RunBatch func(context.Context, []Q) ([]A, error)
	// Record returns the context of a batch and a function that records the batch's statements for
	// one of its requests.
	Record func(batch context.Context) (context.Context, func(request context.Context))
	// Start runs a function in the background.
	Start func(func(context.Context))
}

// Batcher coalesces concurrent requests. When idle it runs a request immediately. Requests that
// arrive during a run form the next batch, which is one statement or one transaction. A request
// therefore reads or writes after its own arrival, and its cost falls as load rises. A run longer
// than MaxLinger delays no other request.
type Batcher[Q, A any] struct {
	config Config[Q, A]

	mu    sync.Mutex
	busy  bool // a run is in progress and the queue waits for it
	queue []*batch[Q, A]
}

// New returns an idle Batcher.
func New[Q, A any](config Config[Q, A]) *Batcher[Q, A] { return &Batcher[Q, A]{config: config} }

// batch is a set of requests that run together. It omits requests after the end of their context.
type batch[Q, A any] struct {
	requests []*request[Q, A]
	done     chan struct{} // closed after the next fields and the answers are set
	record   func(context.Context)
	err      error
}

type request[Q, A any] struct {
	ctx    context.Context
	input  Q
	answer A
}

// Do answers a request. The statements of its batch are recorded for the request.
func (b *Batcher[Q, A]) Do(ctx context.Context, input Q) (answer A, err error) {
	b.mu.Lock()
	if !b.busy {
		b.busy = true
		b.mu.Unlock()
		linger := task.AfterFunc(ctx, MaxLinger, b.runQueue)
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
	joined := b.enqueue(r)
	b.mu.Unlock()
	select {
	case <-joined.done:
	case <-ctx.Done():
		return answer, ctx.Err()
	}
	joined.record(ctx)
	if errors.Is(joined.err, ErrSplit) {
		err = task.Run(ctx, func() error {
			answer, err = b.config.RunOne(ctx, input)
			return err
		})
		return answer, err
	}
	return r.answer, joined.err
}

// enqueue adds a request to the last batch of the queue, or to a new batch.
func (b *Batcher[Q, A]) enqueue(r *request[Q, A]) *batch[Q, A] {
	if n := len(b.queue); n == 0 || len(b.queue[n-1].requests) == maxRequests {
		b.queue = append(b.queue, &batch[Q, A]{done: make(chan struct{})})
	}
	last := b.queue[len(b.queue)-1]
	last.requests = append(last.requests, r)
	return last
}

// runQueue runs batches until the queue is empty.
func (b *Batcher[Q, A]) runQueue() {
	next := b.dequeue()
	if next == nil {
		return
	}
	b.config.Start(func(ctx context.Context) {
		for ; next != nil; next = b.dequeue() {
			linger := task.AfterFunc(ctx, MaxLinger, b.runQueue)
			b.run(ctx, next)
			if !linger.Stop() {
				return // another goroutine runs the queue
			}
		}
	})
}

// dequeue returns the oldest batch, or nil. It drops requests after the end of their context.
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

// run answers the requests of a batch. A panic is the error of each.
func (b *Batcher[Q, A]) run(ctx context.Context, batch *batch[Q, A]) {
	defer close(batch.done)
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	batch.record = func(context.Context) {}
	batch.err = task.Run(ctx, func() error {
		ctx, batch.record = b.config.Record(ctx)
		inputs := make([]Q, len(batch.requests))
		for i, r := range batch.requests {
			inputs[i] = r.input
		}
		answers, err := b.config.RunBatch(ctx, inputs)
		if err != nil {
			return err
		}
		for i, r := range batch.requests {
			r.answer = answers[i]
		}
		return nil
	})
}

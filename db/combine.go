package db

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"library-catalogue/graph/model"
)

const (
	// maxTogether is how many calls go together at most.
	maxTogether = 64
	// patience is how long those who wait do so for one turn.
	patience = 50 * time.Millisecond
	// togetherTimeout bounds a turn, and a call that goes alone without a deadline.
	togetherTimeout = 30 * time.Second
)

// errApart is for calls that cannot go together. Nothing was done for them.
var errApart = errors.New("each must go alone")

// combiner lets calls of many requests go together. A call that nobody is before
// goes at once and alone. Those that come meanwhile wait for it to end, and then
// go in one turn: one statement, or one transaction. So what a call gets was read
// or written after it came, and the busier the service is, the less a call costs
// (as etcd batches its ReadIndex, and databases commit in groups). A turn that
// takes long holds nobody else up.
type combiner[Q, A any] struct {
	store *Store
	alone func(context.Context, Q) (A, error)
	// together gives the answers to some questions in their order, or errApart.
	together func(context.Context, []Q) ([]A, error)

	mu      sync.Mutex
	running bool // somebody's end is to be waited for
	waiting []*call[Q, A]
}

// call is a question of one request, and its answer.
type call[Q, A any] struct {
	ctx      context.Context
	question Q
	answered chan struct{} // closed when what follows is set

	answer A
	err    error
}

// do asks a question. The statements that answer it count as the request's own.
func (c *combiner[Q, A]) do(ctx context.Context, question Q) (answer A, err error) {
	c.mu.Lock()
	if !c.running {
		c.running = true
		c.mu.Unlock()
		long := time.AfterFunc(patience, c.next)
		defer func() {
			if long.Stop() {
				c.next()
			}
		}()
		if _, bounded := ctx.Deadline(); !bounded {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, togetherTimeout)
			defer cancel()
		}
		return c.alone(ctx, question)
	}
	mine := &call[Q, A]{ctx: ctx, question: question, answered: make(chan struct{})}
	c.waiting = append(c.waiting, mine)
	c.mu.Unlock()
	select {
	case <-mine.answered:
		return mine.answer, mine.err
	case <-ctx.Done():
		return answer, c.store.fail(ctx.Err())
	}
}

// next lets those who wait go, turn after turn until nobody does.
func (c *combiner[Q, A]) next() {
	calls := c.take()
	if calls == nil {
		return
	}
	c.store.background(func(ctx context.Context) {
		for ; calls != nil; calls = c.take() {
			long := time.AfterFunc(patience, c.next)
			c.turn(ctx, calls)
			if !long.Stop() {
				return
			}
		}
	})
}

// take gives those who wait. Whoever has gone meanwhile is left out.
func (c *combiner[Q, A]) take() (calls []*call[Q, A]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for calls == nil && len(c.waiting) > 0 {
		n := min(len(c.waiting), maxTogether)
		for _, waiting := range c.waiting[:n] {
			if waiting.ctx.Err() == nil {
				calls = append(calls, waiting)
			}
		}
		c.waiting = c.waiting[n:]
	}
	c.running = calls != nil
	return calls
}

// turn answers calls.
func (c *combiner[Q, A]) turn(ctx context.Context, calls []*call[Q, A]) {
	ctx, cancel := context.WithTimeout(ctx, togetherTimeout)
	defer cancel()
	ctx, stats := model.WithStats(ctx)
	questions := make([]Q, len(calls))
	for i, call := range calls {
		questions[i] = call.question
	}
	answers, err := caught(func() ([]A, error) { return c.together(ctx, questions) })
	for i, call := range calls {
		c.store.share(call.ctx, stats)
		switch {
		case errors.Is(err, errApart):
			c.store.background(func(context.Context) {
				call.answer, call.err = caught(func() (A, error) { return c.alone(call.ctx, call.question) })
				close(call.answered)
			})
			continue
		case err != nil:
			call.err = err
		default:
			call.answer = answers[i]
		}
		close(call.answered)
	}
}

// caught makes a panic an error: of many requests, none is to end the others.
func caught[T any](fn func() (T, error)) (value T, err error) {
	defer func() {
		if failure := recover(); failure != nil {
			err = model.AsError(fmt.Errorf("panic: %v\n%s", failure, debug.Stack()))
		}
	}()
	return fn()
}

// background runs fn beside the requests, or at once where the store is closed,
// as fn finds out.
func (s *Store) background(fn func(context.Context)) {
	if !s.Background(fn) {
		fn(s.life)
	}
}

// share notes statements for one of the requests that they were run for.
func (s *Store) share(ctx context.Context, stats *model.Stats) {
	mine := model.StatsOf(ctx)
	for _, statement := range stats.Slowest() {
		statement.Shared = true
		mine.AddTime(statement)
		if s.observe != nil {
			s.observe(ctx, statement)
		}
	}
	mine.Count(stats.Statements())
}

// mustGoAlone tells whether what is asked with ctx cannot go together with
// others: it belongs to a transaction, or its statements are to be explained.
func mustGoAlone(ctx context.Context) bool {
	return txOf(ctx) != nil || model.StatsOf(ctx).Explanation() != nil
}

// combine says what goes together.
func (s *Store) combine() {
	s.revisions = combiner[struct{}, model.Revision]{
		store: s,
		alone: func(ctx context.Context, _ struct{}) (model.Revision, error) { return s.readRevision(ctx) },
		together: func(ctx context.Context, questions []struct{}) ([]model.Revision, error) {
			revision, err := s.readRevision(ctx)
			return slices.Repeat([]model.Revision{revision}, len(questions)), err
		},
	}
	s.booksByID = combiner[[]model.ID, booksAt]{store: s, alone: s.booksAt, together: s.booksTogether}
	s.newBooks = combiner[*model.CreateBookInput, createdBook]{store: s, alone: s.createBook, together: s.createTogether}
}

func (s *Store) booksTogether(ctx context.Context, questions [][]model.ID) ([]booksAt, error) {
	ids := slices.Concat(questions...)
	slices.Sort(ids)
	all, err := s.booksAt(ctx, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	found := make(map[model.ID]*model.Book, len(all.books))
	for _, book := range all.books {
		found[book.ID] = book
	}
	answers := make([]booksAt, len(questions))
	for i, ids := range questions {
		answers[i].at = all.at
		for _, id := range ids {
			if book := found[id]; book != nil {
				answers[i].books = append(answers[i].books, book)
			}
		}
	}
	return answers, nil
}

// createTogether stores books by one statement. Where it failed none was stored, so
// each can go alone, and none hears of what is wrong with another: a genre that is
// not there, or that somebody has locked.
func (s *Store) createTogether(ctx context.Context, inputs []*model.CreateBookInput) ([]createdBook, error) {
	books := make([]*model.Book, len(inputs))
	for i, in := range inputs {
		books[i] = in.Book()
	}
	var taxonomy int64
	err := insert(ctx, s, newBooksAt(&taxonomy), s.dialect.impatient(patience), books)
	if err != nil && !errors.Is(err, errPerhaps) {
		return nil, errors.Join(errApart, err)
	}
	created := make([]createdBook, len(books))
	for i, book := range books {
		created[i] = createdBook{book, taxonomy}
	}
	return created, err
}

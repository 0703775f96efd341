package db

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
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
	together  func(context.Context, []Q) ([]A, error)
	uncounted bool // the statements of a turn are those of no request

	mu      sync.Mutex
	running bool // somebody's end is to be waited for
	waiting []*turn[Q, A]
}

// turn is calls that go together. Whoever has gone before it begins is left out.
type turn[Q, A any] struct {
	calls []*call[Q, A]
	late  chan struct{} // closed when it has taken long, or has ended
	ended chan struct{} // closed when what follows is set, and the answers

	statements []model.Statement // that were run for all, as far as Stats notes them
	count      int               // of all of them
	err        error
}

// call is a question of one request, and its answer.
type call[Q, A any] struct {
	ctx      context.Context
	question Q
	answer   A
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
	mine := &call[Q, A]{ctx: ctx, question: question}
	its := c.join(mine)
	c.mu.Unlock()
	its.wait(ctx)
	if err := ctx.Err(); err != nil {
		return answer, c.store.fail(err)
	}
	c.share(ctx, its)
	if errors.Is(its.err, errApart) {
		return caught(func() (A, error) { return c.alone(ctx, question) })
	}
	return mine.answer, its.err
}

// join gives a call the last turn, or one after it if that has no room.
func (c *combiner[Q, A]) join(mine *call[Q, A]) *turn[Q, A] {
	if n := len(c.waiting); n == 0 || len(c.waiting[n-1].calls) == maxTogether {
		c.waiting = append(c.waiting, &turn[Q, A]{late: make(chan struct{}), ended: make(chan struct{})})
	}
	last := c.waiting[len(c.waiting)-1]
	last.calls = append(last.calls, mine)
	return last
}

// wait waits for the end of a turn, or of ctx, which is looked at only where the turn
// is late: a context may have to be told that somebody waits for it.
func (t *turn[Q, A]) wait(ctx context.Context) {
	<-t.late
	select {
	case <-t.ended:
		return
	default:
	}
	select {
	case <-t.ended:
	case <-ctx.Done():
	}
}

// next lets those who wait go, turn after turn until nobody does.
func (c *combiner[Q, A]) next() {
	its := c.take()
	if its == nil {
		return
	}
	c.store.background(func(ctx context.Context) {
		for ; its != nil; its = c.take() {
			late := its.late
			long := time.AfterFunc(patience, func() {
				close(late)
				c.next()
			})
			c.run(ctx, its)
			if !long.Stop() {
				return
			}
			close(late)
		}
	})
}

// take gives the turn of those who have waited longest, unless all have gone.
func (c *combiner[Q, A]) take() *turn[Q, A] {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.waiting) > 0 {
		first := c.waiting[0]
		c.waiting = c.waiting[1:]
		first.calls = slices.DeleteFunc(first.calls, func(waiting *call[Q, A]) bool { return waiting.ctx.Err() != nil })
		if len(first.calls) > 0 {
			c.running = true
			return first
		}
		close(first.late)
	}
	c.running = false
	return nil
}

// run answers the calls of a turn.
func (c *combiner[Q, A]) run(ctx context.Context, its *turn[Q, A]) {
	defer close(its.ended)
	ctx, cancel := context.WithTimeout(ctx, togetherTimeout)
	defer cancel()
	ctx, stats := model.WithStats(ctx)
	questions := make([]Q, len(its.calls))
	for i, call := range its.calls {
		questions[i] = call.question
	}
	answers, err := caught(func() ([]A, error) { return c.together(ctx, questions) })
	its.statements, its.count, its.err = stats.Slowest(), stats.Statements(), err
	if err == nil {
		for i, call := range its.calls {
			call.answer = answers[i]
		}
	}
}

// share notes the statements of a turn for one of the requests that they were run
// for.
func (c *combiner[Q, A]) share(ctx context.Context, its *turn[Q, A]) {
	mine := model.StatsOf(ctx)
	for _, statement := range its.statements {
		statement.Shared = true
		if !c.uncounted {
			mine.AddTime(statement)
		}
		if c.store.observe != nil {
			c.store.observe(ctx, statement)
		}
	}
	if !c.uncounted {
		mine.Count(its.count)
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

// background runs fn beside the requests, or at once where the store is closed,
// as fn finds out.
func (s *Store) background(fn func(context.Context)) {
	if !s.Background(fn) {
		fn(s.life)
	}
}

// mustGoAlone tells whether what is asked with ctx cannot go together with
// others: it belongs to a transaction, or its statements are to be explained.
func mustGoAlone(ctx context.Context) bool {
	return txOf(ctx) != nil || model.StatsOf(ctx).Explanation() != nil
}

// combine says what goes together.
func (s *Store) combine() {
	s.revisions = combiner[struct{}, model.Revision]{
		store: s, uncounted: true,
		alone: func(ctx context.Context, _ struct{}) (model.Revision, error) {
			ctx, _ = model.WithStats(ctx)
			return s.readRevision(ctx)
		},
		together: func(ctx context.Context, questions []struct{}) ([]model.Revision, error) {
			revision, err := s.readRevision(ctx)
			return slices.Repeat([]model.Revision{revision}, len(questions)), err
		},
	}
	s.booksByID = combiner[[]model.ID, booksAt]{store: s, alone: s.booksAt, together: s.booksTogether}
	s.newBooks = combiner[*model.CreateBookInput, createdBook]{store: s, alone: s.createBook, together: s.createTogether}
}

func (s *Store) booksTogether(ctx context.Context, questions [][]model.ID) ([]booksAt, error) {
	all, err := s.booksAt(ctx, slices.Concat(questions...))
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
	var reference int64
	before := ""
	if s.dialect.Postgres { // the transaction fails where it would wait longer for a lock
		before = "set_config('lock_timeout', '" + strconv.FormatInt(patience.Milliseconds(), 10) + "', true)"
	}
	err := insert(ctx, s, newBooksAt(&reference), before, books)
	if err != nil && !errors.Is(err, errPerhaps) {
		return nil, errors.Join(errApart, err)
	}
	created := make([]createdBook, len(books))
	for i, book := range books {
		created[i] = createdBook{book, reference}
	}
	return created, err
}

package db

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/db/dialect"
	"library-catalogue/graph/model"
)

// withoutDatabase gives a store for turns that run no statement.
func withoutDatabase(t *testing.T) *Store {
	s := &Store{dialect: dialect.SQLite}
	s.life, s.end = context.WithCancel(t.Context())
	t.Cleanup(s.end)
	return s
}

// TestCallsGoTogether wants a call that comes while others are under way to get
// the next turn, since the turn that is under way may have begun before a commit
// that the caller knows of; those who wait to share a turn; and who has gone not
// to be asked for.
func TestCallsGoTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withoutDatabase(t)
		var turns [][]int
		finish := make(chan struct{})
		together := func(_ context.Context, questions []int) (answers []int, err error) {
			turns = append(turns, questions)
			for _, question := range questions {
				answers = append(answers, 10*question)
			}
			<-finish
			return answers, nil
		}
		c := combiner[int, int]{store: s, together: together, alone: func(ctx context.Context, question int) (int, error) {
			answers, err := together(ctx, []int{question})
			return answers[0], err
		}}
		answers := make([]int, 5)
		gone, leave := context.WithCancel(t.Context())
		for i := range answers {
			ctx := t.Context()
			if i == 2 {
				ctx = gone
			}
			go func() {
				answer, err := c.do(ctx, i)
				if (err != nil) != (i == 2) {
					t.Errorf("call %d: %v", i, err)
				}
				answers[i] = answer
			}()
			synctest.Wait() // it is under way, or waits
		}
		leave()
		synctest.Wait()
		finish <- struct{}{}
		finish <- struct{}{}
		synctest.Wait()
		if diff := cmp.Diff([][]int{{0}, {1, 3, 4}}, turns); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]int{0, 10, 0, 30, 40}, answers); diff != "" {
			t.Error(diff)
		}
		if c.running || len(c.waiting) > 0 {
			t.Errorf("it is running: %v, and %d calls wait", c.running, len(c.waiting))
		}
		s.running.Wait()
	})
}

// TestLongTurnHoldsNobodyUp wants others to go when a turn takes long.
func TestLongTurnHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withoutDatabase(t)
		finish := make(chan struct{})
		long := func(question int) int {
			if question < 2 {
				<-finish
			}
			return question
		}
		c := combiner[int, int]{
			store: s,
			alone: func(_ context.Context, question int) (int, error) { return long(question), nil },
			together: func(_ context.Context, questions []int) ([]int, error) {
				for _, question := range questions {
					long(question)
				}
				return questions, nil
			},
		}
		for i := range 2 { // one alone, and one in a turn
			go func() {
				if answer, err := c.do(t.Context(), i); answer != i || err != nil {
					t.Errorf("call %d: %d, %v", i, answer, err)
				}
			}()
			time.Sleep(patience)
			synctest.Wait()
		}
		for i := 2; i < 5; i++ {
			if answer, err := c.do(t.Context(), i); answer != i || err != nil {
				t.Errorf("call %d: %d, %v", i, answer, err)
			}
		}
		close(finish)
		s.running.Wait()
	})
}

// TestWhoLeavesLateTurn wants a call whose client leaves to end, though its turn has
// not, or has not begun.
func TestWhoLeavesLateTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := withoutDatabase(t)
		finish := make(chan struct{})
		c := combiner[int, int]{
			store:    s,
			alone:    func(context.Context, int) (int, error) { <-finish; return 0, nil },
			together: func(_ context.Context, questions []int) ([]int, error) { <-finish; return questions, nil },
		}
		ctx, leave := context.WithCancel(t.Context())
		const calls = 3 * maxTogether
		var ended atomic.Int64
		for i := range calls {
			go func() {
				if _, err := c.do(ctx, i); (err == nil) != (i == 0) {
					t.Errorf("call %d: %v", i, err)
				}
				ended.Add(1)
			}()
			synctest.Wait()
		}
		leave()
		time.Sleep(5 * patience) // one for each that goes before, and the own
		synctest.Wait()
		if n := ended.Load(); n != calls-1 {
			t.Errorf("%d calls of %d have ended", n, calls)
		}
		close(finish)
		s.running.Wait()
	})
}

// TestPanicTogether wants who waits for a turn that panics to get an error, and
// calls that cannot go together to go alone.
func TestPanicTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, apart := range []bool{false, true} {
			s := withoutDatabase(t)
			finish := make(chan struct{})
			c := combiner[int, int]{
				store: s,
				alone: func(_ context.Context, question int) (int, error) {
					<-finish
					if question == 1 {
						panic("alone")
					}
					return question, nil
				},
				together: func(context.Context, []int) ([]int, error) {
					if apart {
						return nil, errApart
					}
					panic("together")
				},
			}
			errs := make([]error, 3)
			for i := range errs {
				go func() { _, errs[i] = c.do(t.Context(), i) }()
				synctest.Wait()
			}
			close(finish)
			synctest.Wait()
			for i, want := range []bool{false, true, !apart} {
				if (errs[i] != nil) != want || want && !model.IsCode(errs[i], model.Internal) {
					t.Errorf("call %d: %v", i, errs[i])
				}
			}
		}
	})
}

package db_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/changes"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// followed is a call of Follow in the background.
type followed struct {
	pages chan *model.ChangePage
	stop  context.CancelFunc
	done  chan error
}

func follow(t *testing.T, s *db.Store, args model.ChangeArgs) followed {
	t.Helper()
	return followAdmitted(t, s, args, nil)
}

func followAdmitted(t *testing.T, s *db.Store, args model.ChangeArgs, admit changes.Admit) followed {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	f := followed{make(chan *model.ChangePage), stop, make(chan error, 1)}
	go func() {
		f.done <- s.Follow(ctx, args, admit, func(ctx context.Context, page *model.ChangePage) error {
			select {
			case f.pages <- page:
			case <-ctx.Done():
			}
			return ctx.Err()
		})
	}()
	t.Cleanup(stop)
	return f
}

// next returns the next n changes and the position after them.
func (f followed) next(t *testing.T, n int) (all []*model.Change, position string) {
	t.Helper()
	for first := true; first || len(all) < n; first = false {
		select {
		case page := <-f.pages:
			all, position = append(all, page.Nodes...), page.Position
		case err := <-f.done:
			t.Fatalf("the stream ended after %q: %v", told(all), err)
		}
	}
	return all, position
}

// TestFollowIsAdmitted counts the permits for reads of the log and of the rows for a filter. While none is given, no
// change arrives; all are returned.
func TestFollowIsAdmitted(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		home := newShelf(t, s)
		permits, held := make(chan struct{}), atomic.Int64{}
		args := model.ChangeArgs{Types: []model.CatalogueType{model.TypeBook}, Filter: map[string]any{"name": map[string]any{"contains": "d"}}}
		f := followAdmitted(t, s, args, func(ctx context.Context) (func(), error) {
			select {
			case <-permits:
				held.Add(1)
				return func() { held.Add(-1) }, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})
		f.next(t, 0) // the position, before any read
		for _, name := range []string{"Second", "Third"} {
			must[*model.Book](t)(s.Books.Update(t.Context(), home.book.ID, rename(name), nil))
			given := 0
			for nodes := []*model.Change(nil); len(nodes) == 0; {
				select {
				case permits <- struct{}{}:
					given++
				case page := <-f.pages:
					nodes = page.Nodes
				case err := <-f.done:
					t.Fatal(err)
				}
			}
			if given == 0 {
				t.Errorf("%s arrived without a permit", name)
			}
		}
		f.stop()
		<-f.done
		if n := held.Load(); n != 0 {
			t.Errorf("%d permits are held", n)
		}
	})
}

// TestFollow follows writes of two stores and of another program, from now and from a position.
func TestFollow(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, second, program := open(t, url), open(t, url), other(t, url)
		home := newShelf(t, s)
		now := follow(t, s, model.ChangeArgs{})
		none, start := now.next(t, 0)
		wantTold(t, none)
		hobbit := follow(t, s, model.ChangeArgs{Types: []model.CatalogueType{model.TypeBook}, Filter: map[string]any{"name": map[string]any{"eq": "Second"}}})
		genres := follow(t, second, model.ChangeArgs{Types: []model.CatalogueType{model.TypeGenre}, IDs: []model.ID{home.genre.ID}})
		hobbit.next(t, 0)
		genres.next(t, 0)
		must[*model.Book](t)(s.Books.Update(t.Context(), home.book.ID, rename("Second"), nil))
		must[*model.Book](t)(second.Books.Update(t.Context(), home.book.ID, rename("Third"), nil))
		exec(t, program, `UPDATE genres SET name = 'Theirs' WHERE id = $1`, home.genre.ID)
		want := []string{"UPDATE BOOK 1 v2 Second", "UPDATE BOOK 1 v3 Third", "UPDATE GENRE 1 v2 Theirs"}
		got, _ := now.next(t, 3)
		wantTold(t, got, want...)
		got, _ = hobbit.next(t, 2)
		wantTold(t, got, want[:2]...)
		got, _ = genres.next(t, 1)
		wantTold(t, got, want[2])

		resumed := follow(t, second, model.ChangeArgs{After: &start})
		got, middle := resumed.next(t, 1)
		for len(got) < 3 {
			more, _ := resumed.next(t, 1)
			got = append(got, more...)
		}
		wantTold(t, got, want...)
		exec(t, program, `DELETE FROM books WHERE id = $1`, home.book.ID)
		got, _ = resumed.next(t, 1)
		wantTold(t, got, "DELETE BOOK 1 v3")
		again := follow(t, s, model.ChangeArgs{After: &middle})
		got, _ = again.next(t, 1)
		wantTold(t, got[len(got)-1:], "DELETE BOOK 1 v3")

		unknown := "7.0"
		wantCode(t, s.Follow(t.Context(), model.ChangeArgs{After: &unknown}, nil, nil), model.PositionGone, "Read everything again")
		now.stop()
		if err := <-now.done; !errors.Is(err, context.Canceled) {
			t.Errorf("after its end: %v", err)
		}
		check(t, second.Close())
		wantCode(t, <-genres.done, model.Unavailable, "")
	})
}

// TestSlowSubscriber cuts a subscriber that takes nothing, which blocks neither writers nor others.
func TestSlowSubscriber(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := openWith(t, url, db.WithFeedQueue(2))
		home := newShelf(t, s)
		slow, quick := follow(t, s, model.ChangeArgs{}), follow(t, s, model.ChangeArgs{})
		slow.next(t, 0)
		quick.next(t, 0)
		received := 0
		for i := range 6 {
			must[*model.Book](t)(s.Books.Create(t.Context(), newBook("New", home.genre.ID)))
			got, _ := quick.next(t, 1)
			if received += len(got); received != i+1 {
				t.Fatalf("%d changes after %d writes", received, i+1)
			}
		}
		all, position := slow.next(t, 1)
		for {
			select {
			case page := <-slow.pages:
				all, position = append(all, page.Nodes...), page.Position
				continue
			case err := <-slow.done:
				wantCode(t, err, model.Unavailable, "Resume from your last position")
			}
			break
		}
		rest, _ := changesAfter(t, s, &position, 1000)
		if len(all)+len(rest) != 6 {
			t.Errorf("%d and %d changes", len(all), len(rest))
		}
	})
}

// TestFailingFilters lets subscribers with one filter get their changes after the database did not answer, and ends
// them after a panic.
func TestFailingFilters(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fails  func(attempt int64) error
		passes bool
	}{
		"an error": {func(attempt int64) error {
			if attempt > 2 {
				return nil
			}
			return model.Errorf(model.Unavailable, "The database did not answer.")
		}, true},
		"a panic": {func(int64) error { panic("on purpose") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			catalogtest.Each(t, func(t *testing.T, url string) {
				var attempts atomic.Int64
				s := openWith(t, url, db.WithFailingFilters(func() error { return tt.fails(attempts.Add(1)) }))
				home := newShelf(t, s)
				var all []followed
				for range 3 {
					f := follow(t, s, model.ChangeArgs{Filter: map[string]any{"name": map[string]any{"eq": "Second"}}, Types: []model.CatalogueType{model.TypeBook}})
					f.next(t, 0)
					all = append(all, f)
				}
				update := func() { must[*model.Book](t)(s.Books.Update(t.Context(), home.book.ID, rename("Second"), nil)) }
				update()
				for _, f := range all {
					if !tt.passes {
						wantCode(t, f.end(update), model.Internal, "")
						continue
					}
					got, _ := f.next(t, 1)
					wantTold(t, got, "UPDATE BOOK 1 v2 Second")
				}
			})
		})
	}
}

// end waits for the end of the stream. It calls again after each page, because a stream that has just begun reads a change from
// the log, without the filter.
func (f followed) end(again func()) error {
	for {
		select {
		case <-f.pages:
			again()
		case err := <-f.done:
			return err
		}
	}
}

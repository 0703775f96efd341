package changes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"library-catalogue/graph/model"
)

// pageOf returns a page of books with these seqs in a tick, which ends after it.
func pageOf(tick int64, seqs ...int64) Page {
	page := Page{end: model.Position{Tick: tick}}
	for _, seq := range seqs {
		at := model.Position{Tick: tick, Seq: seq}
		change := &model.Change{Position: at.String(), Type: model.TypeBook, RowID: model.ID(seq), Operation: model.ChangeUpdate}
		page.changes = append(page.changes, logged{at, seq, change})
	}
	return page
}

// TestLive sends pages of a subscription that overlap with what was sent: each change comes once, and of empty pages only
// one in a while. The end of the subscription is the error.
func TestLive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := &Feed{config: Config{Life: t.Context()}}
		sub := &subscriber{pages: make(chan *feedPage)}
		var got []string
		w := &follower{feed: f, at: model.Position{Tick: 5, Seq: 2}, sent: time.Now(), fn: func(_ context.Context, page *model.ChangePage) error {
			text := page.Position + ":"
			for _, c := range page.Nodes {
				text += " " + c.Position
			}
			got = append(got, text)
			return nil
		}}
		ended := make(chan error)
		go func() { ended <- w.live(t.Context(), sub) }()
		for _, page := range []Page{pageOf(4, 1), pageOf(5, 1, 2, 3), pageOf(6), pageOf(7, 1)} {
			sub.pages <- &feedPage{Page: page}
		}
		time.Sleep(emptyInterval) // of the bubble
		sub.pages <- &feedPage{Page: pageOf(8)}
		sub.err = errSlow
		close(sub.pages)
		if err := <-ended; !errors.Is(err, errSlow) {
			t.Errorf("it ended with %v", err)
		}
		if want := []string{"5.0: 5.3", "7.0: 7.1", "8.0:"}; !slices.Equal(got, want) {
			t.Errorf("it sent %q, want %q", got, want)
		}
	})
}

// TestLiveEnds ends with the context, and with the error of fn.
func TestLiveEnds(t *testing.T) {
	t.Parallel()
	failed := errors.New("failed")
	sub := &subscriber{pages: make(chan *feedPage, 1)}
	sub.pages <- &feedPage{Page: pageOf(5, 1)}
	w := &follower{feed: &Feed{config: Config{Life: t.Context()}}, fn: func(context.Context, *model.ChangePage) error { return failed }}
	if err := w.live(t.Context(), sub); !errors.Is(err, failed) {
		t.Errorf("it ended with %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.live(ctx, sub); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

// startDB is a DB that runs functions in goroutines.
type startDB struct{ DB }

func (startDB) Start(fn func(context.Context)) { go fn(context.Background()) }

// TestMatchesAreShared filters a page for many subscribers: those of one filter share an attempt, one that fails is made
// again, and each call returns its permit.
func TestMatchesAreShared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var attempts, permits atomic.Int64
		fails := errors.New("fails")
		f := NewFeed(&Log{DB: startDB{}}, Config{Life: t.Context(), FilterFails: func() error {
			if time.Sleep(time.Second); attempts.Add(1) == 1 { // of the bubble
				return fails
			}
			return nil
		}})
		admit := func(ctx context.Context) (func(), error) {
			permits.Add(1)
			return func() { permits.Add(-1) }, ctx.Err()
		}
		filter, err := NewFilter(model.ChangeArgs{Types: []model.CatalogueType{model.TypeBook}, IDs: []model.ID{2}})
		if err != nil {
			t.Fatal(err)
		}
		shared := &feedPage{Page: pageOf(5, 1, 2, 3), matches: map[string]*filteredPage{}}
		for _, want := range []error{fails, nil, nil} {
			ended := make(chan error)
			for range 4 {
				go func() {
					page, err := f.filterPage(t.Context(), shared, filter, admit)
					if err == nil && (len(page.changes) != 1 || page.changes[0].seq != 2) {
						err = fmt.Errorf("the page is %+v", page)
					}
					ended <- err
				}()
			}
			for range 4 {
				if err := <-ended; !errors.Is(err, want) {
					t.Errorf("%v, want %v", err, want)
				}
			}
		}
		if attempts.Load() != 2 || permits.Load() != 0 || len(shared.changes) != 3 {
			t.Errorf("%d attempts, %d permits, %d changes", attempts.Load(), permits.Load(), len(shared.changes))
		}
	})
}

// TestMatch selects changes of a page by types and ids. A reset passes all ids.
func TestMatch(t *testing.T) {
	t.Parallel()
	page := pageOf(5, 1, 2)
	for _, c := range []*model.Change{
		{Type: model.TypeGenre, RowID: 1, Operation: model.ChangeDelete},
		{Type: model.TypeBook, Operation: model.ChangeReset},
	} {
		page.changes = append(page.changes, logged{model.Position{Tick: 5, Seq: 9}, 9, c})
	}
	for _, tt := range []struct {
		args model.ChangeArgs
		want []int // indexes
	}{
		{model.ChangeArgs{}, []int{0, 1, 2, 3}},
		{model.ChangeArgs{Types: []model.CatalogueType{}}, nil},
		{model.ChangeArgs{Types: []model.CatalogueType{model.TypeGenre}}, []int{2}},
		{model.ChangeArgs{Types: []model.CatalogueType{model.TypeBook}, IDs: []model.ID{2, 7}}, []int{1, 3}},
		{model.ChangeArgs{Types: []model.CatalogueType{model.TypeBook}, IDs: []model.ID{}}, []int{3}},
	} {
		filter, err := NewFilter(tt.args)
		if err != nil {
			t.Fatal(err)
		}
		got, err := (&Log{}).match(t.Context(), page, filter)
		if err != nil {
			t.Fatal(err)
		}
		var indexes []int
		for _, c := range got.changes {
			indexes = append(indexes, slices.IndexFunc(page.changes, func(other logged) bool { return other.change == c.change }))
		}
		if !slices.Equal(indexes, tt.want) || got.end != page.end {
			t.Errorf("%+v passes %v, want %v", tt.args, indexes, tt.want)
		}
	}
}

package db_test

import (
	"runtime"
	"slices"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// TestFeedStats measures the log and counts subscribers.
func TestFeedStats(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		home := newShelf(t, s)
		f := follow(t, s, model.ChangeArgs{})
		f.next(t, 0)
		must[*model.Book](t)(s.Books.Update(t.Context(), home.book.ID, rename("New"), nil))
		f.next(t, 1) // it is subscribed now
		check(t, s.MeasureChanges(t.Context()))
		if got := s.FeedStats(); got.LogBytes < 4096 || got.Subscribers != 1 || got.Cut != 0 || got.Lag != 0 {
			t.Errorf("%+v", got)
		}
		f.stop()
		<-f.done
		if got := s.FeedStats(); got.Subscribers != 0 {
			t.Errorf("after the end: %+v", got)
		}
		if isSQLite(url) {
			return // it reads nothing without subscribers
		}
		program := other(t, url)
		exec(t, program, `DO $$ BEGIN FOR i IN 1..500 LOOP UPDATE revision SET n = n + 1; END LOOP; END $$`)
		check(t, s.MeasureChanges(t.Context()))
		wantChecks(t, s, map[string]string{"revision": "warn: The table revision takes"})
		exec(t, program, `VACUUM FULL revision`)
		check(t, s.MeasureChanges(t.Context()))
		if all := s.Checks(t.Context()); slices.ContainsFunc(all, func(c model.Check) bool { return c.Name == "revision" }) {
			t.Errorf("after VACUUM FULL: %+v", all)
		}
		exec(t, other(t, url), `ALTER TABLE ticks RENAME TO theirs`)
		for s.FeedStats().Lag == 0 {
			runtime.Gosched()
		}
		exec(t, other(t, url), `ALTER TABLE theirs RENAME TO ticks`)
		for s.FeedStats().Lag > 0 {
			runtime.Gosched()
		}
	})
}

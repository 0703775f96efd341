package changes

import (
	"context"
	"fmt"
	"time"

	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
)

const (
	maxLag     = 10 * time.Second // before a check warns
	maxLogSize = 10 << 30         // bytes before a check warns
)

// MaxRevisionSize is the bytes of PostgreSQL's table revision before a check warns. It takes 24 kB, and 56
// bytes more for each commit while a snapshot from before is open. Each read of the revision passes all of them.
const MaxRevisionSize = 1 << 20

// Stats returns the state of the feed of changes.
func (f *Feed) Stats() stats.Feed {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := stats.Feed{LogBytes: f.sizes.Log, Subscribers: len(f.subscribers), Cut: f.cut}
	if !f.behind.IsZero() {
		all.Lag = time.Since(f.behind)
	}
	return all
}

// caughtUp records whether the feed has all changes. Its lag is the time since the first failure.
func (f *Feed) caughtUp(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case err == nil:
		f.behind = time.Time{}
	case f.behind.IsZero():
		f.behind = time.Now()
	}
}

// sizes are the bytes of tables.
type sizes struct {
	Log      int64
	Revision int64 // 0 where it does not grow
}

// Measure measures the log and the table revision for Stats and Checks.
func (f *Feed) Measure(ctx context.Context) error {
	var measured sizes
	err := f.log.DB.Get(ctx, &measured, f.log.SQL.size)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.sizes = measured
	}
	return err
}

// Checks warns about a feed that does not go on, a large log, and a large table revision.
func (f *Feed) Checks() []model.Check {
	check := model.Check{Name: "changes", Status: model.Pass}
	switch f := f.Stats(); {
	case f.Lag > maxLag:
		check.Status, check.Output = model.Warn,
			fmt.Sprintf("The feed of changes is %v behind. The log has the cause.", f.Lag.Round(time.Second))
	case f.LogBytes > maxLogSize:
		check.Status, check.Output = model.Warn,
			fmt.Sprintf("The log of changes takes %d GiB. Lower CATALOGUE_CHANGES_DAYS.", f.LogBytes>>30)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sizes.Revision <= MaxRevisionSize {
		return []model.Check{check}
	}
	return []model.Check{check, {Name: "revision", Status: model.Warn, Output: fmt.Sprintf(
		"The table revision takes %d kB, which slows all reads, because a transaction is or was open for long. End "+
			"it, then run VACUUM FULL revision.", f.sizes.Revision>>10)}}
}

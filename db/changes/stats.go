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

// Stats returns the state of the feed of changes.
func (f *Feed) Stats() stats.Feed {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := stats.Feed{LogBytes: f.logBytes, Subscribers: len(f.subscribers), Cut: f.cut}
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

// Measure measures the log for Stats and Check.
func (f *Feed) Measure(ctx context.Context) error {
	var bytes int64
	err := f.log.DB.Get(ctx, &bytes, f.log.Dialect.LogSize)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil {
		f.logBytes = bytes
	}
	return err
}

// Check warns about a feed that does not go on and about a large log.
func (f *Feed) Check() model.Check {
	check := model.Check{Name: "changes", Status: model.Pass}
	switch f := f.Stats(); {
	case f.Lag > maxLag:
		check.Status, check.Output = model.Warn, fmt.Sprintf("The feed of changes is %v behind. The log has the cause.", f.Lag.Round(time.Second))
	case f.LogBytes > maxLogSize:
		check.Status, check.Output = model.Warn, fmt.Sprintf("The log of changes takes %d GiB. Lower CATALOGUE_CHANGES_DAYS.", f.LogBytes>>30)
	}
	return check
}

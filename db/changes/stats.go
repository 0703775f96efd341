package db

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
)

const (
	maxLag     = 10 * time.Second // before a check warns
	maxLogSize = 10 << 30         // bytes before a check warns
)

// FeedStats returns the state of the feed of changes.
func (s *Store) FeedStats() stats.Feed {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	f := stats.Feed{LogBytes: s.feed.logBytes, Subscribers: len(s.feed.subscribers), Cut: s.feed.cut}
	if !s.feed.behind.IsZero() {
		f.Lag = time.Since(s.feed.behind)
	}
	return f
}

// caughtUp records whether the feed has all changes. Its lag is the time since the first failure.
func (f *feed) caughtUp(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case err == nil:
		f.behind = time.Time{}
	case f.behind.IsZero():
		f.behind = time.Now()
	}
}

// MeasureChanges measures the log of changes for FeedStats and Checks.
func (s *Store) MeasureChanges(ctx context.Context) error {
	var bytes int64
	err := s.run(ctx, nil, false, func(h handle) error { return sqlx.GetContext(ctx, h, &bytes, s.dialect.LogSize) })
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	if err == nil {
		s.feed.logBytes = bytes
	}
	return err
}

// checkChanges warns about a feed that does not go on and about a large log.
func (s *Store) checkChanges() model.Check {
	check := model.Check{Name: "changes", Status: model.Pass}
	switch f := s.FeedStats(); {
	case f.Lag > maxLag:
		check.Status, check.Output = model.Warn, fmt.Sprintf("The feed of changes is %v behind. The log has the cause.", f.Lag.Round(time.Second))
	case f.LogBytes > maxLogSize:
		check.Status, check.Output = model.Warn, fmt.Sprintf("The log of changes takes %d GiB. Lower CATALOGUE_CHANGES_DAYS.", f.LogBytes>>30)
	}
	return check
}

package serve

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"library-catalogue/db/fault"
	"library-catalogue/task"
)

const (
	// databaseInterval is the time between two attempts to reach an unreachable database.
	databaseInterval = time.Second

	// answersInterval is the time between two deletions of old idempotency answers, which are kept for a day.
	answersInterval = time.Hour

	// changesInterval is the time between two deletions of old changes, and two measurements of their log. SQLite reads
	// the log to measure it.
	changesInterval = time.Hour

	// sizesInterval is the time between two counts of the rows. A count takes up to a second, and a stale one
	// changes few prices.
	sizesInterval = time.Minute
)

// maintain starts the store once its database is reachable, and then runs periodic work until ctx ends. It calls fail
// if the store cannot start.
func (p *process) maintain(ctx context.Context, fail context.CancelCauseFunc) error {
	for away := p.away; away; {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(databaseInterval):
		}
		err := p.store.Start(ctx)
		if away = fault.IsAway(err); err != nil && !away {
			fail(err)
			return err
		}
		if !away {
			p.log.Info("the database is reachable")
		}
	}
	var ended []<-chan error
	for _, work := range []struct {
		interval time.Duration
		do       func() error
		failed   string // message of the log
	}{
		{answersInterval, func() error { return p.store.ForgetAnswers(ctx) }, "old answers could not be deleted"},
		{answersInterval, func() error { return p.store.Accounts.Forget(ctx, time.Now().UnixMicro()) },
			"expired sessions could not be deleted"},
		{changesInterval, func() error { return p.store.ForgetChanges(ctx, p.ChangesDays) },
			"old changes could not be deleted"},
		{changesInterval, func() error { return p.store.MeasureChanges(ctx) },
			"the log of changes could not be measured"},
		{sizesInterval, func() error { return p.store.CountSizes(ctx) }, "the rows could not be counted"},
	} {
		ended = append(ended, every(ctx, work.interval, work.do, p.log, work.failed))
	}
	for _, done := range ended {
		<-done
	}
	return nil
}

// every calls fn at each interval until ctx ends, also after an error or a panic. It logs errors.
func every(ctx context.Context, interval time.Duration, fn func() error, log *slog.Logger, failed string) <-chan error {
	return task.Go(ctx, func() error {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		for {
			if err := task.Run(ctx, fn); err != nil && ctx.Err() == nil {
				log.Warn(failed, "error", err)
			}
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
		}
	})
}

// failure returns the error that ended the server, or nil after a signal.
func failure(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

package serve

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"library-catalogue/db"
	"library-catalogue/db/fault"
	"library-catalogue/task"
)

const (
	// databaseInterval is the time between two attempts to reach an unreachable database.
	databaseInterval = time.Second

	// answersInterval is the time between two deletions of old idempotency answers, which are kept for a day.
	answersInterval = time.Hour

	// changesInterval is the time between two deletions of old changes, and two measurements of their log, which SQLite
	// reads for that.
	changesInterval = time.Hour

	// sizesInterval is the time between two counts of the rows. A count takes up to a second, and a stale one
	// changes few prices.
	sizesInterval = time.Minute
)

// startStore starts the store. It reports away if the database is unreachable, and returns other errors, like
// a wrong URL or role.
func startStore(ctx context.Context, store *db.Store, log *slog.Logger) (away bool, err error) {
	err = store.Start(ctx)
	if fault.IsAway(err) {
		log.Warn("the database is unreachable, and requests get 503 until it answers", "error", err)
		return true, nil
	}
	return false, err
}

// maintainStore starts the store once its database is reachable, and then runs periodic work until ctx ends.
// It calls fail if the store cannot start.
func maintainStore(ctx context.Context, store *db.Store, away bool, changesDays int, fail context.CancelCauseFunc, log *slog.Logger) error {
	for away {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(databaseInterval):
		}
		err := store.Start(ctx)
		if away = fault.IsAway(err); err != nil && !away {
			fail(err)
			return err
		}
		if !away {
			log.Info("the database is reachable")
		}
	}
	for _, done := range []<-chan error{
		every(ctx, answersInterval, func() error { return store.ForgetAnswers(ctx) }, log, "old answers could not be deleted"),
		every(ctx, answersInterval, func() error { return store.Accounts.Forget(ctx, time.Now().UnixMicro()) }, log, "expired sessions could not be deleted"),
		every(ctx, changesInterval, func() error { return store.ForgetChanges(ctx, changesDays) }, log, "old changes could not be deleted"),
		every(ctx, changesInterval, func() error { return store.MeasureChanges(ctx) }, log, "the log of changes could not be measured"),
		every(ctx, sizesInterval, func() error { return store.CountSizes(ctx) }, log, "the rows could not be counted"),
	} {
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

package serve

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"library-catalogue/db"
)

const (
	// databaseInterval is the time between two attempts to reach a database that is away.
	databaseInterval = time.Second

	// answersInterval is the time between two deletions of old answers. They are
	// kept for a day, so that an hour more is little.
	answersInterval = time.Hour

	// sizesInterval is the time between two counts of the rows, which take part of a
	// second where there are very many. What comes between changes few prices.
	sizesInterval = time.Minute
)

// startStore starts the store, or reports that its database is away: then it may start
// later. What else is wrong, say with the URL or the role, is an error.
func startStore(ctx context.Context, store *db.Store, log *slog.Logger) (away bool, err error) {
	err = store.Start(ctx)
	if db.IsAway(err) {
		log.Warn("waiting for the database: until it answers, requests get 503", "error", err)
		return true, nil
	}
	return false, err
}

// maintainStore starts a store whose database was away as soon as that is back, and then does
// what is to be done now and then, until ctx ends. Where the store cannot start it ends
// the server by fail.
func maintainStore(ctx context.Context, store *db.Store, away bool, fail context.CancelCauseFunc, log *slog.Logger) {
	for away {
		select {
		case <-ctx.Done():
			return
		case <-time.After(databaseInterval):
		}
		err := store.Start(ctx)
		if away = db.IsAway(err); err != nil && !away {
			fail(err)
			return
		}
		if !away {
			log.Info("the database answers")
		}
	}
	go every(ctx, answersInterval, func() error { return store.ForgetAnswers(ctx) }, log, "old answers could not be deleted")
	every(ctx, sizesInterval, func() error { return store.CountSizes(ctx) }, log, "the rows could not be counted")
}

// every calls fn now and then until ctx ends, and logs where it fails.
func every(ctx context.Context, interval time.Duration, fn func() error, log *slog.Logger, failed string) {
	for tick := time.NewTicker(interval); ; {
		if err := fn(); err != nil && ctx.Err() == nil {
			log.Warn(failed, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// failure returns the error by which the server was ended, and not by a signal.
func failure(ctx context.Context) error {
	if cause := context.Cause(ctx); !errors.Is(cause, context.Canceled) {
		return cause
	}
	return nil
}

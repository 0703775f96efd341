package db

import (
	"context"
	"errors"
)

// maxAttempts is more than there are connections, all of which may be broken.
const maxAttempts = poolSize + 4

// retry runs fn again where it fails with errRetry, up to maxAttempts times.
func retry(ctx context.Context, fn func() error) error {
	for attempt := 1; ; attempt++ {
		err := fn()
		switch {
		case !errors.Is(err, errRetry):
			return err
		case attempt == maxAttempts || ctx.Err() != nil:
			return unavailable(err)
		}
	}
}

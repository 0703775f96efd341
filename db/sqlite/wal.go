package sqlite

import (
	"context"
	"os"
	"time"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"
)

// The bounds of the write-ahead log. LimitWAL truncates a log of walSize, four times the 1,000 pages
// after which SQLite copies it into the database. Writers wait for a truncation, and the truncation
// waits for readers: for up to walWait at walSize, and longer with the square of the size, so that
// long reads cannot make the log grow without bound.
const (
	walSize = 16 << 20
	walWait = time.Second
)

// LimitWAL truncates the write-ahead log of a database each time it has grown by walSize, until ctx
// ends. SQLite restarts the log only at a moment without readers, which may never come under load.
func LimitWAL(ctx context.Context, path string, writer *sqlx.DB) error {
	committed := make(chan struct{}, 1)
	if err := onCommit(ctx, writer, func() {
		select {
		case committed <- struct{}{}:
		default:
		}
	}); err != nil {
		return err
	}
	for limit := int64(walSize); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-committed:
		}
		if size := fileSize(path + "-wal"); size >= limit {
			times := time.Duration(size / walSize)
			if err := truncateWAL(ctx, writer, walWait*times*times); err != nil {
				return err
			}
			limit = fileSize(path+"-wal") + walSize
		}
	}
}

// fileSize returns the size of a file, or 0 if it does not exist.
func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// onCommit calls fn before each commit of the only connection that writes.
func onCommit(ctx context.Context, writer *sqlx.DB, fn func()) error {
	conn, err := writer.Connx(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return conn.Raw(func(c any) error {
		c.(sqlite.HookRegisterer).RegisterCommitHook(func() int32 {
			fn()
			return 0
		})
		return nil
	})
}

// truncateWAL copies the log into the database and truncates it, if a moment without readers comes
// before wait is over. It blocks writes until then.
func truncateWAL(ctx context.Context, writer *sqlx.DB, wait time.Duration) error {
	conn, err := writer.Connx(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.ExecContext(ctx,
		"PRAGMA "+busyPragma(wait)+"; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA "+busyPragma(busyTimeout))
	return err
}

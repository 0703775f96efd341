package sqlite

import (
	"context"
	"os"
	"time"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"
)

// The bounds of the write-ahead log. It is emptied at four times the 1,000 pages after
// which SQLite itself copies it into the database, since that makes writers wait: once
// for so many bytes, for a second, which is longer than most statements, and where
// somebody read for longer, four seconds at twice the size and nine at three times: so
// long whole lists are read by several at once beside writes that never pause.
const (
	walSize = 16 << 20
	walWait = time.Second
)

// LimitWAL empties the write-ahead log of a database whenever it has grown by walSize,
// until ctx ends. SQLite writes it from its beginning again only after a moment in which
// nobody reads from it, which under load does not come by itself.
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

// fileSize returns the size of a file, or 0 where there is none.
func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// onCommit has fn called before each commit of the only connection that writes.
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

// truncateWAL copies the whole log into the database and empties it, if before
// wait is over there is a moment in which nobody reads from it. No write begins meanwhile.
func truncateWAL(ctx context.Context, writer *sqlx.DB, wait time.Duration) error {
	conn, err := writer.Connx(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	_, err = conn.ExecContext(ctx, "PRAGMA "+busyPragma(wait)+"; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA "+busyPragma(busyTimeout))
	return err
}

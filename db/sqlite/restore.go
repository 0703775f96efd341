package sqlite

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Restored is the result of a restore.
type Restored struct {
	Content
	Kept string // file with the replaced database, or empty
}

// Restore replaces a database that no program has open with a copy of a backup. upgrade migrates
// the copy first, or returns an error. At any moment the file is the complete old or new database:
// Restore first copies the old one and removes its write-ahead log.
func Restore(
	ctx context.Context, file, database string, upgrade func(ctx context.Context, database string) error,
) (r Restored, err error) {
	held, err := hold(ctx, database)
	if held != nil {
		defer held.Close()
	}
	damaged := isDamaged(err)
	if err != nil && !damaged {
		return r, fmt.Errorf("nothing was changed: %w", err)
	}
	fresh := database + partInfix + rand.Text()
	defer func() { err = errors.Join(err, removeDatabase(fresh)) }()
	if r.Content, err = copyBackup(ctx, file, fresh); err == nil {
		err = upgrade(ctx, fresh)
	}
	if err != nil {
		return r, fmt.Errorf("nothing was changed: %s cannot be restored: %w", file, err)
	}
	if held != nil || damaged {
		r.Kept = database + ".replaced-" + stamp(time.Now()) + "-" + rand.Text()[:4]
		if err := keep(ctx, held, database, r.Kept, fresh); err != nil {
			return r, fmt.Errorf("nothing was changed: %w", err)
		}
	}
	return r, replace(fresh, database, held)
}

// copyBackup copies a backup to a new file and checks it. The backup may be on a read-only file
// system.
func copyBackup(ctx context.Context, file, to string) (Content, error) {
	if _, err := Check(ctx, file); err != nil {
		return Content{}, err
	}
	source, err := openFile(ctx, file, "ro", busyPragma(busyTimeout))
	if err != nil {
		return Content{}, err
	}
	defer source.Close()
	return copyInto(ctx, source, to)
}

// keep copies a database that will be replaced to another file. It copies bytes if the database is
// damaged, so that held is nil or unreadable. fresh gets the database's file mode.
func keep(ctx context.Context, held *sqlx.DB, database, to, fresh string) error {
	info, err := os.Stat(database)
	if err == nil {
		err = os.Chmod(fresh, info.Mode().Perm())
	}
	if err != nil {
		return err
	}
	if held != nil {
		if _, err := backup(ctx, held, to, func() error { return nil }); !isDamaged(err) {
			return err
		}
	}
	return copyBytes(database, to)
}

// hold opens a database exclusively and removes its write-ahead log. It fails if another program
// has the database open, because every connection that has read a database in WAL mode holds a
// shared lock (sqlite.org/walformat.html, section 2.3.1). It returns nil if there is no database.
func hold(ctx context.Context, database string) (*sqlx.DB, error) {
	if _, err := os.Stat(database); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	db, err := openFile(ctx, database, "rw", "busy_timeout(1000)", "locking_mode(EXCLUSIVE)")
	if err == nil {
		var mode string
		err = db.GetContext(ctx, &mode, `PRAGMA journal_mode = DELETE`)
		if err == nil && mode != "delete" {
			err = fmt.Errorf("the journal mode of %s stays %s", database, mode)
		}
		if err == nil {
			_, err = db.ExecContext(ctx, `BEGIN EXCLUSIVE; COMMIT`) // the lock stays
		}
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}
	if e, ok := errors.AsType[*sqlite.Error](err); ok && e.Code()&0xff == sqlite3.SQLITE_BUSY {
		return nil, fmt.Errorf("%s is in use: stop catalogue serve and other programs that have it open", database)
	}
	if err != nil {
		return nil, err
	}
	return db, nil
}

// sidecars are the suffixes of the files that belong to a database.
var sidecars = []string{"-journal", "-wal", "-shm"}

func removeDatabase(path string) (err error) {
	for _, sidecar := range append([]string{""}, sidecars...) {
		err = errors.Join(err, remove(path+sidecar))
	}
	return err
}

// copyBytes copies the files of a database.
func copyBytes(database, to string) error {
	for _, sidecar := range append([]string{""}, sidecars...) {
		if err := copyFile(database+sidecar, to+sidecar); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return syncFolder(to)
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	return errors.Join(err, out.Close())
}

// replace renames a file to the name of a database, while held keeps the database locked. It first
// removes the sidecars of the old database, which must not be read with the new file.
func replace(file, database string, held *sqlx.DB) error {
	if held != nil {
		if runtime.GOOS == "windows" { // which cannot replace an open file
			if err := held.Close(); err != nil {
				return err
			}
		}
		defer held.Close()
	}
	for _, sidecar := range sidecars {
		if err := remove(database + sidecar); err != nil {
			return err
		}
	}
	if err := syncFolder(database); err != nil {
		return err
	}
	if err := os.Rename(file, database); err != nil {
		return err
	}
	return syncFolder(database)
}

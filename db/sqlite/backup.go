package sqlite

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Content describes a copy after its check.
type Content struct {
	Schema                    int64 // version of the schema
	Books, Genres, Categories int64
	Bytes                     int64
}

func (c Content) String() string {
	return fmt.Sprintf("%d books, %d genres, %d categories, schema %d, %.1f MB", c.Books, c.Genres, c.Categories,
		c.Schema, float64(c.Bytes)/1e6)
}

// Backup copies one snapshot of a database into a file while other connections use the database.
// The file gets its name after it is complete, synced and checked. replace allows overwriting a
// file.
func Backup(ctx context.Context, database, file string, replace bool) (content Content, err error) {
	refuse := func() error {
		if _, err := os.Lstat(file); err == nil && !replace {
			return fmt.Errorf("%s exists: choose another name, or replace the file with --force", file)
		}
		return nil
	}
	if err := refuse(); err != nil {
		return content, err
	}
	source, err := openFile(ctx, database, "rw", busyPragma(busyTimeout))
	if err == nil {
		defer source.Close()
		content, err = backup(ctx, source, file, refuse)
	}
	if err != nil {
		return content, fmt.Errorf("cannot back up %s: %w", database, err)
	}
	return content, nil
}

// backup copies an open database into a file. It calls refuse before it renames the copy, and stops
// if refuse returns an error.
func backup(ctx context.Context, source *sqlx.DB, file string, refuse func() error) (Content, error) {
	part := file + partInfix + rand.Text()
	content, err := copyInto(ctx, source, part)
	if err == nil {
		err = refuse()
	}
	if err == nil {
		err = os.Rename(part, file)
	}
	if err != nil {
		return content, errors.Join(err, remove(part))
	}
	return content, syncFolder(file)
}

// partInfix is in the name of an incomplete file, before random letters.
const partInfix = ".part-"

// copyInto writes a snapshot of a database into a new file for its owner only, and checks it.
func copyInto(ctx context.Context, source *sqlx.DB, file string) (Content, error) {
	out, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return Content{}, err
	}
	_, err = source.ExecContext(ctx, `VACUUM INTO $1`, file) // accepts an empty file
	if err == nil {
		err = out.Sync() // SQLite does not sync it
	}
	if err := errors.Join(err, out.Close()); err != nil {
		return Content{}, err
	}
	return Check(ctx, file)
}

// Check reads the whole copy and describes it.
func Check(ctx context.Context, file string) (content Content, err error) {
	info, err := os.Stat(file)
	if err != nil {
		return content, err
	}
	content.Bytes = info.Size()
	db, err := openFile(ctx, file, "ro")
	if err != nil {
		return content, notWhole(err)
	}
	defer db.Close()
	var problems []string
	err = db.SelectContext(ctx,
		&problems, `SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'
UNION ALL SELECT 'a row of ' || "table" || ' refers to a missing row of ' || parent
FROM (SELECT * FROM pragma_foreign_key_check LIMIT 1)`)
	if err == nil && len(problems) > 0 {
		err = errors.New(problems[0])
	}
	if err == nil {
		err = db.QueryRowContext(ctx, `SELECT (SELECT max(version_id) FROM goose_db_version WHERE is_applied),
(SELECT count(*) FROM books), (SELECT count(*) FROM genres), (SELECT count(*) FROM categories)`).Scan(&content.Schema,
			&content.Books, &content.Genres, &content.Categories)
	}
	return content, notWhole(err)
}

// errDamaged is the error of a file that is not a complete catalogue.
var errDamaged = errors.New("the file is damaged or not a catalogue")

// notWhole wraps the error of a check in errDamaged.
func notWhole(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return fmt.Errorf("%w: %w", errDamaged, err)
}

// isDamaged reports whether a file is not a complete catalogue.
func isDamaged(err error) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return errors.Is(err, errDamaged) ||
		ok && slices.Contains([]int{sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}, e.Code()&0xff)
}

// openFile opens one connection to an existing file.
func openFile(ctx context.Context, path, mode string, pragmas ...string) (*sqlx.DB, error) {
	params := url.Values{"mode": {mode}, "_pragma": pragmas}
	db, err := sqlx.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+params.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := db.PingContext(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// remove deletes a file if it exists.
func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// syncFolder syncs the folder of a file, which makes renames durable.
func syncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	_ = folder.Sync() // some systems cannot
	return folder.Close()
}

const stampLayout = "20060102T150405Z"

func stamp(at time.Time) string { return at.UTC().Format(stampLayout) }

package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Rotation writes backups of a database into a folder now and then, and deletes old ones.
type Rotation struct {
	Database string
	Folder   string
	Every    time.Duration
	Keep     int // how many
}

// ofBackup returns what stands in the names of the backups before and after their moment.
func (r Rotation) ofBackup() (prefix, suffix string) {
	return strings.TrimSuffix(filepath.Base(r.Database), ".db") + "-", ".db"
}

// moments returns the moments of the backups in the folder, the oldest first.
func (r Rotation) moments() ([]time.Time, error) {
	files, err := os.ReadDir(r.Folder)
	prefix, suffix := r.ofBackup()
	var moments []time.Time
	for _, file := range files {
		name, ours := strings.CutPrefix(file.Name(), prefix)
		at, err := time.Parse(stampLayout+suffix, name)
		if ours && err == nil {
			moments = append(moments, at)
		}
	}
	slices.SortFunc(moments, time.Time.Compare)
	return moments, err
}

// Due returns how long after now the next backup is to be written: Every after the last
// one, by this program or another.
func (r Rotation) Due(now time.Time) (time.Duration, error) {
	moments, err := r.moments()
	if err != nil || len(moments) == 0 {
		return 0, err
	}
	return min(r.Every, moments[len(moments)-1].Add(r.Every).Sub(now)), nil
}

// Write writes the backup of a moment, and deletes the oldest where there are more than
// Keep.
func (r Rotation) Write(ctx context.Context, now time.Time) (file string, content Content, err error) {
	prefix, suffix := r.ofBackup()
	path := func(at time.Time) string { return filepath.Join(r.Folder, prefix+stamp(at)+suffix) }
	if content, err = Backup(ctx, r.Database, path(now), false); err != nil {
		return "", content, err
	}
	moments, err := r.moments()
	for _, at := range moments[:max(0, len(moments)-r.Keep)] {
		err = errors.Join(err, remove(path(at)))
	}
	return path(now), content, errors.Join(err, r.removeParts(now))
}

// partAge is how old a file must be that is still being written to be left by a program
// that has ended.
const partAge = 24 * time.Hour

func (r Rotation) removeParts(now time.Time) (err error) {
	prefix, suffix := r.ofBackup()
	parts, _ := filepath.Glob(filepath.Join(r.Folder, prefix+"*"+suffix+partInfix+"*")) // the pattern is good
	for _, part := range parts {
		if info, failed := os.Stat(part); failed == nil && now.Sub(info.ModTime()) > partAge {
			err = errors.Join(err, remove(part))
		}
	}
	return err
}

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

// Rotation creates backups of a database at intervals and deletes old ones.
type Rotation struct {
	Database string
	Folder   string
	Every    time.Duration
	Keep     int // number of backups
}

// ofBackup returns the parts of a backup's name before and after its time.
func (r Rotation) ofBackup() (prefix, suffix string) {
	return strings.TrimSuffix(filepath.Base(r.Database), ".db") + "-", ".db"
}

// moments returns the times of the backups in the folder, oldest first.
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

// Due returns the time until the next backup: Every after the last one, even if another program
// created that.
func (r Rotation) Due(now time.Time) (time.Duration, error) {
	moments, err := r.moments()
	if err != nil || len(moments) == 0 {
		return 0, err
	}
	return min(r.Every, moments[len(moments)-1].Add(r.Every).Sub(now)), nil
}

// Write creates the backup of a time and deletes the oldest ones beyond Keep.
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

// partAge is the age of an incomplete file after which its program must have ended.
const partAge = 24 * time.Hour

func (r Rotation) removeParts(now time.Time) (err error) {
	prefix, suffix := r.ofBackup()
	parts, _ := filepath.Glob(filepath.Join(r.Folder, prefix+"*"+suffix+partInfix+"*")) // the pattern is valid
	for _, part := range parts {
		if info, failed := os.Stat(part); failed == nil && now.Sub(info.ModTime()) > partAge {
			err = errors.Join(err, remove(part))
		}
	}
	return err
}

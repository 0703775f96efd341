package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/db/sqlite"
)

// backupFlags say where backups of an SQLite database are written while it is served.
type backupFlags struct {
	BackupDir   string        `env:"CATALOGUE_BACKUP_DIR" placeholder:"FOLDER" help:"Write backups of an SQLite database into this folder while it is served."`
	BackupEvery time.Duration `env:"CATALOGUE_BACKUP_EVERY" default:"24h" help:"How long after the last backup in the folder the next is written (default: ${default})."`
	BackupKeep  int           `env:"CATALOGUE_BACKUP_KEEP" default:"7" placeholder:"N" help:"How many of them to keep (default: ${default})."`
}

// minBackupInterval leaves time for other work between two backups.
const minBackupInterval = time.Minute

// rotation returns the backups that are wanted, nil for none. It makes their folder.
func (f backupFlags) rotation(database cli.DatabaseFlags) (*sqlite.Rotation, error) {
	if f.BackupDir == "" {
		return nil, nil
	}
	path, ok := database.SQLiteFile()
	switch {
	case !ok:
		return nil, errors.New("--backup-dir or CATALOGUE_BACKUP_DIR is for SQLite: PostgreSQL is backed up by its own programs, such as pg_dump")
	case f.BackupEvery < minBackupInterval:
		return nil, fmt.Errorf("there must be %s at least between two backups: --backup-every or CATALOGUE_BACKUP_EVERY is %s", minBackupInterval, f.BackupEvery)
	case f.BackupKeep < 1:
		return nil, fmt.Errorf("a backup at least must be kept: --backup-keep or CATALOGUE_BACKUP_KEEP is %d", f.BackupKeep)
	}
	if err := os.MkdirAll(f.BackupDir, 0o700); err != nil {
		return nil, fmt.Errorf("the folder for backups cannot be made: %w", err)
	}
	return &sqlite.Rotation{Database: path, Folder: f.BackupDir, Every: f.BackupEvery, Keep: f.BackupKeep}, nil
}

// backUp writes backups until ctx ends. One that fails is tried again after
// minBackupInterval.
func backUp(ctx context.Context, rotation *sqlite.Rotation, log *slog.Logger) {
	for {
		wait, err := rotation.Due(time.Now())
		if err == nil && wait <= 0 {
			began := time.Now()
			var file string
			var content sqlite.Content
			if file, content, err = rotation.Write(ctx, began); err == nil {
				log.InfoContext(ctx, "backup written", "file", file, "content", content.String(), "took", time.Since(began).String())
			}
		}
		if err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "there is no new backup", "folder", rotation.Folder, "error", err)
			wait = minBackupInterval
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

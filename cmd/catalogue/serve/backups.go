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

type backupFlags struct {
	BackupDir   string        `env:"CATALOGUE_BACKUP_DIR" placeholder:"FOLDER" help:"Folder for the backups of an SQLite database that the server writes (default: it writes none)."`
	BackupEvery time.Duration `env:"CATALOGUE_BACKUP_EVERY" default:"24h" help:"Time between two backups (default: ${default})."`
	BackupKeep  int           `env:"CATALOGUE_BACKUP_KEEP" default:"7" placeholder:"N" help:"Number of backups to keep (default: ${default})."`
}

// minBackupInterval leaves time for other work between two backups.
const minBackupInterval = time.Minute

// rotation creates the folder of backups. It returns nil without --backup-dir.
func (f backupFlags) rotation(database cli.DatabaseFlags) (*sqlite.Rotation, error) {
	if f.BackupDir == "" {
		return nil, nil
	}
	path, ok := database.SQLiteFile()
	if !ok {
		return nil, errors.New("--backup-dir or CATALOGUE_BACKUP_DIR applies to SQLite only: back up PostgreSQL with " +
			"its own programs, like pg_dump")
	}
	if err := os.MkdirAll(f.BackupDir, 0o700); err != nil {
		return nil, fmt.Errorf("create the folder for backups: %w", err)
	}
	return &sqlite.Rotation{Database: path, Folder: f.BackupDir, Every: f.BackupEvery, Keep: f.BackupKeep}, nil
}

// backUp writes backups until ctx ends. It retries after minBackupInterval.
func backUp(ctx context.Context, rotation *sqlite.Rotation, log *slog.Logger) {
	for {
		wait, err := rotation.Due(time.Now())
		if err == nil && wait <= 0 {
			began := time.Now()
			var file string
			var content sqlite.Content
			if file, content, err = rotation.Write(ctx, began); err == nil {
				log.InfoContext(ctx, "backup written", "file", file, "content", content.String(), "took",
					time.Since(began).String())
			}
		}
		if err != nil && ctx.Err() == nil {
			log.ErrorContext(ctx, "backup failed", "folder", rotation.Folder, "error", err)
			wait = minBackupInterval
		}
		select { // after a backup wait is not positive: Due then tells the time of the next one
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

package db

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/pressly/goose/v3"
)

//go:embed migrations
var migrations embed.FS

// Migration is one step of the schema.
type Migration struct {
	Version int64
	Name    string    // its file
	Applied time.Time // zero where it is still to come
}

// Migrate brings the schema up to this program's. Processes that start together
// take turns. A schema that a newer program made is refused.
func (s *Store) Migrate(ctx context.Context) error {
	provider, err := s.migrator()
	if err != nil {
		return err
	}
	release, err := s.dialect.exclude(ctx, s.writer)
	if err != nil {
		return fmt.Errorf("wait for another process to migrate the database: %w", err)
	}
	defer release()
	for {
		before, err := s.schemaVersion(ctx, provider)
		if err != nil {
			return err
		}
		_, err = provider.Up(ctx)
		if err == nil {
			return s.fail(s.dialect.finish(ctx, s.writer))
		}
		// SQLite has no lock beyond its transactions: where another process made
		// the same step first, ours failed, and there is less to do now.
		after, _ := s.schemaVersion(ctx, provider)
		if after <= before {
			return fmt.Errorf("migrate the database: %w", err)
		}
	}
}

// Migrations lists every step, in order.
func (s *Store) Migrations(ctx context.Context) ([]Migration, error) {
	provider, err := s.migrator()
	if err != nil {
		return nil, err
	}
	status, err := provider.Status(ctx)
	if err != nil {
		return nil, s.fail(err)
	}
	var out []Migration
	for _, m := range status {
		out = append(out, Migration{Version: m.Source.Version, Name: m.Source.Path, Applied: m.AppliedAt})
	}
	return out, nil
}

func (s *Store) migrator() (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations/"+s.dialect.name())
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(s.dialect.goose(), s.writer.DB.DB, files)
}

// schemaVersion gives the last step applied; a schema past this program's last
// step is an error.
func (s *Store) schemaVersion(ctx context.Context, provider *goose.Provider) (int64, error) {
	current, target, err := provider.GetVersions(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the schema's version: %w", err)
	}
	if current > target {
		return 0, errors.New("the database was migrated by a newer version of catalogue " +
			fmt.Sprintf("(schema %d, this program knows %d): use that version or a newer one, or export the catalogue with it and import that into a new database", current, target))
	}
	return current, nil
}

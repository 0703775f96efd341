// Package schema migrates a database and verifies its schema.
package schema

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"library-catalogue/db/dialect"
	"library-catalogue/db/fault"
)

// Migrations are the files of each engine, in a folder with its name.
//
//go:embed postgres sqlite
var Migrations embed.FS

// Texts returns the SQL of all migrations of an engine, in order, with the triggers that follow from the fields.
func Texts(d *dialect.Dialect) (texts []string, err error) {
	all, err := migrationsOf(Migrations, d)
	if err != nil {
		return nil, err
	}
	files, err := fs.Glob(all, "*")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		var text []byte
		if text, err = fs.ReadFile(all, file); err != nil {
			return nil, err
		}
		texts = append(texts, string(text))
	}
	return texts, err
}

// Migration is one step of the schema.
type Migration struct {
	Version int64
	Name    string    // file name
	Applied time.Time // zero if it is pending
}

// Schema is the schema of a database.
type Schema struct {
	DB      *sqlx.DB
	Dialect *dialect.Dialect
	Files   fs.FS // migrations of this program, as in Migrations
	Logger  *slog.Logger
}

// BringUp verifies the schema, or migrates an older one.
func (s *Schema) BringUp(ctx context.Context) error {
	found, target, err := s.current(ctx)
	if fault.Of(err) == fault.Denied {
		return fmt.Errorf("the database role cannot read the catalogue: grant it the privileges of a serving role "+
			"(docs/postgres.md): %w", err)
	}
	if err != nil {
		return err
	}
	if found.Number > target {
		return s.verify(ctx, false)
	}
	var has bool
	if found.Number == target {
		if has, err = s.hasPasses(ctx, target); err != nil {
			return err
		}
		if !has {
			return s.verify(ctx, true)
		}
	}
	var may bool
	if err := s.DB.GetContext(ctx, &may, s.Dialect.MayMigrate); err != nil {
		return err
	}
	if !may && has {
		return fmt.Errorf("rows of the catalogue are not changed to schema %d yet, and this database role or server "+
			"does not permit it: run catalogue db migrate up as the owner of the tables, on the primary", target)
	}
	if !may {
		return fmt.Errorf("the schema has version %d, this program needs %d, and this database role or server does "+
			"not permit migrations: run catalogue db migrate up as the owner of the tables, on the primary",
			found.Number, target)
	}
	return s.Migrate(ctx)
}

// migrationTimeout bounds Migrate, because a migration that rewrites every row takes minutes. A
// statement without a deadline would end after the 30 s of package postgres.
const migrationTimeout = time.Hour

// A migration waits 2 s for a lock (lock_timeout), because all later statements on the table wait
// behind it. It then lets them through and runs again.
const (
	lockAttempts = 60
	lockPause    = time.Second
)

// Migrate applies the pending migrations. Processes that start together migrate one after another.
// It changes nothing in a newer schema on which this program may serve, and refuses any other.
func (s *Schema) Migrate(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, migrationTimeout)
	defer cancel()
	provider, err := s.migrator()
	if err != nil {
		return err
	}
	release, err := s.lockMigrations(ctx)
	if err != nil {
		return fmt.Errorf("wait for the migration of another process: %w", err)
	}
	defer release()
	for locked := 0; ; {
		before, target, err := s.current(ctx)
		if err != nil {
			return err
		}
		if before.Number <= target {
			if _, err = provider.Up(ctx); err == nil {
				err = s.runPasses(ctx, target)
			}
		}
		if err == nil {
			if err := s.createTrigramIndexes(ctx); err != nil {
				return err
			}
			return s.verify(ctx, before.Number <= target)
		}
		if e, ok := errors.AsType[*pq.Error](err); ok &&
			(e.Code == fault.LockNotAvailable || e.Code == fault.Deadlock) && locked < lockAttempts {
			locked++
			s.Logger.WarnContext(ctx, "a transaction holds a table that a migration changes: it is tried again",
				"attempt", locked)
			select {
			case <-ctx.Done():
			case <-time.After(lockPause):
			}
			continue
		}
		// SQLite has no lock across transactions. If another process applied the same migration
		// first, this one failed and fewer are pending.
		after, _, _ := s.current(ctx)
		if after.Number <= before.Number {
			return fmt.Errorf("migrate the database: %w", err)
		}
	}
}

// List lists all migrations, in order.
func (s *Schema) List(ctx context.Context) ([]Migration, error) {
	provider, err := s.migrator()
	if err != nil {
		return nil, err
	}
	version, err := s.applied(ctx)
	if err != nil {
		return nil, fault.Translate(err)
	}
	if err := CheckOrigin(ctx, s.DB, s.Dialect, version); err != nil {
		return nil, err
	}
	var out []Migration
	if version == 0 { // Status would create goose's table
		for _, m := range provider.ListSources() {
			out = append(out, Migration{Version: m.Version, Name: m.Path})
		}
		return out, nil
	}
	status, err := provider.Status(ctx)
	if err != nil {
		return nil, fault.Translate(err)
	}
	for _, m := range status {
		out = append(out, Migration{Version: m.Source.Version, Name: m.Source.Path, Applied: m.AppliedAt})
	}
	return out, nil
}

func (s *Schema) migrator() (*goose.Provider, error) {
	files, err := migrationsOf(s.Files, s.Dialect)
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.Dialect(s.Dialect.Goose), s.DB.DB, files)
}

// lockMigrations blocks migrations of other processes until release is called, if the engine
// HasAdvisoryLocks. A transaction holds goose's own lock, so that the lock ends with its connection,
// also behind a pooler. It polls for the lock, because CREATE INDEX CONCURRENTLY would wait for a
// statement that waits for the lock in the server. An idle transaction does not delay it.
func (s *Schema) lockMigrations(ctx context.Context) (release func(), err error) {
	if !s.Dialect.HasAdvisoryLocks {
		return func() {}, nil
	}
	const interval = 50 * time.Millisecond
	// An argument would leave a portal open, and CREATE INDEX CONCURRENTLY waits for its snapshot.
	try := fmt.Sprintf(
		`SELECT pg_try_advisory_xact_lock(%d) FROM set_config('idle_in_transaction_session_timeout', '0', true)`,
		lock.DefaultLockID)
	for {
		// It ends after a canceled migration. In a higher isolation level, which may be the role's default, it
		// would keep a snapshot, and CREATE INDEX CONCURRENTLY waits for the end of older snapshots.
		tx, err := s.DB.BeginTx(context.WithoutCancel(ctx), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
		if err != nil {
			return nil, err
		}
		release := func() { _ = tx.Rollback() }
		var ours bool
		err = tx.QueryRowContext(ctx, try).Scan(&ours)
		if ours {
			return release, nil
		}
		release()
		if err != nil {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(interval):
		}
	}
}

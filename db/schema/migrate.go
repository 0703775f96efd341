package db

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"library-catalogue/db/dialect"
	"library-catalogue/db/fault"
	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

//go:embed migrations
var embedded embed.FS

// migrations are the files of each engine, in a folder with its name.
var migrations, _ = fs.Sub(embedded, "migrations") // fails only for an invalid name

// MigrationTexts returns the SQL of all migrations of an engine, in order.
func MigrationTexts(d *dialect.Dialect) (texts []string, err error) {
	files, err := fs.ReadDir(migrations, d.Name)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		var text []byte
		if text, err = fs.ReadFile(migrations, d.Name+"/"+file.Name()); err != nil {
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

// Start connects to the database, migrates an older schema, and then allows statements. If the
// schema is current, Start changes nothing, so that it works with the privileges of a serving role
// and on a standby.
func (s *Store) Start(ctx context.Context) error {
	if err := s.connect(ctx); err != nil {
		return err
	}
	if err := s.bringUp(ctx); err != nil {
		return err
	}
	var sizes model.Sizes
	if err := s.readPool.DB.GetContext(ctx, &sizes, sizesSQL); err != nil {
		return err
	}
	s.sizes.Store(&sizes) // before requests arrive, because their prices depend on it
	s.detectPooler(ctx)
	s.started.Store(true)
	s.runFeed() // also without subscribers, so that each change gets its time
	return nil
}

func (s *Store) bringUp(ctx context.Context) error {
	found, target, err := s.currentSchema(ctx)
	if fault.Of(err) == fault.Denied {
		return fmt.Errorf("the database role cannot read the catalogue: grant it the privileges of a serving role (docs/postgres.md): %w", err)
	}
	if err != nil {
		return err
	}
	if found.version >= target {
		return s.verify(ctx)
	}
	var may bool
	if err := s.writePool.DB.GetContext(ctx, &may, s.dialect.MayMigrate); err != nil {
		return err
	}
	if !may {
		return fmt.Errorf("the schema has version %d, this program needs %d, and this database role or server does not permit migrations: run catalogue db migrate up as the owner of the tables, on the primary", found.version, target)
	}
	return s.Migrate(ctx)
}

// schemaVersion returns the version of the last migration applied, or 0 for an empty database.
func (s *Store) schemaVersion(ctx context.Context) (version int64, err error) {
	var migrated bool
	if err := s.writePool.DB.GetContext(ctx, &migrated, s.dialect.TableExists("goose_db_version")); err != nil || !migrated {
		return 0, err
	}
	return version, s.writePool.DB.GetContext(ctx, &version, schemaSQL)
}

// currentSchema returns the schema of the database and the version of this program. It refuses a
// schema of other migrations. It logs a warning for a newer schema on which this program may serve,
// and refuses one on which it may not.
func (s *Store) currentSchema(ctx context.Context) (found schema, target int64, err error) {
	if target, err = s.target(); err != nil {
		return found, 0, err
	}
	if found.version, err = s.schemaVersion(ctx); err != nil || found.version == 0 {
		return found, target, err
	}
	if err := s.CheckOrigin(ctx, found.version); err != nil {
		return found, target, err
	}
	if found, err = s.readSchema(ctx, s.writePool.DB.DB); err != nil || found.version <= target {
		return found, target, err
	}
	if target < found.lowest {
		return found, target, fmt.Errorf("the database was migrated by a newer version of catalogue (schema %d, this program knows %d, and at least %d is needed): "+
			"use that version, or export the catalogue with it and import the export into a new database", found.version, target, found.lowest)
	}
	s.options.Logger.WarnContext(ctx, "the schema is of a newer program, on which this one may serve: upgrade this program soon", "schema", found.version, "known", target)
	return found, target, nil
}

// upgradesVersion is the migration that created the table schema_versions.
const upgradesVersion = 4

// CheckOrigin returns an error for a schema of the migrations before 0.1.0, whose numbers were used
// again. None of them created the table schema_versions.
func (s *Store) CheckOrigin(ctx context.Context, version int64) error {
	if version < upgradesVersion {
		return nil
	}
	var ours bool
	if err := s.writePool.DB.GetContext(ctx, &ours, s.dialect.TableExists("schema_versions")); err != nil || ours {
		return err
	}
	return fmt.Errorf("the database is of a program before 0.1.0, whose schema %d cannot be upgraded: "+
		"export the catalogue with that program, and import the export into a new database with this one (docs/upgrade.md)", version)
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
func (s *Store) Migrate(ctx context.Context) error {
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
		before, target, err := s.currentSchema(ctx)
		if err != nil {
			return err
		}
		if before.version <= target {
			_, err = provider.Up(ctx)
		}
		if err == nil {
			if err := s.createTrigramIndexes(ctx); err != nil {
				return err
			}
			return s.verify(ctx)
		}
		if e, ok := errors.AsType[*pq.Error](err); ok && e.Code == fault.LockNotAvailable && locked < lockAttempts {
			locked++
			s.options.Logger.WarnContext(ctx, "a transaction holds a table that a migration changes: it is tried again", "attempt", locked)
			select {
			case <-ctx.Done():
			case <-time.After(lockPause):
			}
			continue
		}
		// SQLite has no lock across transactions. If another process applied the same migration
		// first, this one failed and fewer are pending.
		after, _, _ := s.currentSchema(ctx)
		if after.version <= before.version {
			return fmt.Errorf("migrate the database: %w", err)
		}
	}
}

// Migrations lists all migrations, in order.
func (s *Store) Migrations(ctx context.Context) ([]Migration, error) {
	provider, err := s.migrator()
	if err != nil {
		return nil, err
	}
	version, err := s.schemaVersion(ctx)
	if err != nil {
		return nil, fault.Translate(err)
	}
	if err := s.CheckOrigin(ctx, version); err != nil {
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

func (s *Store) migrator() (*goose.Provider, error) {
	files, err := fs.Sub(s.options.migrations, s.dialect.Name)
	if err != nil {
		return nil, err
	}
	return goose.NewProvider(goose.Dialect(s.dialect.Goose), s.writePool.DB.DB, files)
}

// lockMigrations blocks migrations of other processes until release is called, if the engine
// HasAdvisoryLocks. A transaction holds goose's own lock, so that the lock ends with its connection,
// also behind a pooler. It polls for the lock, because CREATE INDEX CONCURRENTLY would wait for a
// statement that waits for the lock in the server. An idle transaction does not delay it.
func (s *Store) lockMigrations(ctx context.Context) (release func(), err error) {
	if !s.dialect.HasAdvisoryLocks {
		return func() {}, nil
	}
	const interval = 50 * time.Millisecond
	// An argument would leave a portal open, whose snapshot CREATE INDEX CONCURRENTLY waits for.
	try := fmt.Sprintf(`SELECT pg_try_advisory_xact_lock(%d) FROM set_config('idle_in_transaction_session_timeout', '0', true)`, lock.DefaultLockID)
	for {
		// It ends after a canceled migration. In a higher isolation level, which may be the role's default, it
		// would keep a snapshot, and CREATE INDEX CONCURRENTLY waits for the end of older snapshots.
		tx, err := s.writePool.DB.BeginTx(context.WithoutCancel(ctx), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
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

// trigramIndexes are the columns of the trigram indexes, by name. They find words similar to a
// mistyped one and books by a part of a text. New entries first go to a pending list of at most 1
// MB: a shorter list makes writes slower, a longer one makes searches slower.
var trigramIndexes = map[string]string{
	"vocabulary_trigrams": "word", "books_name_trigrams": "name_fold",
	"books_author_trigrams": "author_short", "books_description_trigrams": "description_fold",
}

// createTrigramIndexes creates the trigram indexes after the migrations. Some servers lack the
// extension pg_trgm, and some roles cannot install it. Without it searches do not correct typos,
// and a filter by a part of a text reads every text.
func (s *Store) createTrigramIndexes(ctx context.Context) error {
	if !s.dialect.HasTrigrams {
		return nil
	}
	var installed bool
	err := s.writePool.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM pg_opclass WHERE opcname = 'gin_trgm_ops' AND pg_opclass_is_visible(oid))`).Scan(&installed)
	if err != nil {
		return err
	}
	if !installed {
		_, err := s.writePool.ExecContext(ctx, `CREATE EXTENSION IF NOT EXISTS pg_trgm`)
		if _, refused := errors.AsType[*pq.Error](err); refused && (fault.Of(err) == fault.Denied || fault.Of(err) == fault.Other) {
			s.options.Logger.WarnContext(ctx, "cannot install the extension pg_trgm", "error", err)
			return nil
		}
		if err != nil {
			return err
		}
	}
	var valid []string
	err = s.writePool.SelectContext(ctx, &valid, `SELECT relname FROM pg_index JOIN pg_class c ON c.oid = indexrelid WHERE indisvalid AND relnamespace = current_schema()::regnamespace`)
	if err != nil {
		return err
	}
	for name, column := range trigramIndexes {
		if slices.Contains(valid, name) {
			continue
		}
		table, _, _ := strings.Cut(name, "_")
		for _, statement := range []string{ // concurrently, because gateways may be writing
			`DROP INDEX CONCURRENTLY IF EXISTS ` + name, // an invalid one of an interrupted migration
			fmt.Sprintf(`CREATE INDEX CONCURRENTLY %s ON %s USING gin (%s gin_trgm_ops) WITH (gin_pending_list_limit = 1024)`, name, table, column),
		} {
			if _, err := s.writePool.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
	}
	return nil
}

// verify returns an error for each column and index that the schema lacks, so that a missing
// migration fails at start and not in a query. It logs a warning if trigram indexes are missing.
func (s *Store) verify(ctx context.Context) error {
	var names []string
	if err := sqlx.SelectContext(ctx, s.writePool.DB, &names, s.dialect.SchemaNames); err != nil {
		return err
	}
	for index := range trigramIndexes {
		if s.dialect.HasTrigrams && !slices.Contains(names, index) {
			s.options.Logger.WarnContext(ctx, "pg_trgm is missing: typo correction is off and substring filters are slow; run CREATE EXTENSION pg_trgm as an administrator, then catalogue db migrate up as the owner of the tables")
			break
		}
	}
	var missing []error
	for _, table := range []*query.Table{query.Books, query.Genres, query.Categories} {
		columns, indexes := table.Schema(s.dialect)
		for _, column := range columns {
			if !slices.Contains(names, column) {
				missing = append(missing, fmt.Errorf("the schema lacks the column %s", column))
			}
		}
		for _, index := range indexes {
			if !slices.Contains(names, index) {
				missing = append(missing, fmt.Errorf("the schema lacks the index %s", index))
			}
		}
	}
	for _, column := range s.dialect.LogColumns {
		if !slices.Contains(names, column) {
			missing = append(missing, fmt.Errorf("the schema lacks the column %s", column))
		}
	}
	return errors.Join(missing...)
}

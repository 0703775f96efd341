package db

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"library-catalogue/db/query"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
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
	release, err := s.lockMigrations(ctx)
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
			return errors.Join(translate(s.createTrigramIndexes(ctx)), s.verifyFields(ctx))
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
		return nil, translate(err)
	}
	var out []Migration
	for _, m := range status {
		out = append(out, Migration{Version: m.Source.Version, Name: m.Source.Path, Applied: m.AppliedAt})
	}
	return out, nil
}

func (s *Store) migrator() (*goose.Provider, error) {
	files, err := fs.Sub(migrations, "migrations/"+s.dialect.Name)
	if err != nil {
		return nil, err
	}
	engine := goose.DialectSQLite3
	if s.dialect.Postgres {
		engine = goose.DialectPostgres
	}
	return goose.NewProvider(engine, s.writer.DB.DB, files)
}

// schemaVersion returns the last step applied; a schema past this program's last
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

// lockMigrations keeps other processes from migrating until release is called, as far
// as the engine has a lock for that. It asks for goose's own lock again and again: a
// statement that waits for it inside the server would itself be waited for by CREATE
// INDEX CONCURRENTLY.
func (s *Store) lockMigrations(ctx context.Context) (release func(), err error) {
	if !s.dialect.Postgres {
		return func() {}, nil
	}
	const interval = 50 * time.Millisecond
	conn, err := s.writer.Conn(ctx)
	if err != nil {
		return nil, err
	}
	for {
		var ours bool
		err := conn.QueryRowContext(ctx, `SELECT pg_try_advisory_lock($1)`, int64(lock.DefaultLockID)).Scan(&ours)
		if err != nil {
			conn.Close()
			return nil, err
		}
		if ours {
			return func() {
				_, _ = conn.ExecContext(context.WithoutCancel(ctx), `SELECT pg_advisory_unlock($1)`, int64(lock.DefaultLockID))
				conn.Close()
			}, nil
		}
		select {
		case <-ctx.Done():
			conn.Close()
			return nil, ctx.Err()
		case <-time.After(interval):
		}
	}
}

// trigramIndexes find the words that are similar to a mistyped one, and the books that
// have a part of a text. A megabyte of entries waits in a list to be sorted in: less
// makes writes slower, and more makes each search slower, which reads the whole list.
var trigramIndexes = []string{
	`CREATE INDEX IF NOT EXISTS vocabulary_trigrams ON vocabulary USING gin (word gin_trgm_ops) WITH (gin_pending_list_limit = 1024)`,
	`CREATE INDEX IF NOT EXISTS books_name_trigrams ON books USING gin (name_fold gin_trgm_ops) WITH (gin_pending_list_limit = 1024)`,
	`CREATE INDEX IF NOT EXISTS books_author_trigrams ON books USING gin (author_short gin_trgm_ops) WITH (gin_pending_list_limit = 1024)`,
	`CREATE INDEX IF NOT EXISTS books_description_trigrams ON books USING gin (description_fold gin_trgm_ops) WITH (gin_pending_list_limit = 1024)`,
}

// createTrigramIndexes follows the migrations at each start. The indexes need the
// extension pg_trgm, which not every user may install and not every server has: without
// it, searches do not find mistyped words, and parts of texts are looked for in each.
func (s *Store) createTrigramIndexes(ctx context.Context) error {
	if !s.dialect.Postgres {
		return nil
	}
	var installed bool
	err := s.writer.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM pg_opclass WHERE opcname = 'gin_trgm_ops' AND pg_opclass_is_visible(oid))`).Scan(&installed)
	if err != nil {
		return err
	}
	if !installed {
		_, err := s.writer.ExecContext(ctx, `CREATE EXTENSION IF NOT EXISTS pg_trgm`)
		if _, refused := errors.AsType[*pq.Error](err); refused && classify(err) == otherFault {
			s.options.Logger.WarnContext(ctx, "searches do not find mistyped words, because the extension pg_trgm cannot be installed in this database: have an administrator run CREATE EXTENSION pg_trgm in it, then start again", "error", err)
			return nil
		}
		if err != nil {
			return err
		}
	}
	for _, statement := range trigramIndexes {
		if _, err := s.writer.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// Columns as table.column, again with NOT NULL where they are, and indexes by name.
const (
	postgresNamesSQL = `SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_schema = current_schema()
UNION ALL SELECT table_name || '.' || column_name || ' NOT NULL' FROM information_schema.columns WHERE table_schema = current_schema() AND is_nullable = 'NO'
UNION ALL SELECT indexname FROM pg_indexes WHERE schemaname = current_schema()`
	sqliteNamesSQL = `SELECT t.name || '.' || c.name FROM sqlite_schema t, pragma_table_xinfo(t.name) c WHERE t.type = 'table'
UNION ALL SELECT t.name || '.' || c.name || ' NOT NULL' FROM sqlite_schema t, pragma_table_xinfo(t.name) c WHERE t.type = 'table' AND c."notnull"
UNION ALL SELECT name FROM sqlite_schema WHERE type = 'index'`
)

// verifyFields reports which columns and indexes of the described fields the schema
// lacks, so that a step that was forgotten shows when the store is opened and not in
// a query.
func (s *Store) verifyFields(ctx context.Context) error {
	text := sqliteNamesSQL
	if s.dialect.Postgres {
		text = postgresNamesSQL
	}
	var names []string
	if err := sqlx.SelectContext(ctx, s.writer.DB, &names, text); err != nil {
		return translate(err)
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
	return errors.Join(missing...)
}

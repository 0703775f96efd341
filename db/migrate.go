package db

import (
	"context"
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
	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

//go:embed migrations
var migrations embed.FS

// MigrationTexts returns the SQL of all steps of an engine's schema, in order.
func MigrationTexts(d *dialect.Dialect) (texts []string, err error) {
	folder := "migrations/" + d.Name
	files, err := migrations.ReadDir(folder)
	for _, file := range files {
		var text []byte
		if text, err = migrations.ReadFile(folder + "/" + file.Name()); err != nil {
			return nil, err
		}
		texts = append(texts, string(text))
	}
	return texts, err
}

// Migration is one step of the schema.
type Migration struct {
	Version int64
	Name    string    // its file
	Applied time.Time // zero where it is still to come
}

// Start connects to the database and lets statements run once its schema is this
// program's: it migrates one that is behind, and changes nothing of one that is not, so
// that it needs no more than the rows' privileges, and a standby will do.
func (s *Store) Start(ctx context.Context) error {
	if err := s.connect(ctx); err != nil {
		return err
	}
	if err := s.bringUp(ctx); err != nil {
		return err
	}
	var sizes model.Sizes
	if err := s.reader.DB.GetContext(ctx, &sizes, sizesSQL); err != nil {
		return err
	}
	s.sizes.Store(&sizes) // before requests come, whose price follows from them
	s.started.Store(true)
	return nil
}

func (s *Store) bringUp(ctx context.Context) error {
	step, err := s.schemaStep(ctx)
	if classify(err) == deniedFault {
		return fmt.Errorf("the database role cannot read the catalogue: grant it the privileges of a serving role (docs/postgres.md): %w", err)
	}
	if err != nil {
		return err
	}
	target, err := s.target()
	if err != nil {
		return err
	}
	if step == target {
		return s.verify(ctx)
	}
	var may bool
	if err := s.writer.DB.GetContext(ctx, &may, s.dialect.MayMigrate); err != nil {
		return err
	}
	if !may {
		return fmt.Errorf("the schema is at step %d, this program needs %d, and its role may not change it, or not on this server: run catalogue db migrate up as the owner of the tables, on the primary", step, target)
	}
	return s.Migrate(ctx)
}

// schemaStep returns the last step that was made of the schema, 0 before the first.
func (s *Store) schemaStep(ctx context.Context) (step int64, err error) {
	var migrated bool
	if err := s.writer.DB.GetContext(ctx, &migrated, s.dialect.TableExists("goose_db_version")); err != nil || !migrated {
		return 0, err
	}
	return step, s.writer.DB.GetContext(ctx, &step, schemaSQL)
}

// migrationTimeout bounds Migrate: a step may write every row anew, which takes minutes
// for 1,000,000 books, and without a deadline each of its statements would have the
// 30 s of package postgres.
const migrationTimeout = time.Hour

// Migrate brings the schema up to this program's. Of processes that start
// together one migrates after another. A schema that a newer program made is refused.
func (s *Store) Migrate(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, migrationTimeout)
	defer cancel()
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
			if err := s.createTrigramIndexes(ctx); err != nil {
				return err
			}
			return s.verify(ctx)
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
	return goose.NewProvider(goose.Dialect(s.dialect.Goose), s.writer.DB.DB, files)
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
	if !s.dialect.HasAdvisoryLocks {
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
// have a part of a text: their columns, by the names of the indexes. A megabyte of entries
// waits in a list to be sorted in: less makes writes slower, and more makes each search
// slower, which reads the whole list.
var trigramIndexes = map[string]string{
	"vocabulary_trigrams": "word", "books_name_trigrams": "name_fold",
	"books_author_trigrams": "author_short", "books_description_trigrams": "description_fold",
}

// createTrigramIndexes follows the migrations. The indexes need the extension pg_trgm,
// which not every user may install and not every server has: without it, searches do
// not find mistyped words, and parts of texts are looked for in each.
func (s *Store) createTrigramIndexes(ctx context.Context) error {
	if !s.dialect.HasTrigrams {
		return nil
	}
	var installed bool
	err := s.writer.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM pg_opclass WHERE opcname = 'gin_trgm_ops' AND pg_opclass_is_visible(oid))`).Scan(&installed)
	if err != nil {
		return err
	}
	if !installed {
		_, err := s.writer.ExecContext(ctx, `CREATE EXTENSION IF NOT EXISTS pg_trgm`)
		if _, refused := errors.AsType[*pq.Error](err); refused && (classify(err) == deniedFault || classify(err) == otherFault) {
			s.options.Logger.WarnContext(ctx, "the extension pg_trgm cannot be installed in this database", "error", err)
			return nil
		}
		if err != nil {
			return err
		}
	}
	for name, column := range trigramIndexes {
		table, _, _ := strings.Cut(name, "_")
		statement := fmt.Sprintf(`CREATE INDEX IF NOT EXISTS %s ON %s USING gin (%s gin_trgm_ops) WITH (gin_pending_list_limit = 1024)`, name, table, column)
		if _, err := s.writer.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// verify reports which columns and indexes of the described fields the schema lacks, so
// that a step that was forgotten shows when the store is opened and not in a query. It
// warns of trigram indexes that are missing.
func (s *Store) verify(ctx context.Context) error {
	var names []string
	if err := sqlx.SelectContext(ctx, s.writer.DB, &names, s.dialect.SchemaNames); err != nil {
		return err
	}
	for index := range trigramIndexes {
		if s.dialect.HasTrigrams && !slices.Contains(names, index) {
			s.options.Logger.WarnContext(ctx, "searches do not find mistyped words, and parts of texts are found slowly: have an administrator run CREATE EXTENSION pg_trgm in the database, and then run catalogue db migrate up as the owner of the tables")
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
	return errors.Join(missing...)
}

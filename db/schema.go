package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

// schema is the version of a database's schema, as its migrations recorded it.
type schema struct {
	version int64 // of the last migration applied, or 0
	lowest  int64 // version that a program must know to serve on it
}

// schemaSQL returns the version of the last migration applied. Goose deletes the rows of reverted
// migrations.
const schemaSQL = `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`

// lowestSQL returns the lowest program of a version. A migration without a row in schema_versions
// allows no older program.
const lowestSQL = `SELECT CASE WHEN max(version) >= %[1]d THEN max(lowest_program) ELSE %[1]d END FROM schema_versions`

// readSchema reads the schema of a migrated database. It reads the lowest program only of a schema
// that is newer than this program, because older schemas have no table for it.
func (s *Store) readSchema(ctx context.Context, on *sql.DB) (found schema, err error) {
	err = on.QueryRowContext(ctx, schemaSQL).Scan(&found.version)
	found.lowest = found.version
	if target, failed := s.target(); err == nil && failed == nil && found.version > target {
		err = on.QueryRowContext(ctx, fmt.Sprintf(lowestSQL, found.version)).Scan(&found.lowest)
	}
	return found, err
}

// schemaVersion returns the version of the last migration applied, or 0 for an empty database.
func (s *Store) schemaVersion(ctx context.Context) (version int64, err error) {
	var migrated bool
	if err := s.writePool.DB.GetContext(ctx, &migrated, s.dialect.TableExists("goose_db_version")); err != nil || !migrated {
		return 0, err
	}
	return version, s.writePool.DB.GetContext(ctx, &version, schemaSQL)
}

// target returns the version of the last migration of this program. Migrations are numbered from 1
// without gaps.
func (s *Store) target() (int64, error) {
	files, err := fs.ReadDir(s.options.migrations, s.dialect.Name)
	return int64(len(files)), err
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
	if err := s.checkOrigin(ctx, found.version); err != nil {
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

// checkOrigin returns an error for a schema of the migrations before 0.1.0, whose numbers were used
// again. None of them created the table schema_versions.
func (s *Store) checkOrigin(ctx context.Context, version int64) error {
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

func (s *Store) bringUp(ctx context.Context) error {
	found, target, err := s.currentSchema(ctx)
	if classify(err) == deniedFault {
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
	return errors.Join(missing...)
}

func (s *Store) checkSchema(found schema) model.Check {
	target, err := s.target()
	check := model.Check{Name: "schema", Status: model.Pass, Err: err}
	switch {
	case err != nil:
		check.Status, check.Output = model.Fail, "The migrations cannot be read."
	case found.version < target:
		check.Status, check.Output = model.Fail, fmt.Sprintf("The schema has version %d; this program needs %d. Run catalogue db migrate up.", found.version, target)
	case found.lowest > target:
		check.Status, check.Output = model.Fail, fmt.Sprintf("The schema has version %d, on which this program may not serve: it knows %d, and at least %d is needed. Upgrade the program.", found.version, target, found.lowest)
	case found.version > target:
		check.Status, check.Output = model.Warn, fmt.Sprintf("The schema has version %d of a newer program; this program knows %d and may serve. Upgrade it soon.", found.version, target)
	}
	return check
}

package schema

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db/dialect"
	"library-catalogue/graph/model"
)

// Version is the version of a database's schema, as its migrations recorded it.
type Version struct {
	Number        int64 // number of the last migration applied, or 0
	LowestProgram int64 // version that a program must know to serve on it
}

// VersionSQL returns the version of the last migration applied. Goose deletes the rows of reverted
// migrations.
const VersionSQL = `SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied`

// lowestSQL returns the lowest program of a version. A migration without a row in schema_versions
// allows no older program.
const lowestSQL = `SELECT CASE WHEN max(version) >= %[1]d THEN max(lowest_program) ELSE %[1]d END FROM schema_versions`

// Read reads the schema of a migrated database. It reads the lowest program only of a schema
// that is newer than this program, because older schemas have no table for it.
func (s *Schema) Read(ctx context.Context, on *sql.DB) (found Version, err error) {
	err = on.QueryRowContext(ctx, VersionSQL).Scan(&found.Number)
	found.LowestProgram = found.Number
	if target, failed := s.Target(); err == nil && failed == nil && found.Number > target {
		err = on.QueryRowContext(ctx, fmt.Sprintf(lowestSQL, found.Number)).Scan(&found.LowestProgram)
	}
	return found, err
}

// Target returns the version of the last migration of this program. Migrations are numbered from 1
// without gaps.
func (s *Schema) Target() (int64, error) {
	files, err := fs.ReadDir(s.Files, s.Dialect.Name)
	return int64(len(files)), err
}

// applied returns the version of the last migration applied, or 0 for an empty database.
func (s *Schema) applied(ctx context.Context) (version int64, err error) {
	var migrated bool
	if err := s.DB.GetContext(ctx, &migrated, s.Dialect.TableExists("goose_db_version")); err != nil || !migrated {
		return 0, err
	}
	return version, s.DB.GetContext(ctx, &version, VersionSQL)
}

// current returns the schema of the database and the version of this program. It refuses a
// schema of other migrations. It logs a warning for a newer schema on which this program may serve,
// and refuses one on which it may not.
func (s *Schema) current(ctx context.Context) (found Version, target int64, err error) {
	if target, err = s.Target(); err != nil {
		return found, 0, err
	}
	if found.Number, err = s.applied(ctx); err != nil || found.Number == 0 {
		return found, target, err
	}
	if err := CheckOrigin(ctx, s.DB, s.Dialect, found.Number); err != nil {
		return found, target, err
	}
	if found, err = s.Read(ctx, s.DB.DB); err != nil || found.Number <= target {
		return found, target, err
	}
	if target < found.LowestProgram {
		return found, target, fmt.Errorf("the database was migrated by a newer version of catalogue (schema %d, this "+
			"program knows %d, and at least %d is needed): "+
			"use that version, or export the catalogue with it and import the export into a new database", found.Number,
			target, found.LowestProgram)
	}
	s.Logger.WarnContext(ctx,
		"the schema is of a newer program, on which this one may serve: upgrade this program soon", "schema",
		found.Number, "known", target)
	return found, target, nil
}

// upgradesVersion is the migration that created the table schema_versions.
const upgradesVersion = 4

// CheckOrigin returns an error for a schema of the migrations before 0.1.0. Their numbers were used again, and none of
// them created the table schema_versions.
func CheckOrigin(ctx context.Context, on *sqlx.DB, d *dialect.Dialect, version int64) error {
	if version < upgradesVersion {
		return nil
	}
	var ours bool
	if err := on.GetContext(ctx, &ours, d.TableExists("schema_versions")); err != nil || ours {
		return err
	}
	return fmt.Errorf("the database is of a program before 0.1.0, whose schema %d cannot be upgraded: "+
		"export the catalogue with that program, and import the export into a new database with this one "+
		"(docs/upgrade.md)", version)
}

// Check reports whether this program may serve on a schema.
func (s *Schema) Check(found Version) model.Check {
	target, err := s.Target()
	check := model.Check{Name: "schema", Status: model.Pass, Err: err}
	switch {
	case err != nil:
		check.Status, check.Output = model.Fail, "The migrations cannot be read."
	case found.Number < target:
		check.Status, check.Output = model.Fail,
			fmt.Sprintf("The schema has version %d; this program needs %d. Run catalogue db migrate up.", found.Number,
				target)
	case found.LowestProgram > target:
		check.Status, check.Output = model.Fail, fmt.Sprintf("The schema has version %d, on which this program may "+
			"not serve: it knows %d, and at least %d is needed. Upgrade the program.", found.Number, target,
			found.LowestProgram)
	case found.Number > target:
		check.Status, check.Output = model.Warn, fmt.Sprintf("The schema has version %d of a newer program; this "+
			"program knows %d and may serve. Upgrade it soon.", found.Number, target)
	}
	return check
}

package schema

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db/dialect"
)

// pass changes the rows of a table with ids after one and up to another, in a transaction. It takes the locks of
// rows in order of id.
type pass func(ctx context.Context, d *dialect.Dialect, tx *sqlx.Tx, table string, after, last int64) error

// passes follow migrations, by version. The migration inserts a row into the table passes for each table to change.
// A batch moves its position in the same transaction, so an interrupted pass continues.
var passes = map[int64]pass{passesVersion: derive, 9: Normalize, 15: derive}

// passesVersion is the migration that created the table passes.
const passesVersion = 8

// batchRows is the number of rows that a pass reads in a transaction. Writers of the same rows wait for its end.
const batchRows = 1000

const passesSQL = ` FROM passes WHERE version <= %d`

// hasPasses reports whether a pass that this program knows is not complete.
func (s *Schema) hasPasses(ctx context.Context, target int64) (has bool, err error) {
	if target < passesVersion {
		return false, nil
	}
	return has, s.DB.GetContext(ctx, &has, `SELECT EXISTS (SELECT 1`+fmt.Sprintf(passesSQL, target)+`)`)
}

// runPasses completes all passes up to a version.
func (s *Schema) runPasses(ctx context.Context, target int64) error {
	for {
		if has, err := s.hasPasses(ctx, target); err != nil || !has {
			return err
		}
		if err := s.runBatch(ctx, target); err != nil {
			return err
		}
	}
}

// locked returns the end of a SELECT that locks the rows r against changes.
func locked(d *dialect.Dialect) string {
	if d.ForUpdate == "" {
		return ""
	}
	return ` FOR NO KEY UPDATE OF r`
}

// runBatch runs the next batch of the first pass, or deletes a complete pass.
func (s *Schema) runBatch(ctx context.Context, target int64) error {
	tx, err := s.DB.BeginTxx(ctx, s.Dialect.Committed)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if limit := s.Dialect.LockTimeout(2 * time.Second); limit != "" {
		if _, err := tx.ExecContext(ctx, `SELECT `+limit); err != nil {
			return err
		}
	}
	var next struct {
		Version, Position int64
		Name              string
	}
	err = tx.GetContext(ctx, &next,
		`SELECT version, name, position`+fmt.Sprintf(passesSQL, target)+` ORDER BY version, name LIMIT 1`)
	if errors.Is(err, sql.ErrNoRows) { // another process has completed it
		return nil
	}
	if err != nil {
		return err
	}
	var last sql.NullInt64
	err = tx.GetContext(ctx, &last,
		fmt.Sprintf(`SELECT max(id) FROM (SELECT id FROM %s WHERE id > %d ORDER BY id LIMIT %d) r`, next.Name,
			next.Position, batchRows))
	if err != nil {
		return err
	}
	moved := fmt.Sprintf(`UPDATE passes SET position = %d`, last.Int64)
	if last.Valid {
		if err := passes[next.Version](ctx, s.Dialect, tx, next.Name, next.Position, last.Int64); err != nil {
			return fmt.Errorf("change the rows of %s to schema %d: %w", next.Name, next.Version, err)
		}
	} else {
		moved = `DELETE FROM passes`
	}
	if _, err := tx.ExecContext(ctx,
		moved+fmt.Sprintf(` WHERE version = %d AND name = '%s'`, next.Version, next.Name)); err != nil {
		return err
	}
	return tx.Commit()
}

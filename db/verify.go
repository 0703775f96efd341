package db

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db/query"
)

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

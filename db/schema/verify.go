package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jmoiron/sqlx"
	"github.com/lib/pq"

	"library-catalogue/db/fault"
	"library-catalogue/db/query"
)

// verify returns an error for each column and index that the schema lacks, and for each trigger that does not follow
// from the fields if the schema is the program's own. So a missing migration fails at start and not in a query. It logs
// a warning if trigram indexes are missing.
func (s *Schema) verify(ctx context.Context, own bool) error {
	var names []string
	if err := sqlx.SelectContext(ctx, s.DB, &names, s.Dialect.SchemaNames); err != nil {
		return err
	}
	for index := range trigramIndexes {
		if s.Dialect.HasTrigrams && !slices.Contains(names, index) {
			s.Logger.WarnContext(ctx, "pg_trgm is missing: typo correction is off and substring filters are slow; run "+
				"CREATE EXTENSION pg_trgm as an administrator, then catalogue db migrate up as the owner of the "+
				"tables")
			break
		}
	}
	var missing []error
	for _, table := range []*query.Table{query.Books, query.Genres, query.Categories} {
		columns, indexes := table.Schema(s.Dialect)
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
	if own && len(missing) == 0 {
		for i, name := range names {
			names[i] = strings.Join(strings.Fields(name), " ")
		}
		for _, t := range triggers(s.Dialect) {
			if !slices.Contains(names, strings.Join(strings.Fields(t.text), " ")) {
				missing = append(missing,
					fmt.Errorf("the trigger %s does not match the fields: run catalogue db doctor --fix", t.name))
			}
		}
	}
	return errors.Join(missing...)
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
func (s *Schema) createTrigramIndexes(ctx context.Context) error {
	if !s.Dialect.HasTrigrams {
		return nil
	}
	var installed bool
	err := s.DB.QueryRowContext(ctx,
		`SELECT EXISTS (SELECT FROM pg_opclass WHERE opcname = 'gin_trgm_ops' AND pg_opclass_is_visible(oid))`).Scan(
		&installed)
	if err != nil {
		return err
	}
	if !installed {
		_, err := s.DB.ExecContext(ctx, `CREATE EXTENSION IF NOT EXISTS pg_trgm`)
		if _, refused := errors.AsType[*pq.Error](err); refused &&
			(fault.Of(err) == fault.Denied || fault.Of(err) == fault.Other) {
			s.Logger.WarnContext(ctx, "cannot install the extension pg_trgm", "error", err)
			return nil
		}
		if err != nil {
			return err
		}
	}
	var valid []string
	err = s.DB.SelectContext(ctx, &valid,
		`SELECT relname FROM pg_index JOIN pg_class c ON c.oid = indexrelid
WHERE indisvalid AND relnamespace = current_schema()::regnamespace`)
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
			fmt.Sprintf(
				`CREATE INDEX CONCURRENTLY %s ON %s USING gin (%s gin_trgm_ops) WITH (gin_pending_list_limit = 1024)`,
				name, table, column),
		} {
			if _, err := s.DB.ExecContext(ctx, statement); err != nil {
				return err
			}
		}
	}
	return nil
}

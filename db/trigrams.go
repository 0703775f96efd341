package db

import (
	"context"
	"errors"

	"github.com/lib/pq"
)

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

package changes

import (
	"context"
	"strconv"
	"strings"

	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

// Mark is a position in the log, with what later changes are known by. Its Tick has a random number, so a state of the
// database that has the tick goes back to the same state, also after a restored backup or the promotion of a standby.
type Mark struct {
	Tick int64
	Next string // PostgreSQL: the first transaction that the tick did not see any part of
	Open string // PostgreSQL: the Array of those that ran
}

// MarkSQL returns the SELECT of the columns of the newest mark. If makes is true, it makes a tick before where
// ticks give times.
func (l *Log) MarkSQL(ctx context.Context, makes bool) (text string, err error) {
	if makes && l.SQL.Commit == "" {
		err = l.Tick(ctx)
	}
	return l.SQL.mark, err
}

// maxSince is the maximum number of changes after a mark. With more SinceSQL does not know them.
const maxSince = 10_000

// Known is the least number in the row by which SinceSQL says that the log goes back to the mark. The number of changes
// since then is added to it.
const Known = 2

// SinceSQL returns the SELECT of the books that changed after a mark and are, or were, in a selection. Its columns
// are a revision, a number, and columns of the book r. The number is -1 for a book as it was at the mark, and 1 for
// one as it is. One row has the number 0 and the catalogue's revision, which revision selects, and one may have Known
// or more.
func (l *Log) SinceSQL(b *query.Builder, mark Mark, where *model.Condition, revision string, columns []string) string {
	book, limit := types[model.TypeBook], b.Arg(maxSince+1)
	known, after, current := l.sinceSQL(b, mark)
	filter := func() string {
		if where == nil {
			return ""
		}
		return " WHERE " + b.Filter(where, book.table, "r")
	}
	selected, none := strings.Join(append([]string{""}, columns...), ", "), strings.Repeat(", NULL", len(columns))
	return `WITH since AS MATERIALIZED (SELECT c.row_id, c.seq, c.operation, c.old FROM changes c WHERE ` + after +
		` AND c.type = '` + book.code + `' LIMIT ` + limit + `),
firsts AS MATERIALIZED (SELECT n.* FROM (SELECT s.*, row_number() OVER (PARTITION BY row_id ORDER BY seq) AS place
FROM since s) n WHERE n.place = 1)
SELECT CAST(NULL AS bigint), CAST(NULL AS bigint), -1` + selected + ` FROM (SELECT ` +
		b.Image(book.table, "f.row_id", "f.old") + ` FROM firsts f WHERE f.operation <> 'c') r` + filter() + `
UNION ALL SELECT NULL, NULL, 1` + selected + ` FROM ` + current + filter() + `
UNION ALL SELECT n.catalogue, n.reference, 0` + none + ` FROM (` + revision + `) n
UNION ALL SELECT NULL, NULL, ` + strconv.Itoa(Known) + ` + (SELECT count(*) FROM since)` + none + ` WHERE ` + known +
		` AND (SELECT count(*) FROM since) < ` + limit + `
  AND NOT EXISTS (SELECT 1 FROM firsts WHERE operation = 'r' OR operation <> 'c' AND old IS NULL)`
}

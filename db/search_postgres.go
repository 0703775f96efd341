package db

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"

	"github.com/lib/pq"
)

// trigramIndexes find the words that are like a mistyped one, and the parts of
// texts that filters ask for. A megabyte of rows waits for its places: fewer make
// writes slower, and more make searches so, each of which looks at all that wait.
var trigramIndexes = []string{
	`CREATE INDEX IF NOT EXISTS books_name_trigrams ON books USING gin (name_fold gin_trgm_ops) WITH (gin_pending_list_limit = 1024)`,
	`CREATE INDEX IF NOT EXISTS books_author_trigrams ON books USING gin (author_fold gin_trgm_ops) WITH (gin_pending_list_limit = 1024)`,
	`CREATE INDEX IF NOT EXISTS books_description_trigrams ON books USING gin (description_fold gin_trgm_ops) WITH (gin_pending_list_limit = 1024)`,
	`CREATE INDEX IF NOT EXISTS vocabulary_trigrams ON vocabulary USING gin (word gin_trgm_ops) WITH (gin_pending_list_limit = 1024)`,
}

// finish makes the indexes of trigrams. They need the extension pg_trgm, which
// not every user may install and not every server has: without it, everything
// works but the correction of mistyped words.
func (d postgres) finish(ctx context.Context, p *pool) error {
	var installed bool
	err := p.QueryRowContext(ctx, `SELECT EXISTS (SELECT FROM pg_opclass WHERE opcname = 'gin_trgm_ops' AND pg_opclass_is_visible(oid))`).Scan(&installed)
	if err != nil {
		return err
	}
	statements := trigramIndexes
	if !installed {
		statements = append([]string{`CREATE EXTENSION IF NOT EXISTS pg_trgm`}, statements...)
	}
	for _, statement := range statements {
		_, err := p.ExecContext(ctx, statement)
		if _, refused := errors.AsType[*pq.Error](err); refused && d.classify(err) == unknown && !installed {
			slog.WarnContext(ctx, "searches do not find mistyped words, because the extension pg_trgm cannot be installed in this database: have an administrator run CREATE EXTENSION pg_trgm in it, then start again", "error", err)
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// matches writes the SELECT of the ids that a search finds.
func (d postgres) matches(w *statement, q *search) string {
	levels := q.levels()
	return `SELECT m.id FROM ` + q.table + `_search m WHERE m.words @@ ` + w.arg(d.query(q, levels[len(levels)-1])) + `::tsquery`
}

// ranked writes the SELECT of the ids that a search finds, with their ranks. The
// rows that match at the last level alone may be many, and are told apart first.
func (d postgres) ranked(w *statement, q *search) string {
	at := func(l level) string { return `m.words @@ ` + w.arg(d.query(q, l)) + `::tsquery` }
	begins := func(column, then string) string {
		return `starts_with(m.` + column + `, ` + w.arg(q.beginning(then)) + `)`
	}
	levels, columns := q.levels(), searched[q.table]
	last := len(levels) - 1
	rank := `CASE WHEN NOT ` + at(levels[last-1]) + ` THEN ` + strconv.Itoa(firstLevel+last) +
		` WHEN m.name = ` + w.arg(q.beginning("")) + ` THEN 1 WHEN ` + begins("name", ":") + ` OR ` + begins("name", " (") + ` THEN 2`
	for _, column := range columns[:len(columns)-1] {
		rank += ` WHEN ` + begins(column, "") + ` THEN 3`
	}
	for i, level := range levels[:last-1] {
		rank += ` WHEN ` + at(level) + ` THEN ` + strconv.Itoa(firstLevel+i)
	}
	return `SELECT m.id, ` + rank + ` ELSE ` + strconv.Itoa(firstLevel+last-1) + ` END AS rank FROM ` + q.table + `_search m WHERE ` + at(levels[last])
}

// any makes a statement that counts one row of a SELECT, or none. PostgreSQL
// would look for a single row by reading the table.
func (postgres) any(rows string) string {
	return `WITH m AS MATERIALIZED (` + rows + `) SELECT count(*) FROM (SELECT FROM m LIMIT 1) m`
}

// query writes a tsquery: the words of an index entry have the first letter of
// their column before them.
func (d postgres) query(q *search, l level) string {
	columns := searched[q.table][:l.columns]
	anywhere := func(word, end string) string {
		places := make([]string, len(columns))
		for i, column := range columns {
			places[i] = "'" + column[:1] + word + "'" + end
		}
		return "(" + strings.Join(places, "|") + ")"
	}
	terms := make([]string, len(q.terms))
	for i, t := range q.terms {
		end := ""
		if l.begin {
			end = ":*"
		}
		alternatives := []string{anywhere(t.word, end)}
		for _, words := range t.others {
			all := make([]string, len(words))
			for j, word := range words {
				all[j] = anywhere(word, "")
			}
			alternatives = append(alternatives, "("+strings.Join(all, "&")+")")
		}
		terms[i] = "(" + strings.Join(alternatives, "|") + ")"
	}
	return strings.Join(terms, "&")
}

// vocabulary writes the SELECT of the words of a length that fit a pattern.
// Without the index there are none: see trigrams.
func (postgres) vocabulary(w *statement, _ string, shortest, longest int, patterns []string) string {
	return `SELECT DISTINCT word FROM vocabulary WHERE to_regclass('vocabulary_trigrams') IS NOT NULL
AND char_length(word) BETWEEN ` + strconv.Itoa(shortest) + ` AND ` + strconv.Itoa(longest) + ` AND word LIKE ANY (` + w.arg(pq.StringArray(patterns)) + `)`
}

// living writes the SELECT of those of the words that a table has.
func (postgres) living(w *statement, table string, words []string) string {
	places := make([]string, len(searched[table]))
	for i, column := range searched[table] {
		places[i] = `'''` + column[:1] + `' || word || ''''`
	}
	return `SELECT word FROM unnest(` + w.arg(pq.StringArray(words)) + `::text[]) AS word WHERE EXISTS (SELECT FROM ` + table + `_search m
WHERE m.words @@ (` + strings.Join(places, ` || '|' || `) + `)::tsquery)`
}

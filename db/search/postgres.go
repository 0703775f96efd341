package search

import (
	"strconv"
	"strings"

	"github.com/lib/pq"

	"library-catalogue/db/query"
)

type postgres struct{}

// matches returns the SELECT of the ids that a search finds.
func (d postgres) matches(b *query.Builder, s *Search) string {
	levels := s.levels()
	return `SELECT m.id FROM ` + s.table.Name + `_search m WHERE m.words @@ ` + b.Arg(d.tsquery(s, levels[len(levels)-1])) + `::tsquery`
}

// ranked returns the SELECT of the ids that a search finds, with their ranks. The
// rows that match at the last level alone may be many, and are told apart first.
func (d postgres) ranked(b *query.Builder, s *Search) string {
	at := func(l level) string { return `m.words @@ ` + b.Arg(d.tsquery(s, l)) + `::tsquery` }
	begins := func(column, then string) string {
		return `starts_with(m.` + column + `, ` + b.Arg(s.beginning(then)) + `)`
	}
	levels, columns := s.levels(), s.columns()
	last := len(levels) - 1
	rank := `CASE WHEN NOT ` + at(levels[last-1]) + ` THEN ` + strconv.Itoa(firstLevel+last) +
		` WHEN m.name = ` + b.Arg(s.beginning("")) + ` THEN 1 WHEN ` + begins("name", ":") + ` OR ` + begins("name", " (") + ` THEN 2`
	for _, column := range columns[:len(columns)-1] {
		rank += ` WHEN ` + begins(column, "") + ` THEN 3`
	}
	for i, level := range levels[:last-1] {
		rank += ` WHEN ` + at(level) + ` THEN ` + strconv.Itoa(firstLevel+i)
	}
	return `SELECT m.id, ` + rank + ` ELSE ` + strconv.Itoa(firstLevel+last-1) + ` END AS rank FROM ` + s.table.Name + `_search m WHERE ` + at(levels[last])
}

// countUpTo materialises the rows, since PostgreSQL would look for a few by reading
// the table.
func (postgres) countUpTo(rows string, max int) string {
	return `WITH m AS MATERIALIZED (` + rows + `) SELECT count(*) FROM (SELECT FROM m LIMIT ` + strconv.Itoa(max) + `) m`
}

// tsquery returns a tsquery: the words of an index entry have the first letter of
// their column before them.
func (d postgres) tsquery(s *Search, l level) string {
	columns := s.columns()[:l.columns]
	anywhere := func(word, end string) string {
		places := make([]string, len(columns))
		for i, column := range columns {
			places[i] = "'" + column[:1] + word + "'" + end
		}
		return "(" + strings.Join(places, "|") + ")"
	}
	terms := make([]string, len(s.terms))
	for i, t := range s.terms {
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

// vocabulary returns the SELECT of the words of a length that fit a pattern.
// Without the index there are none: the extension pg_trgm may not be installed.
func (postgres) vocabulary(b *query.Builder, _ string, shortest, longest int, patterns []string) string {
	return `SELECT DISTINCT word FROM vocabulary WHERE to_regclass('vocabulary_trigrams') IS NOT NULL
AND char_length(word) BETWEEN ` + strconv.Itoa(shortest) + ` AND ` + strconv.Itoa(longest) + ` AND word LIKE ANY (` + b.Arg(pq.StringArray(patterns)) + `)`
}

// existing returns the SELECT of those of the words that a table has.
func (postgres) existing(b *query.Builder, table string, words []string) string {
	places := make([]string, len(searched[table]))
	for i, column := range searched[table] {
		places[i] = `'''` + column[:1] + `' || word || ''''`
	}
	return `SELECT word FROM unnest(` + b.Arg(pq.StringArray(words)) + `::text[]) AS word WHERE EXISTS (SELECT FROM ` + table + `_search m
WHERE m.words @@ (` + strings.Join(places, ` || '|' || `) + `)::tsquery)`
}

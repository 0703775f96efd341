package search

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/lib/pq"

	"library-catalogue/db/query"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

type postgres struct{}

func (d postgres) found(b *query.Builder, s *Search) string {
	ranks := d.ranks(b, s)
	return s.table.Name + `_search m WHERE ` + ranks[len(ranks)-1]()
}

func (d postgres) ranks(b *query.Builder, s *Search) []func() string {
	condition := func(format, text string) func() string {
		return sync.OnceValue(func() string { return fmt.Sprintf(format, b.Arg(text)) })
	}
	ranks := []func() string{
		condition(`m.name = %s`, s.text()),
		condition(`starts_with(m.name, %s)`, s.text()+" "),
		condition(`starts_with(m.name, %s)`, s.text()),
	}
	for _, level := range s.levels() {
		ranks = append(ranks, condition(`m.words @@ %s::tsquery`, d.tsquery(s, level)))
	}
	return ranks
}

func (postgres) countNames(*query.Builder, *Search, int) string { return "" }

// join requires a filter for which PostgreSQL has good row estimates.
func (postgres) join(s *Search, where *model.Condition) (string, bool) {
	return ` JOIN `, s.table.IsNumeric(where)
}

// upTo uses a literal limit, so that PostgreSQL can plan for it and starts no workers.
func (postgres) upTo(rows, enough string, before []string) string {
	return `SELECT id FROM (` + rows + ` LIMIT ` + enough + `) t WHERE ` + strings.Join(before, " + ") + ` < ` + enough
}

// countUpTo materializes the rows; otherwise PostgreSQL would scan the table to find a few.
func (postgres) countUpTo(rows string, max int) string {
	return `WITH m AS MATERIALIZED (` + rows + `) SELECT count(*) FROM (SELECT FROM m LIMIT ` +
		strconv.Itoa(max) + `) m`
}

// tsquery returns a tsquery. A word in the index starts with the first letter of its column, as a
// capital for initials.
func (postgres) tsquery(s *Search, l level) string {
	terms := make([]string, len(s.terms))
	for i, t := range s.terms {
		var places []string
		for _, column := range searched[s.table.Name][:l.columns] {
			for _, word := range t.words {
				begin := ""
				if l.begin {
					begin = ":*"
				}
				places = append(places, "'"+column[:1]+word+"'"+begin)
				if initials(word) {
					places = append(places, "'"+strings.ToUpper(column[:1])+word+"':*")
				}
			}
		}
		terms[i] = "(" + strings.Join(places, "|") + ")"
	}
	return strings.Join(terms, "&")
}

// vocabulary returns the SELECT of words of a length that match a pattern. It returns none without
// the index of the extension pg_trgm.
func (postgres) vocabulary(b *query.Builder, _ string, shortest, longest int, patterns []string) string {
	return `SELECT DISTINCT word FROM vocabulary WHERE to_regclass('vocabulary_trigrams') IS NOT NULL
AND char_length(word) BETWEEN ` + strconv.Itoa(shortest) + ` AND ` + strconv.Itoa(longest) + ` AND word LIKE ANY (` +
		b.Arg(pq.StringArray(patterns)) + `)`
}

func (postgres) existing(b *query.Builder, table string, words []string) string {
	places := make([]string, len(searched[table]))
	for i, column := range searched[table] {
		places[i] = `'''` + column[:1] + `' || word || ''''`
	}
	return `SELECT word FROM unnest(` + b.Arg(pq.StringArray(words)) + `::text[]) AS word WHERE EXISTS (SELECT FROM ` +
		table + `_search m
WHERE m.words @@ (` + strings.Join(places, ` || '|' || `) + `)::tsquery)`
}

// ofRank excludes only the two ranks before. A row that fulfils this rank and a better one also
// fulfils one of these two.
func (postgres) ofRank(
	b *query.Builder, s *Search, ranks []func() string, rank int,
) (from string, conditions []string) {
	conditions = []string{ranks[rank-1]()}
	switch rank { // conditions that the index of names serves
	case 1:
		conditions = append(conditions, b.Dialect.SortKey("m.name")+` = `+b.Arg(collate.SortKey(s.text())))
	case 2:
		conditions = append(conditions, b.StartsWith("m.name", s.text()+" "))
	case wholeLevel:
		conditions = append(conditions, b.StartsWith("m.name", s.text()))
	}
	for _, better := range ranks[max(0, rank-3) : rank-1] {
		conditions = append(conditions, `NOT `+better())
	}
	return s.table.Name + `_search m`, conditions
}

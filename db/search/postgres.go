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

// join has all rows ranked where PostgreSQL does not know well how many a filter leaves.
func (postgres) join(s *Search, where *model.Condition) (string, bool) {
	return ` JOIN `, s.table.IsNumeric(where)
}

// upTo gives PostgreSQL a limit that it knows when it plans, and has no worker started for
// nothing.
func (postgres) upTo(rows, enough string, before []string) string {
	return `SELECT id FROM (` + rows + ` LIMIT ` + enough + `) t WHERE ` + strings.Join(before, " + ") + ` < ` + enough
}

// countUpTo materialises the rows, since PostgreSQL would look for a few by reading
// the table.
func (postgres) countUpTo(rows string, max int) string {
	return `WITH m AS MATERIALIZED (` + rows + `) SELECT count(*) FROM (SELECT FROM m LIMIT ` + strconv.Itoa(max) + `) m`
}

// tsquery returns a tsquery. The words of an index entry have the first letter of their
// column before them; before letters side by side, it is a capital.
func (postgres) tsquery(s *Search, l level) string {
	terms := make([]string, len(s.terms))
	for i, t := range s.terms {
		var places []string
		for _, column := range s.columns()[:l.columns] {
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

// vocabulary returns the SELECT of the words of a length that fit a pattern.
// Without the index there are none: the extension pg_trgm may not be installed.
func (postgres) vocabulary(b *query.Builder, _ string, shortest, longest int, patterns []string) string {
	return `SELECT DISTINCT word FROM vocabulary WHERE to_regclass('vocabulary_trigrams') IS NOT NULL
AND char_length(word) BETWEEN ` + strconv.Itoa(shortest) + ` AND ` + strconv.Itoa(longest) + ` AND word LIKE ANY (` + b.Arg(pq.StringArray(patterns)) + `)`
}

func (postgres) existing(b *query.Builder, table string, words []string) string {
	places := make([]string, len(searched[table]))
	for i, column := range searched[table] {
		places[i] = `'''` + column[:1] + `' || word || ''''`
	}
	return `SELECT word FROM unnest(` + b.Arg(pq.StringArray(words)) + `::text[]) AS word WHERE EXISTS (SELECT FROM ` + table + `_search m
WHERE m.words @@ (` + strings.Join(places, ` || '|' || `) + `)::tsquery)`
}

// ofRank leaves the better ranks out by two conditions: these have all rows of the
// rank's own that are of any better one.
func (postgres) ofRank(b *query.Builder, s *Search, ranks []func() string, rank int) (from string, conditions []string) {
	conditions = []string{ranks[rank-1]()}
	switch rank { // by the index of names
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

package search

import (
	"fmt"
	"slices"
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

// top goes through the ranks in their order, and looks at no row of another once there
// are enough for the page.
func (d postgres) top(b *query.Builder, s *Search, p *model.Page) string {
	from, direction := s.table.Name+`_search m`, ""
	if p.Order.IDDescending != p.Backward {
		direction = " DESC"
	}
	filter := ""
	if p.Where != nil {
		from += ` JOIN ` + s.table.Name + ` r ON r.id = m.id`
		filter = ` AND ` + b.Filter(p.Where, s.table, "r")
	}
	enough := strconv.Itoa(p.Offset + p.Limit)
	ranks := d.ranks(b, s)
	var numbers []int
	for i := range ranks {
		numbers = append(numbers, i+1)
	}
	if p.Order.Keys[0].Descending != p.Backward {
		slices.Reverse(numbers)
	}
	var with, rows, before []string
	for _, n := range numbers {
		within, any := d.within(b, p, n)
		if !any {
			continue
		}
		// The two ranks before have all rows of this rank's condition that are of any
		// better rank.
		condition := ranks[n-1]()
		switch n { // by the index of names
		case 1:
			condition += ` AND ` + b.Dialect.SortKey("m.name") + ` = ` + b.Arg(collate.SortKey(s.text()))
		case 2:
			condition += ` AND ` + b.StartsWith("m.name", s.text()+" ")
		case wholeLevel:
			condition += ` AND ` + b.StartsWith("m.name", s.text())
		}
		for _, better := range ranks[max(0, n-3) : n-1] {
			condition += ` AND NOT ` + better()
		}
		name := "rank" + strconv.Itoa(n)
		text := `SELECT m.id FROM ` + from + ` WHERE ` + condition + filter + within + ` ORDER BY m.id` + direction + ` LIMIT ` + enough
		if len(before) > 0 { // asked outside, so that no worker is started for nothing
			text = `SELECT id FROM (` + text + `) t WHERE ` + strings.Join(before, " + ") + ` < ` + enough
		}
		with = append(with, name+` AS MATERIALIZED (`+text+`)`)
		rows = append(rows, `SELECT id, `+strconv.Itoa(n)+` AS rank FROM `+name)
		before = append(before, `(SELECT count(*) FROM `+name+`)`)
	}
	if len(with) == 0 {
		return `SELECT id, 0 AS rank FROM ` + s.table.Name + ` WHERE 1 = 0`
	}
	return `WITH ` + strings.Join(with, ", ") + ` ` + strings.Join(rows, " UNION ALL ")
}

// within returns what a page's bounds ask of the ids of a rank; any is false where they
// leave none.
func (d postgres) within(b *query.Builder, p *model.Page, rank int) (condition string, any bool) {
	for _, bound := range query.Bounds(p) {
		switch at, _ := bound.Position.Keys[0].(int64); {
		case int64(rank) == at:
			condition += " AND m.id" + bound.Operator(p.Order.IDDescending, bound.Inclusive) + b.Arg(bound.Position.ID)
		case (int64(rank) > at) == (p.Order.Keys[0].Descending != bound.Before):
			return "", false
		}
	}
	return condition, true
}

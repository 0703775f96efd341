package search

import (
	"encoding/json"
	"strconv"
	"strings"

	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

type sqlite struct{}

// matches returns the SELECT of the ids that a search finds.
func (d sqlite) matches(b *query.Builder, s *Search) string {
	levels := s.levels()
	return d.at(b, s, levels[len(levels)-1])
}

// at returns the SELECT of the ids that match at a level.
func (d sqlite) at(b *query.Builder, s *Search, l level) string {
	return `SELECT rowid AS id FROM ` + s.table.Name + `_search WHERE ` + s.table.Name + `_search MATCH ` + b.Arg(d.match(s, l))
}

// ranked returns the SELECT of the ids that a search finds, with their ranks. The
// rows that match at the last level alone may be many, and are told apart first.
func (d sqlite) ranked(b *query.Builder, s *Search) string {
	begins := func(column, then string) string {
		return `m.id IN (SELECT id FROM ` + s.table.Name + ` WHERE ` + b.StartsWith(column+"_fold", s.text+then) + `)`
	}
	levels, columns := s.levels(), s.columns()
	last := len(levels) - 1
	rank := `CASE WHEN m.id NOT IN (` + d.at(b, s, levels[last-1]) + `) THEN ` + strconv.Itoa(firstLevel+last) +
		` WHEN m.id IN (SELECT id FROM ` + s.table.Name + ` WHERE ` + b.Dialect.SortKey("name_fold") + ` = ` + b.Arg(s.beginning("")) + `) THEN 1 WHEN ` +
		begins("name", ":") + ` OR ` + begins("name", " (") + ` THEN 2`
	for _, column := range columns[:len(columns)-1] {
		rank += ` WHEN ` + begins(column, "") + ` THEN 3`
	}
	for i, level := range levels[:last-1] {
		rank += ` WHEN m.id IN (` + d.at(b, s, level) + `) THEN ` + strconv.Itoa(firstLevel+i)
	}
	return `SELECT m.id, ` + rank + ` ELSE ` + strconv.Itoa(firstLevel+last-1) + ` END AS rank FROM (` + d.at(b, s, levels[last]) + `) m`
}

func (sqlite) top(*query.Builder, *Search, *model.Page) string { return "" }

func (sqlite) countUpTo(rows string, max int) string {
	return `SELECT count(*) FROM (` + rows + ` LIMIT ` + strconv.Itoa(max) + `)`
}

// match returns an FTS5 query (https://www.sqlite.org/fts5.html, part 3).
func (sqlite) match(s *Search, l level) string {
	terms := make([]string, len(s.terms))
	for i, t := range s.terms {
		alternatives := []string{`"` + t.word + `"`}
		if l.begin {
			alternatives[0] += "*"
		}
		for _, words := range t.others {
			alternatives = append(alternatives, `("`+strings.Join(words, `" AND "`)+`")`)
		}
		terms[i] = "(" + strings.Join(alternatives, " OR ") + ")"
	}
	return "{" + strings.Join(s.columns()[:l.columns], " ") + "} : (" + strings.Join(terms, " AND ") + ")"
}

// vocabulary returns the SELECT of the words of a length. There is no index by
// patterns: all are looked at.
func (sqlite) vocabulary(_ *query.Builder, table string, shortest, longest int, _ []string) string {
	return `SELECT term FROM ` + table + `_vocabulary WHERE length(term) BETWEEN ` + strconv.Itoa(shortest) + ` AND ` + strconv.Itoa(longest) +
		` AND term NOT GLOB '*[0-9]*'`
}

// existing returns the SELECT of those of the words that a table has.
func (sqlite) existing(b *query.Builder, table string, words []string) string {
	list, _ := json.Marshal(words) // words always have a JSON text
	return `SELECT value FROM json_each(` + b.Arg(string(list)) + `) WHERE EXISTS (SELECT 1 FROM ` + table + `_vocabulary WHERE term = value)`
}

package search

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync"

	"library-catalogue/db/query"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

type sqlite struct{}

// Words returns a text as SQLite's index has it: its words, and on another line its
// initials, which begin with a dot.
func Words(text string) string {
	words := collate.Words(text)
	indexed := strings.Join(words, " ")
	if initials := collate.Initials(words); len(initials) > 0 {
		indexed += "\n·" + strings.Join(initials, " ·")
	}
	return indexed
}

func (d sqlite) found(b *query.Builder, s *Search) string {
	levels := s.levels()
	return `(` + d.rows(s, b.Arg(d.match(s, levels[len(levels)-1]))) + `) m`
}

// rows returns the SELECT of the ids of the rows that match an FTS5 query.
func (sqlite) rows(s *Search, match string) string {
	return `SELECT rowid AS id FROM ` + s.table.Name + `_search WHERE ` + s.table.Name + `_search MATCH ` + match
}

func (d sqlite) ranks(b *query.Builder, s *Search) []func() string {
	text := s.text()
	in := func(rows func() string) func() string {
		return sync.OnceValue(func() string { return `m.id IN (` + rows() + `)` })
	}
	names := `SELECT id FROM ` + s.table.Name + ` WHERE name_words`
	ranks := []func() string{
		in(func() string { return names + ` >= ` + b.Arg(text) + ` AND name_words < ` + b.Arg(text+"\v") }), // initials may follow
		in(func() string { return names + ` >= ` + b.Arg(text+" ") + ` AND name_words < ` + b.Arg(text+"!") }),
		in(func() string {
			return names + ` >= ` + b.Arg(text) + ` AND name_words < ` + b.Arg(query.Following(text))
		}),
	}
	for _, level := range s.levels() {
		ranks = append(ranks, in(func() string { return d.rows(s, b.Arg(d.match(s, level))) }))
	}
	return ranks
}

func (sqlite) top(*query.Builder, *Search, *model.Page) string { return "" }

func (sqlite) countUpTo(rows string, max int) string {
	return `SELECT count(*) FROM (` + rows + ` LIMIT ` + strconv.Itoa(max) + `)`
}

// match returns an FTS5 query (https://www.sqlite.org/fts5.html, part 3).
func (sqlite) match(s *Search, l level) string {
	terms := make([]string, len(s.terms))
	for i, t := range s.terms {
		var alternatives []string
		for _, word := range t.words {
			begin := ""
			if l.begin {
				begin = " *"
			}
			alternatives = append(alternatives, `"`+word+`"`+begin)
			if initials(word) {
				alternatives = append(alternatives, `"·`+word+`" *`)
			}
		}
		terms[i] = `(` + strings.Join(alternatives, " OR ") + `)`
	}
	return "{" + strings.Join(s.columns()[:l.columns], " ") + "} : (" + strings.Join(terms, " AND ") + ")"
}

// vocabulary returns the SELECT of the words of a length. There is no index by
// patterns: all are looked at.
func (sqlite) vocabulary(_ *query.Builder, table string, shortest, longest int, _ []string) string {
	return `SELECT term FROM ` + table + `_vocabulary WHERE length(term) BETWEEN ` + strconv.Itoa(shortest) + ` AND ` + strconv.Itoa(longest) +
		` AND term NOT GLOB '*[0-9·]*'`
}

func (sqlite) existing(b *query.Builder, table string, words []string) string {
	list, _ := json.Marshal(words) // words always have a JSON text
	return `SELECT value FROM json_each(` + b.Arg(string(list)) + `) WHERE EXISTS (SELECT 1 FROM ` + table + `_vocabulary WHERE term = value)`
}

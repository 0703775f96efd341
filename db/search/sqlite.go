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

// Words returns the entry of texts in a column of SQLite's index, joined by spaces. That of a text is its words, and in
// a second line the words that signs join, and its initials, which start with a dot.
func Words(texts ...string) string {
	var entries []string
	for _, text := range texts {
		if entry := wordsOf(text); entry != "" {
			entries = append(entries, entry)
		}
	}
	return strings.Join(entries, " ")
}

func wordsOf(text string) string {
	words, further := collate.Entries(text)
	for _, letters := range collate.Initials(words) {
		further = append(further, "·"+letters)
	}
	if len(further) == 0 {
		return strings.Join(words, " ")
	}
	return strings.Join(words, " ") + "\n" + strings.Join(further, " ")
}

func (d sqlite) found(b *query.Builder, s *Search) string {
	levels := s.levels()
	return `(` + d.rows(s, b.Arg(d.match(s, levels[len(levels)-1]))) + `) m`
}

// rows returns the SELECT of the ids of rows that match an FTS5 query.
func (sqlite) rows(s *Search, match string) string {
	return `SELECT rowid AS id FROM ` + s.table.Name + `_search WHERE ` + s.table.Name + `_search MATCH ` + match
}

func (d sqlite) ranks(b *query.Builder, s *Search) []func() string {
	in := func(rows func() string) func() string {
		return sync.OnceValue(func() string { return `m.id IN (` + rows() + `)` })
	}
	var ranks []func() string
	for n := 1; n <= wholeLevel; n++ {
		ranks = append(ranks, in(func() string {
			return `SELECT id FROM ` + s.table.Name + ` WHERE ` + d.named(b, s, "name_words", n)
		}))
	}
	for _, level := range s.levels() {
		ranks = append(ranks, in(func() string { return d.rows(s, b.Arg(d.match(s, level))) }))
	}
	return ranks
}

// named returns the condition of one of the first three ranks: a column of words of names equals
// the text, starts with it as whole words, or starts with it. A second line may follow a name's words.
func (sqlite) named(b *query.Builder, s *Search, column string, rank int) string {
	text := s.text()
	low := [...]string{text, text + " ", text}[rank-1]
	high := [...]string{text + "\v", text + "!", query.Following(text)}[rank-1]
	return column + ` >= ` + b.Arg(low) + ` AND ` + column + ` < ` + b.Arg(high)
}

func (d sqlite) countNames(b *query.Builder, s *Search, max int) string {
	return d.countUpTo(`SELECT id FROM `+s.table.Name+` WHERE `+d.named(b, s, "name_words", wholeLevel), max)
}

// ofRank finds names by their index, or by FTS5 if many start with the text. FTS5 returns rows in
// order of id, so it reads only the page's rows. Conditions exclude the rows of better ranks.
func (d sqlite) ofRank(b *query.Builder, s *Search, _ []func() string, rank int) (from string, conditions []string) {
	levels := s.levels()
	if rank <= wholeLevel {
		name, byWords := "m.name_words", s.manyNamed && rank > 1
		if byWords {
			name = "n.name_words"
		}
		named := d.named(b, s, name, rank)
		for better := 1; better < rank && rank == wholeLevel; better++ { // the two ranks before are disjoint
			named += ` AND NOT (` + d.named(b, s, name, better) + `)`
		}
		if byWords { // the names that match also match a level
			return `(` + d.rows(s, b.Arg(d.match(s, levels[rank-2]))) + `) m`,
				[]string{`EXISTS (SELECT 1 FROM ` + s.table.Name + ` n WHERE n.id = m.id AND ` + named + `)`}
		}
		return s.table.Name + ` m`, []string{named}
	}
	level := rank - nameRank
	match := d.match(s, levels[level])
	if level > 0 {
		match = `(` + match + `) NOT (` + d.match(s, levels[level-1]) + `)`
	}
	if level <= 1 { // names that start with the text have all its words
		conditions = []string{`NOT EXISTS (SELECT 1 FROM ` + s.table.Name + ` n WHERE n.id = m.id AND ` +
			d.named(b, s, "n.name_words", wholeLevel) + `)`}
	}
	return `(` + d.rows(s, b.Arg(match)) + `) m`, conditions
}

// join makes SQLite read the rows of the rank first, instead of all rows of the filter.
func (sqlite) join(*Search, *model.Condition) (string, bool) { return ` CROSS JOIN `, true }

func (sqlite) upTo(rows, enough string, before []string) string {
	return rows + ` LIMIT max(0, ` + enough + ` - ` + strings.Join(before, " - ") + `)`
}

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
	return "{" + strings.Join(searched[s.table.Name][:l.columns], " ") + "} : (" + strings.Join(terms, " AND ") + ")"
}

// AllWordsSQL is the SELECT of the words of books that can be corrections.
const AllWordsSQL = `SELECT term FROM books_vocabulary WHERE length(term) > 1 AND term NOT GLOB '*[0-9·]*'`

// vocabulary returns the SELECT of all words of a length, because SQLite has no index for patterns.
func (sqlite) vocabulary(_ *query.Builder, table string, shortest, longest int, _ []string) string {
	return `SELECT term FROM ` + table + `_vocabulary WHERE length(term) BETWEEN ` + strconv.Itoa(shortest) + ` AND ` +
		strconv.Itoa(longest) +
		` AND term NOT GLOB '*[0-9·]*'`
}

func (sqlite) existing(b *query.Builder, table string, words []string) string {
	list, _ := json.Marshal(words) // marshaling strings cannot fail
	return `SELECT value FROM json_each(` + b.Arg(string(list)) + `) WHERE EXISTS (SELECT 1 FROM ` + table +
		`_vocabulary WHERE term = value)`
}

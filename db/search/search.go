// Package search finds rows by words and ranks them. docs/graphql.md describes the ranking. The
// package decides everything about words, so that both engines find the same rows in the same
// order.
package search

import (
	"context"
	"strconv"
	"strings"
	"unicode/utf8"

	"library-catalogue/db/dialect"
	"library-catalogue/db/query"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

// searched are the searchable columns of each table, most important first. The levels use this
// order.
var searched = map[string][]string{
	"books":      {"name", "author", "description"},
	"genres":     {"name", "description"},
	"categories": {"name", "description"},
}

// Columns returns the searchable columns of a table.
func Columns(table string) []string { return searched[table] }

// Sources returns the columns whose words a searchable column has, in order: itself, and for the author of a book
// also series and subtitle, because a level of their own would cost each search a condition.
func Sources(table, column string) []string {
	if table == "books" && column == "author" {
		return []string{column, "series", "subtitle"}
	}
	return []string{column}
}

// Search is a search for a text in a table.
type Search struct {
	engine engine
	table  *query.Table
	terms  []term                                  // a row must match all; without terms no row matches
	words  func(context.Context) ([]string, error) // see New

	// Many means that too many rows match to rank each.
	Many      bool
	manyNamed bool // as many names start with the text; always false on PostgreSQL
}

// Many is the number of matches from which a page does not rank each row.
const Many = 1000

// term is a word of the search text.
type term struct {
	typed string
	words []string // the words that it matches; a row must have one of them
}

// initials reports whether a word may also be initials.
func initials(word string) bool {
	n := utf8.RuneCountInString(word)
	return (n == 2 || n == 3) && !strings.ContainsAny(word, digits)
}

const digits = "0123456789"

// text returns the search text. A word with exactly one correction is replaced by it.
func (s *Search) text() string {
	words := make([]string, len(s.terms))
	for i, t := range s.terms {
		if words[i] = t.typed; len(t.words) == 1 {
			words[i] = t.words[0]
		}
	}
	return strings.Join(words, " ")
}

// Correction returns the corrected search text, or an empty string without corrections. Slashes
// separate several corrections of a word.
func (s *Search) Correction() string {
	corrected := false
	words := make([]string, len(s.terms))
	for i, t := range s.terms {
		words[i] = strings.Join(t.words, "/")
		corrected = corrected || words[i] != t.typed
	}
	if !corrected {
		return ""
	}
	return strings.Join(words, " ")
}

var engines = map[*dialect.Dialect]engine{dialect.Postgres: postgres{}, dialect.SQLite: sqlite{}}

// engine builds the SQL of searches for an engine.
type engine interface {
	// found returns FROM and WHERE of the matching rows m.
	found(b *query.Builder, s *Search) string
	// ranks returns the conditions of the ranks on rows m, best first. A row has the first rank
	// whose condition it fulfils. From nameRank on, each condition implies all that follow. Calling
	// a condition adds its arguments.
	ranks(b *query.Builder, s *Search) []func() string
	// ofRank returns FROM and the conditions of the rows m of a rank, which counts from 1. ranks is
	// the result of the method ranks.
	ofRank(b *query.Builder, s *Search, ranks []func() string, rank int) (from string, conditions []string)
	// countNames returns the SELECT of the number of names that start with the text, up to max. It
	// is empty if ofRank does not need it.
	countNames(b *query.Builder, s *Search, max int) string
	// join returns the join of the rows of a page's filter to those of a rank. ok is false if
	// ranking all rows is cheaper.
	join(s *Search, where *model.Condition) (join string, ok bool)
	// upTo limits a SELECT to enough rows minus the sum of before, which are SELECTs of numbers in
	// parentheses.
	upTo(rows, enough string, before []string) string
	// countUpTo returns the SELECT of the number of rows of a SELECT, up to max.
	countUpTo(rows string, max int) string
	// vocabulary returns the SELECT of words of a table and a length. They include all words that
	// match one of the patterns.
	vocabulary(b *query.Builder, table string, shortest, longest int, patterns []string) string
	// existing returns the SELECT of the words that are in a table.
	existing(b *query.Builder, table string, words []string) string
}

// Select runs a SELECT of one column and sets the slice that dest points to.
type Select func(ctx context.Context, dest any, text string, args ...any) error

func read[T any](
	ctx context.Context, d *dialect.Dialect, run Select, statement func(*query.Builder) string,
) (found []T, err error) {
	b := query.New(d)
	text := statement(b)
	if text == "" {
		return nil, nil
	}
	err = run(ctx, &found, text, b.Args...)
	return found, err
}

// New looks up the words of a search text in a table and corrects them if no row matches.
// Search.Many is set from many rows on. words, if it is not nil, returns all words of the table, or nil if run has to
// read them.
func New(
	ctx context.Context, d *dialect.Dialect, t *query.Table, text string, many int, run Select,
	words func(context.Context) ([]string, error),
) (*Search, error) {
	s := &Search{engine: engines[d], table: t, words: words}
	for _, word := range collate.Words(text) {
		s.terms = append(s.terms, term{word, []string{word}})
	}
	if len(s.terms) == 0 {
		return s, nil
	}
	count := func() (int, error) {
		found, err := read[int](ctx, d, run, func(b *query.Builder) string {
			return s.engine.countUpTo(s.Found(b, false), many)
		})
		if err != nil {
			return 0, err
		}
		return found[0], nil
	}
	found, err := count()
	if err == nil && found == 0 {
		if err = s.correct(ctx, d, run); err == nil && len(s.terms) > 0 {
			found, err = count()
		}
	}
	if err != nil {
		return nil, err
	}
	if s.Many = found == many; s.Many {
		named, err := read[int](ctx, d, run, func(b *query.Builder) string { return s.engine.countNames(b, s, many) })
		if err != nil {
			return nil, err
		}
		s.manyNamed = len(named) > 0 && named[0] == many
	}
	return s, nil
}

// Found returns the SELECT of the ids of matching rows, and their ranks if ranked is set.
func (s *Search) Found(b *query.Builder, ranked bool) string {
	switch {
	case len(s.terms) == 0:
		return `SELECT id, 0 AS rank FROM ` + s.table.Name + ` WHERE 1 = 0`
	case ranked:
		return `SELECT m.id, ` + s.rank(b) + ` AS rank FROM ` + s.engine.found(b, s)
	}
	return `SELECT m.id FROM ` + s.engine.found(b, s)
}

// rank returns the rank of a matching row m, from 1. It tests the last ranks first, because most
// rows may match in the last columns only.
func (s *Search) rank(b *query.Builder) string {
	ranks := s.engine.ranks(b, s)
	rank := `CASE`
	for i := len(ranks) - 1; i > nameRank; i-- {
		rank += ` WHEN NOT ` + ranks[i-1]() + ` THEN ` + strconv.Itoa(i+1)
	}
	for i, condition := range ranks[:nameRank] {
		rank += ` WHEN ` + condition() + ` THEN ` + strconv.Itoa(i+1)
	}
	return rank + ` ELSE ` + strconv.Itoa(nameRank+1) + ` END`
}

// The first three ranks are a name equal to the text, a name that starts with it as whole words,
// and a name that starts with it. The levels follow.
const (
	wholeLevel = 3              // index of the rank of rows with all words in the name
	nameRank   = wholeLevel + 1 // index of the rank of rows with prefixes of all words in the name
)

// level is a way to match the words of a search.
type level struct {
	columns int  // number of columns that may match
	begin   bool // words match as prefixes
}

// levels are the ways to match, best first. The last level matches all rows of the search.
func (s *Search) levels() []level {
	levels := []level{{1, false}}
	for i := range searched[s.table.Name] {
		levels = append(levels, level{i + 1, true})
	}
	return levels
}

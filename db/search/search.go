// Package search finds rows by words and puts the best first. The rule is in
// docs/graphql.md. Everything that is decided about words is decided here, so that both
// engines find the same rows in the same order.
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

// searched are the columns of each table that a search looks at, the most telling first:
// the levels go by that.
var searched = map[string][]string{
	"books":      {"name", "author", "description"},
	"genres":     {"name", "description"},
	"categories": {"name", "description"},
}

// Columns returns the columns of a table, by its name, that a search looks at.
func Columns(table string) []string { return searched[table] }

func (s *Search) columns() []string { return Columns(s.table.Name) }

// Search is a text as it is looked for in a table.
type Search struct {
	engine engine
	table  *query.Table
	terms  []term // a row must have all; where there are none, no row is found

	// Many reports whether it finds too many rows to look at each.
	Many      bool
	manyNamed bool // so many names begin with the text; always false on PostgreSQL
}

// Many is how many rows are too many to rank each of them for a page.
const Many = 1000

// term is a word of the search.
type term struct {
	typed string
	words []string // what it stands for: a row must have one
}

// initials reports whether a word stands for somebody's initials too.
func initials(word string) bool {
	n := utf8.RuneCountInString(word)
	return (n == 2 || n == 3) && !strings.ContainsAny(word, digits)
}

const digits = "0123456789"

// text returns the text that is searched for: where a word stands for just one other,
// that one.
func (s *Search) text() string {
	words := make([]string, len(s.terms))
	for i, t := range s.terms {
		if words[i] = t.typed; len(t.words) == 1 {
			words[i] = t.words[0]
		}
	}
	return strings.Join(words, " ")
}

// Correction returns the words that were searched for, with strokes between those that
// one word stands for, if any stands for others; else it is empty.
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

// engine is the SQL of searches of an engine.
type engine interface {
	// found returns FROM and WHERE of the rows m that a search finds.
	found(b *query.Builder, s *Search) string
	// ranks returns the conditions on the rows m of the ranks, the best first. A row of
	// the search has the first rank whose condition it fulfils; what fulfils a condition
	// from nameRank on fulfils all that follow. They have arguments once they are called.
	ranks(b *query.Builder, s *Search) []func() string
	// ofRank returns FROM and the conditions of the rows m of a rank, from 1. ranks are
	// what the method returned.
	ofRank(b *query.Builder, s *Search, ranks []func() string, rank int) (from string, conditions []string)
	// countNames returns the SELECT of the number of names that begin with the text, up to a
	// maximum; it is empty where ofRank does not ask whether they are many.
	countNames(b *query.Builder, s *Search, max int) string
	// join returns the join of the rows that a page's filter leaves to those of a rank; ok is
	// false where it is better to rank all rows.
	join(s *Search, where *model.Condition) (join string, ok bool)
	// upTo limits a SELECT to enough rows, less the numbers of those before: SELECTs in
	// brackets.
	upTo(rows, enough string, before []string) string
	// countUpTo returns the SELECT of the number of rows of a SELECT, up to a maximum.
	countUpTo(rows string, max int) string
	// vocabulary returns the SELECT of words of a table and of a length, among which are
	// all that fit one of the patterns.
	vocabulary(b *query.Builder, table string, shortest, longest int, patterns []string) string
	// existing returns the SELECT of those of the words that a table has.
	existing(b *query.Builder, table string, words []string) string
}

// Select runs a SELECT of one column and sets the slice that dest points to.
type Select func(ctx context.Context, dest any, text string, args ...any) error

func read[T any](ctx context.Context, d *dialect.Dialect, run Select, statement func(*query.Builder) string) (found []T, err error) {
	b := query.New(d)
	text := statement(b)
	if text == "" {
		return nil, nil
	}
	err = run(ctx, &found, text, b.Args...)
	return found, err
}

// New reads the text of a search of a table and looks up its words, as typed, to see
// whether they must be corrected. Of many rows or more it is Many.
func New(ctx context.Context, d *dialect.Dialect, t *query.Table, text string, many int, run Select) (*Search, error) {
	s := &Search{engine: engines[d], table: t}
	for _, word := range collate.Words(text) {
		s.terms = append(s.terms, term{word, []string{word}})
	}
	if len(s.terms) == 0 {
		return s, nil
	}
	found, err := read[int](ctx, d, run, func(b *query.Builder) string { return s.engine.countUpTo(s.Found(b, false), many) })
	if err != nil {
		return nil, err
	}
	s.Many = found[0] == many
	switch {
	case found[0] == 0:
		return s, s.correct(ctx, d, run)
	case s.Many:
		named, err := read[int](ctx, d, run, func(b *query.Builder) string { return s.engine.countNames(b, s, many) })
		if err != nil {
			return nil, err
		}
		s.manyNamed = len(named) > 0 && named[0] == many
	}
	return s, nil
}

// Found returns the SELECT of the ids that the search finds, with their ranks if these
// are asked for.
func (s *Search) Found(b *query.Builder, ranked bool) string {
	switch {
	case len(s.terms) == 0:
		return `SELECT id, 0 AS rank FROM ` + s.table.Name + ` WHERE 1 = 0`
	case ranked:
		return `SELECT m.id, ` + s.rank(b) + ` AS rank FROM ` + s.engine.found(b, s)
	}
	return `SELECT m.id FROM ` + s.engine.found(b, s)
}

// rank returns the rank of a row m of the search, from 1. The rows that match by the
// last columns alone may be many, and are told apart first.
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

// The ranks begin with those of a name that is the text, one that begins with it as
// whole words, and one that begins with it. The levels follow.
const (
	wholeLevel = 3              // the rank, from 0, of rows that have all words whole in the name
	nameRank   = wholeLevel + 1 // and of those that have them there, or words that begin with them
)

// level is a way to match the words of a search.
type level struct {
	columns int  // how many of the columns, from the first, may have them
	begin   bool // whether they may be beginnings of words
}

// levels are the ways to match, the best first. The last one finds the rows of the
// search.
func (s *Search) levels() []level {
	levels := []level{{1, false}}
	for i := range s.columns() {
		levels = append(levels, level{i + 1, true})
	}
	return levels
}

// Package search finds rows by words and ranks them. A search finds the rows that have
// all its words, each in any of the columns, whole or as the beginning of a word. Where
// no row has, mistyped words are looked for too: see correct. Everything that is decided
// about words is decided here, so that both engines find the same rows in the same order.
package search

import (
	"context"
	"strings"

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

func (s *Search) columns() []string { return searched[s.table.Name] }

// Search is a text as it is looked for in a table.
type Search struct {
	engine engine
	table  *query.Table
	text   string // folded
	terms  []term

	// Many reports whether it finds too many rows to look at each.
	Many bool
}

// Many is how many rows are too many to rank each of them for a page.
const Many = 1000

// term is what a word of the search stands for: for itself, and for others where
// it may be mistyped. A row must have one of them.
type term struct {
	word string
	// others are taken whole; of one with several words, a row must have all.
	others [][]string
}

// engine is the SQL of searches of an engine.
type engine interface {
	// matches returns the SELECT of the ids that a search finds, and ranked that of
	// the ids with their ranks.
	matches(b *query.Builder, s *Search) string
	ranked(b *query.Builder, s *Search) string
	// top returns the SELECT of the ids and ranks of a page by rank, of a search that
	// finds many, without a look at all of them; empty where the engine cannot.
	top(b *query.Builder, s *Search, p *model.Page) string
	// countUpTo returns the SELECT of the number of rows of a SELECT, up to a maximum.
	countUpTo(rows string, max int) string
	// vocabulary returns the SELECT of the words of a table, of a length, that fit one of
	// the patterns; it may have others too.
	vocabulary(b *query.Builder, table string, shortest, longest int, patterns []string) string
	// existing returns the SELECT of those of the words that a table has.
	existing(b *query.Builder, table string, words []string) string
}

// Select runs a SELECT of one column and sets the slice that dest points to.
type Select func(ctx context.Context, dest any, text string, args ...any) error

// New reads the text of a search of a table and looks up its words, as typed, to see
// whether they must be corrected. Of many rows or more it is Many.
func New(ctx context.Context, d *dialect.Dialect, t *query.Table, text string, many int, run Select) (*Search, error) {
	s := &Search{engine: sqlite{}, table: t, text: collate.Fold(strings.Join(strings.Fields(text), " "))}
	if d.Postgres {
		s.engine = postgres{}
	}
	for _, word := range collate.Words(text) {
		t := term{word: word}
		if letters := strings.Split(word, ""); len(letters) == 2 || len(letters) == 3 {
			t.others = [][]string{letters} // somebody's initials, written apart
		}
		s.terms = append(s.terms, t)
	}
	if len(s.terms) == 0 {
		return s, nil
	}
	b := query.New(d)
	var found []int
	if err := run(ctx, &found, s.engine.countUpTo(s.engine.matches(b, s), many), b.Args...); err != nil {
		return nil, err
	}
	s.Many = found[0] == many
	if found[0] > 0 {
		return s, nil
	}
	return s, s.correct(ctx, d, run)
}

// Found returns the SELECT of the ids that the search finds, with their ranks if these
// are asked for.
func (s *Search) Found(b *query.Builder, ranked bool) string {
	switch {
	case len(s.terms) == 0:
		return `SELECT id, 0 AS rank FROM ` + s.table.Name + ` WHERE 1 = 0`
	case ranked:
		return s.engine.ranked(b, s)
	}
	return s.engine.matches(b, s)
}

// Top returns the SELECT of the ids and ranks of a page by rank alone, of a search that
// finds many. It is empty where they must all be ranked: there is no quicker way, or the
// engine does not know well how many rows the page's filter leaves.
func (s *Search) Top(b *query.Builder, p *model.Page) string {
	if !s.Many || !query.ByRank(p) || p.Where != nil && !s.table.IsNumeric(p.Where) {
		return ""
	}
	return s.engine.top(b, s, p)
}

// level is a way to match a search.
type level struct {
	columns int  // how many of the columns, from the first, may have the words
	begin   bool // whether words may go on after what was typed
}

// levels are the ways to match, the best first, and last the one that gives the
// rows of the search. Better than all of them is a name that is the text, and
// then a name or an author that begins with it.
func (s *Search) levels() []level {
	columns := len(s.columns())
	levels := make([]level, 0, 5)
	for _, begin := range []bool{false, true} {
		for n := 1; n < columns; n++ {
			levels = append(levels, level{n, begin})
		}
	}
	return append(levels, level{columns, true})
}

// A rank is 1 for a name that is the text, 2 for one that is the text but for a
// subtitle or a series, 3 for a name or an author that begins with it, and from
// firstLevel on the level: the lowest is the best.
const firstLevel = 4

// beginning returns what a text begins with, as far as texts are ordered, that begins
// with the text of the search and what follows it.
func (s *Search) beginning(then string) string { return collate.SortKey(s.text + then) }

package db

import (
	"context"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/jmoiron/sqlx"

	"library-catalogue/graph/model"
)

// A search finds the rows that have all its words, each in any of the columns,
// whole or as the beginning of a word. Where no row has, mistyped words are
// looked for too: see correct. Everything that is decided about words is decided
// here, so that both databases give the same rows in the same order.

// searched are the columns of each table that a search looks at, the most
// telling first: the levels go by that.
var searched = map[string][]string{
	"books":      {"name", "author", "description"},
	"genres":     {"name", "description"},
	"categories": {"name", "description"},
}

// search is a text as it is looked for in a table.
type search struct {
	table string
	text  string // folded
	terms []term
	many  bool // whether it finds too many rows to look at each
}

// manyFound is how many rows are many.
var manyFound = 1000

// term is what a word of the search stands for: for itself, and for others where
// it may be mistyped. A row must have one of them.
type term struct {
	word string
	// others are taken whole; of one with several words, a row must have all.
	others [][]string
}

// Searches are those of a request, by table and text: their words are looked up
// once for all that is read of what they find.
type Searches struct {
	mu    sync.Mutex
	known map[[2]string]func() (*search, error)
}

// SearchesKey is the key of a context's *Searches. Without it each search is looked
// up by itself.
type SearchesKey struct{}

// ForgetSearches follows a write of the request.
func ForgetSearches(ctx context.Context) {
	if of, ok := ctx.Value(SearchesKey{}).(*Searches); ok {
		of.mu.Lock()
		defer of.mu.Unlock()
		of.known = nil
	}
}

// newSearch reads the text of a search of a table.
func (s *Store) newSearch(ctx context.Context, table, text string) (*search, error) {
	of, ok := ctx.Value(SearchesKey{}).(*Searches)
	if !ok || Writing(ctx) {
		return s.lookUp(ctx, table, text)
	}
	of.mu.Lock()
	look := of.known[[2]string{table, text}]
	if look == nil {
		if of.known == nil {
			of.known = map[[2]string]func() (*search, error){}
		}
		look = sync.OnceValues(func() (*search, error) { return s.lookUp(ctx, table, text) })
		of.known[[2]string{table, text}] = look
	}
	of.mu.Unlock()
	return look()
}

// lookUp looks up the words of a search, as typed, to see whether they must be
// corrected.
func (s *Store) lookUp(ctx context.Context, table, text string) (*search, error) {
	q := &search{table: table, text: model.Fold(strings.Join(strings.Fields(text), " "))}
	for _, word := range model.Words(text) {
		t := term{word: word}
		if letters := strings.Split(word, ""); len(letters) == 2 || len(letters) == 3 {
			t.others = [][]string{letters} // somebody's initials, written apart
		}
		q.terms = append(q.terms, t)
	}
	if len(q.terms) == 0 {
		return q, nil
	}
	w := &statement{dialect: s.dialect}
	var found int
	text = searchSQLOf(s.dialect).upTo(searchSQLOf(s.dialect).matches(w, q), manyFound)
	err := s.run(ctx, false, func(h handle) error { return sqlx.GetContext(ctx, unprepared(h), &found, text, w.args...) })
	q.many = found == manyFound
	if err != nil || found > 0 {
		return q, err
	}
	return q, s.correct(ctx, q)
}

// found writes the SELECT of the ids that the search finds, with their ranks if
// they are asked for.
func (w *statement) found() string {
	switch {
	case len(w.search.terms) == 0:
		return `SELECT id, 0 AS rank FROM ` + w.search.table + ` WHERE 1 = 0`
	case w.ranked:
		return searchSQLOf(w.dialect).ranked(w, w.search)
	}
	return searchSQLOf(w.dialect).matches(w, w.search)
}

// level is a way to match a search.
type level struct {
	columns int  // how many of the columns, from the first, may have the words
	begin   bool // whether words may go on after what was typed
}

// levels are the ways to match, the best first, and last the one that gives the
// rows of the search. Better than all of them is a name that is the text, and
// then a name or an author that begins with it.
func (q *search) levels() []level {
	columns := len(searched[q.table])
	out := make([]level, 0, 5)
	for _, begin := range []bool{false, true} {
		for n := 1; n < columns; n++ {
			out = append(out, level{n, begin})
		}
	}
	return append(out, level{columns, true})
}

// A rank is 1 for a name that is the text, 2 for one that is the text but for a
// subtitle or a series, 3 for a name or an author that begins with it, and from
// firstLevel on the level: the lowest is the best.
const firstLevel = 4

// beginning gives what a text begins with, as far as texts are kept in order,
// that begins with the text of the search and what follows it.
func (q *search) beginning(then string) string { return model.SortKey(q.text + then) }

// Corrections. Words of up to two letters are taken as they are typed, others
// may have an edit, and those of six letters or more two. An edit is a letter
// that is missing, too much, another, or changed places with its neighbour. A
// word with a digit is never mistyped: another number is another thing.
const (
	shortestMistyped, longestMistyped = 3, 38
	shortestKnown, longestKnown       = 4, 40 // of the words in the vocabulary
	maxCorrections                    = 20    // of each word
)

func maxEdits(length int) int {
	switch {
	case length < shortestMistyped || length > longestMistyped:
		return 0
	case length < 6:
		return 1
	}
	return 2
}

// correct lets each word of the search stand for those words of the catalogue
// too that it may be meant to be: of those that are like it, the nearest.
func (s *Store) correct(ctx context.Context, q *search) error {
	var mistyped []string
	for _, t := range q.terms {
		if maxEdits(len([]rune(t.word))) > 0 && !strings.ContainsAny(t.word, "0123456789") {
			mistyped = append(mistyped, t.word)
		}
	}
	vocabulary, err := s.vocabulary(ctx, q.table, mistyped)
	if err != nil {
		return err
	}
	corrected := map[string][]string{}
	for n := 1; n <= 2; n++ {
		candidates := map[string][]string{} // n edits away
		var all []string
		for _, word := range mistyped {
			if len(corrected[word]) == 0 && candidates[word] == nil {
				candidates[word] = like(word, vocabulary, n)
				all = append(all, candidates[word]...)
			}
		}
		living, err := s.living(ctx, q.table, all)
		if err != nil {
			return err
		}
		for word, others := range candidates {
			corrected[word] = slices.DeleteFunc(others, func(other string) bool { return !living[other] })
		}
	}
	for i, t := range q.terms {
		for _, other := range corrected[t.word] {
			q.terms[i].others = append(q.terms[i].others, []string{other})
		}
	}
	return nil
}

// vocabulary gives words of a table among which are all that are like one of
// these.
func (s *Store) vocabulary(ctx context.Context, table string, words []string) (found []string, err error) {
	if len(words) == 0 {
		return nil, nil
	}
	shortest, longest := longestKnown, 0
	var patterns []string
	for _, word := range words {
		n := len([]rune(word))
		shortest, longest = min(shortest, n-maxEdits(n)), max(longest, n+maxEdits(n))
		patterns = append(patterns, features(word)...)
	}
	w := &statement{dialect: s.dialect}
	text := searchSQLOf(s.dialect).vocabulary(w, table, max(shortest, shortestKnown), longest, patterns)
	err = s.run(ctx, false, func(h handle) error { return sqlx.SelectContext(ctx, unprepared(h), &found, text, w.args...) })
	return found, err
}

// living tells which of the words a table has: the vocabulary may have some that
// went with their last row.
func (s *Store) living(ctx context.Context, table string, words []string) (map[string]bool, error) {
	living := make(map[string]bool, len(words))
	if len(words) == 0 {
		return living, nil
	}
	var found []string
	w := &statement{dialect: s.dialect}
	text := searchSQLOf(s.dialect).living(w, table, words)
	err := s.run(ctx, false, func(h handle) error { return sqlx.SelectContext(ctx, unprepared(h), &found, text, w.args...) })
	for _, word := range found {
		living[word] = true
	}
	return living, err
}

// like gives the words that a mistyped one may stand for: those that share a
// feature with it and are so many edits away.
func like(word string, vocabulary []string, distance int) (out []string) {
	typed := []rune(word)
	if distance > maxEdits(len(typed)) {
		return nil
	}
	patterns := features(word)
	for _, other := range vocabulary {
		if n := utf8.RuneCountInString(other); n < len(typed)-distance || n > len(typed)+distance || !share(patterns, other) {
			continue
		}
		if edits(typed, []rune(other)) == distance {
			out = append(out, other)
		}
	}
	slices.Sort(out)
	out = slices.Compact(out)
	return out[:min(len(out), maxCorrections)]
}

// features gives the patterns, as of LIKE, of which words that are alike share
// one at least: the first letter, the last two, or any three in a row. They are
// the trigrams of pg_trgm, whose index can find them.
func features(word string) []string {
	runes := []rune(word)
	out := []string{string(runes[:1]) + "%", "%" + string(runes[len(runes)-2:])}
	for i := range runes[:len(runes)-2] {
		out = append(out, "%"+string(runes[i:i+3])+"%")
	}
	return out
}

func share(patterns []string, word string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		begin, end := strings.TrimSuffix(pattern, "%"), strings.TrimPrefix(pattern, "%")
		switch {
		case begin == pattern:
			return strings.HasSuffix(word, end)
		case end == pattern:
			return strings.HasPrefix(word, begin)
		}
		return strings.Contains(word, strings.Trim(pattern, "%"))
	})
}

// edits counts the edits between two words (the optimal string alignment
// distance).
func edits(a, b []rune) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

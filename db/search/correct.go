package search

import (
	"context"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"library-catalogue/db/dialect"
	"library-catalogue/db/query"
)

// maxEdits returns the maximum number of edits of a mistyped word. An edit inserts, deletes or
// replaces a letter, or swaps two neighbours. A word with a digit is never corrected, because
// another number is another thing.
func maxEdits(word string) int {
	switch n := utf8.RuneCountInString(word); {
	case n < 3 || strings.ContainsAny(word, digits):
		return 0
	case n < 6:
		return 1
	}
	return 2
}

// correct replaces each word without a match by the nearest words of the rows.
func (s *Search) correct(ctx context.Context, d *dialect.Dialect, run Select) error {
	missing, err := s.missing(ctx, d, run)
	if err != nil {
		return err
	}
	vocabulary, err := s.vocabulary(ctx, d, run, missing)
	if err != nil {
		return err
	}
	nearest := map[string][]string{}
	for distance := 1; distance <= 2; distance++ {
		candidates := map[string][]string{}
		for _, word := range missing {
			if len(nearest[word]) == 0 {
				candidates[word] = similar(word, vocabulary, distance)
			}
		}
		all := slices.Concat(slices.Collect(maps.Values(candidates))...)
		if len(all) == 0 {
			continue
		}
		// The vocabulary may contain words of deleted rows.
		existing, err := read[string](ctx, d, run, func(b *query.Builder) string {
			return s.engine.existing(b, s.table.Name, all)
		})
		if err != nil {
			return err
		}
		for word, others := range candidates {
			nearest[word] = slices.DeleteFunc(others, func(other string) bool {
				return !slices.Contains(existing, other)
			})
		}
	}
	for i, t := range s.terms {
		if slices.Contains(missing, t.typed) {
			s.terms[i].words = nearest[t.typed]
		}
	}
	if slices.ContainsFunc(s.terms, func(t term) bool { return len(t.words) == 0 }) {
		s.terms = nil
	}
	return nil
}

// missing returns the words that match no row.
func (s *Search) missing(ctx context.Context, d *dialect.Dialect, run Select) (words []string, err error) {
	if len(s.terms) == 1 { // the search has no match, so it is missing
		return []string{s.terms[0].typed}, nil
	}
	places, err := read[int](ctx, d, run, func(b *query.Builder) string {
		terms := make([]string, len(s.terms))
		for i, t := range s.terms {
			one := &Search{engine: s.engine, table: s.table, terms: []term{t}}
			terms[i] = `SELECT ` + strconv.Itoa(i) + ` WHERE (` + s.engine.countUpTo(one.Found(b, false), 1) + `) = 0`
		}
		return strings.Join(terms, ` UNION ALL `)
	})
	for _, i := range places {
		words = append(words, s.terms[i].typed)
	}
	return words, err
}

// vocabulary reads words of the table. They include all corrections of the mistyped words.
func (s *Search) vocabulary(ctx context.Context, d *dialect.Dialect, run Select, mistyped []string) ([]string, error) {
	var lengths []int
	var patterns []string
	for _, word := range mistyped {
		n, edits := utf8.RuneCountInString(word), maxEdits(word)
		if edits == 0 {
			return nil, nil // it cannot be corrected
		}
		lengths = append(lengths, n-edits, n+edits)
		patterns = append(patterns, features(word)...)
	}
	if len(patterns) == 0 {
		return nil, nil
	}
	if s.words != nil {
		if words, err := s.words(ctx); words != nil || err != nil {
			return words, err
		}
	}
	return read[string](ctx, d, run, func(b *query.Builder) string {
		return s.engine.vocabulary(b, s.table.Name, slices.Min(lengths), slices.Max(lengths), patterns)
	})
}

// similar returns the words at a distance of exactly so many edits.
func similar(word string, vocabulary []string, distance int) (similar []string) {
	if distance > maxEdits(word) {
		return nil
	}
	typed, letters := []rune(word), letterSet(word)
	for _, other := range vocabulary {
		if bits.OnesCount64(letters^letterSet(other)) <= 2*distance && edits(typed, []rune(other)) == distance {
			similar = append(similar, other)
		}
	}
	slices.Sort(similar)
	return slices.Compact(similar)
}

// letterSet returns the set of a word's letters. An edit adds and removes one letter at most, which
// excludes most words cheaply.
func letterSet(word string) (set uint64) {
	for _, r := range word {
		set |= 1 << (r % 64)
	}
	return set
}

// features returns LIKE patterns, at least one of which matches every similar word: the first
// letter, the last two, and any three in a row. These are the trigrams of pg_trgm, so its index
// serves them. A word of n letters has n+1 trigrams; an edit changes three of them, a swap four.
// All trigrams of a short word may change, so the words with two neighbours swapped are included.
func features(word string) (patterns []string) {
	variants := [][]rune{[]rune(word)}
	if n := len(variants[0]); n+1 <= 4*maxEdits(word) {
		for i := range n - 1 {
			variant := slices.Clone(variants[0])
			variant[i], variant[i+1] = variant[i+1], variant[i]
			variants = append(variants, variant)
		}
	}
	for _, letters := range variants {
		patterns = append(patterns, string(letters[:1])+"%", "%"+string(letters[len(letters)-2:]))
		for i := range letters[2:] {
			patterns = append(patterns, "%"+string(letters[i:i+3])+"%")
		}
	}
	slices.Sort(patterns)
	return slices.Compact(patterns)
}

// edits returns the optimal string alignment distance between two words.
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

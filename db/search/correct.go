package search

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"library-catalogue/db/dialect"
	"library-catalogue/db/query"
)

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
func (s *Search) correct(ctx context.Context, d *dialect.Dialect, run Select) error {
	var mistyped []string
	for _, t := range s.terms {
		if maxEdits(len([]rune(t.word))) > 0 && !strings.ContainsAny(t.word, "0123456789") {
			mistyped = append(mistyped, t.word)
		}
	}
	vocabulary, err := s.vocabulary(ctx, d, run, mistyped)
	if err != nil {
		return err
	}
	corrected := map[string][]string{}
	for n := 1; n <= 2; n++ {
		candidates := map[string][]string{} // n edits away
		var all []string
		for _, word := range mistyped {
			if len(corrected[word]) == 0 && candidates[word] == nil {
				candidates[word] = similar(word, vocabulary, n)
				all = append(all, candidates[word]...)
			}
		}
		existing, err := s.existing(ctx, d, run, all)
		if err != nil {
			return err
		}
		for word, others := range candidates {
			corrected[word] = slices.DeleteFunc(others, func(other string) bool { return !slices.Contains(existing, other) })
		}
	}
	for i, t := range s.terms {
		for _, other := range corrected[t.word] {
			s.terms[i].others = append(s.terms[i].others, []string{other})
		}
	}
	return nil
}

// vocabulary reads words of the table among which are all that are similar to one of
// these.
func (s *Search) vocabulary(ctx context.Context, d *dialect.Dialect, run Select, words []string) (found []string, err error) {
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
	b := query.New(d)
	err = run(ctx, &found, s.engine.vocabulary(b, s.table.Name, max(shortest, shortestKnown), longest, patterns), b.Args...)
	return found, err
}

// existing reads which of the words the table has: the vocabulary may have some that
// went with their last row.
func (s *Search) existing(ctx context.Context, d *dialect.Dialect, run Select, words []string) (found []string, err error) {
	if len(words) == 0 {
		return nil, nil
	}
	b := query.New(d)
	err = run(ctx, &found, s.engine.existing(b, s.table.Name, words), b.Args...)
	return found, err
}

// similar returns the words that a mistyped one may stand for: those that share a
// feature with it and are so many edits away.
func similar(word string, vocabulary []string, distance int) (similar []string) {
	typed := []rune(word)
	if distance > maxEdits(len(typed)) {
		return nil
	}
	patterns := features(word)
	for _, other := range vocabulary {
		if n := utf8.RuneCountInString(other); n < len(typed)-distance || n > len(typed)+distance || !shareFeature(patterns, other) {
			continue
		}
		if edits(typed, []rune(other)) == distance {
			similar = append(similar, other)
		}
	}
	slices.Sort(similar)
	similar = slices.Compact(similar)
	return similar[:min(len(similar), maxCorrections)]
}

// features returns the patterns, as of LIKE, of which similar words share one at least:
// the first letter, the last two, or any three in a row. They are the trigrams of
// pg_trgm, whose index can find them.
func features(word string) []string {
	runes := []rune(word)
	out := []string{string(runes[:1]) + "%", "%" + string(runes[len(runes)-2:])}
	for i := range runes[:len(runes)-2] {
		out = append(out, "%"+string(runes[i:i+3])+"%")
	}
	return out
}

func shareFeature(patterns []string, word string) bool {
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

// edits returns the number of edits between two words (the optimal string alignment
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

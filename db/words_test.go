package db_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/search"
	"library-catalogue/graph/model/collate"
)

// TestWords holds both databases to collate.Words: for every character that is
// not its own folded form, or that a range of signs begins or ends with, and for
// a part of the others.
func TestWords(t *testing.T) {
	t.Parallel()
	words := func(r rune) int { return len(collate.Words("a" + string(r) + "b")) } // 1: r is of a word, 2: a sign, 3: a word by itself
	texts := []string{"plain", "Héllo, World—foo “bar” C++", "日本語のテスト2", "ﬁn 3.14 ½", "'Salem’s Lot's ’s 's's a''s 三's a's三 'sblood a’sb he's\u0301 her’ſ IT’S", "\u212B\u2126\u212A", strings.Repeat("a", 400) + " b"}
	var chunk []rune
	before, at, after := 0, words(0), words(1)
	for r := rune(1); r <= utf8.MaxRune; r++ {
		before, at, after = at, after, words(r+1)
		edge := before != at || at != after
		if !utf8.ValidRune(r) || !edge && collate.Fold(string(r)) == string(r) && r > 0x250 && r%101 != 0 {
			continue
		}
		if chunk = append(chunk, 'a', r, 'b', ' '); len(chunk) >= 200 { // triggers take time by the square of it
			texts = append(texts, string(chunk))
			chunk = chunk[:0]
		}
	}
	texts = append(texts, string(chunk)+"end", "you’ll Wi-Fi catch-22's a-b-c-d-e-f O'Reilly-Smith’s")
	texts = append(texts, randomTexts("aabs''’-‐ . 三\u00ad\u0301½")...)
	catalogtest.Each(t, func(t *testing.T, url string) {
		home := newShelf(t, open(t, url))
		program := other(t, url)
		for _, text := range texts {
			words, joined := collate.Entries(text)
			want, got := strings.Join(slices.Concat(words, joined), " "), ""
			if isSQLite(url) {
				exec(t, program, `UPDATE books SET description = $1 WHERE id = $2`, text, home.book.ID)
				want, got = search.Words(text), ask[string](t, program, `SELECT description FROM books_search`)
			} else {
				got = ask[string](t, program, `SELECT words(fold($1))`, text)
				further := strings.Fields(ask[string](t, program, `SELECT joined(fold($1))`, text))
				further = slices.DeleteFunc(further, func(word string) bool { return slices.Contains(words, word) && !slices.Contains(joined, word) })
				got = strings.Join(append([]string{got}, further...), " ")
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the words of %q (-want +got):\n%s", text, diff)
			}
		}
	})
}

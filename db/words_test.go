package db_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model/collate"
)

// TestWords holds both databases to collate.Words: for every character that is
// not its own folded form, or that a range of signs begins or ends with, and for
// a part of the others.
func TestWords(t *testing.T) {
	t.Parallel()
	words := func(r rune) int { return len(collate.Words("a" + string(r) + "b")) } // 1: r is of a word, 2: a sign, 3: a word by itself
	texts := []string{"plain", "Héllo, World—foo “bar” C++", "日本語のテスト2", "ﬁn 3.14 ½", "\u212B\u2126\u212A", strings.Repeat("a", 400) + " b"}
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
	texts = append(texts, string(chunk)+"end")
	catalogtest.Each(t, func(t *testing.T, url string) {
		home := newShelf(t, open(t, url))
		program := other(t, url)
		words := `SELECT words($1)`
		if isSQLite(url) {
			words = `SELECT description FROM books_search`
		}
		for _, text := range texts {
			args := []any{text}
			if isSQLite(url) {
				exec(t, program, `UPDATE books SET description = $1 WHERE id = $2`, text, home.book.ID)
				args = nil
			}
			// The tokenizer of FTS5 takes the signs of ASCII away.
			got := strings.FieldsFunc(ask[string](t, program, words, args...), func(r rune) bool {
				return r < utf8.RuneSelf && !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9')
			})
			if diff := cmp.Diff(collate.Words(text), got); diff != "" {
				t.Errorf("the words of %q (-want +got):\n%s", text, diff)
			}
		}
		if isSQLite(url) {
			exec(t, program, `UPDATE books SET description = 'Ä-b_c''d"e*F' WHERE id = $1`, home.book.ID)
			got := strings.Fields(ask[string](t, program, `SELECT group_concat(term, ' ') FROM books_vocabulary`))
			if want := []string{"a", "b", "c", "d", "e", "f"}; !slices.Equal(got[:len(want)], want) {
				t.Errorf("the tokens are %q, want %q first", got, want)
			}
		}
	})
}

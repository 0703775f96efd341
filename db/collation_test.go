package db_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

// TestFold holds both databases to collate.Fold: for every character that is not
// its own folded form, and for a part of the others. The rows are another
// program's.
func TestFold(t *testing.T) {
	t.Parallel()
	texts := []string{"Émile Zola, ÉMILE", "ΣΊΣΥΦΟς", "e\u0301E\u0301", "\u0301", "O’Brien – “Straße”", "\u1112\u1161\u11ab\u1100\u116e\u11a8어 \u1100\u1161\u1100\u1161\u11a8 가\u11a8 각\u11a8 \u1112\u0301\u1161 \u11a8\u1161\u1100", "plain", "PLAIN 'quoted'"}
	var chunk []rune
	for r := rune(1); r <= utf8.MaxRune; r++ {
		if s := string(r); !utf8.ValidRune(r) || collate.Fold(s) == s && r > 0x3000 && r%101 != 0 {
			continue
		}
		if chunk = append(chunk, r); len(chunk) == 200 { // triggers take time by the square of it
			texts = append(texts, string(chunk))
			chunk = chunk[:0]
		}
	}
	texts = append(texts, string(chunk))
	texts = append(texts, randomTexts("aAéß \t\u00a0\u00ad\u200bﬁ½\u0301\u0345\u0655\u0653\u094d\u093c\u05b4\u064b\u3099かｶﾞ\u1100\u1161\u11a8가ㄱㅏￂ")...)
	catalogtest.Each(t, func(t *testing.T, url string) {
		home := newShelf(t, open(t, url))
		program := other(t, url)
		for _, text := range texts {
			want := collate.Fold(text)
			exec(t, program, `INSERT INTO books (name, author, pages, published_at, price_cents, genre_id) VALUES ($1, 'x', 1, '2000-01-01', 0, $2)`, text, home.genre.ID)
			id := ask[int64](t, program, `SELECT max(id) FROM books`)
			if diff := cmp.Diff(want, ask[string](t, program, `SELECT name_fold FROM books WHERE id = $1`, id)); diff != "" {
				t.Errorf("name_fold after INSERT (-want +got):\n%s", diff)
			}
			exec(t, program, `UPDATE books SET author = $1 WHERE id = $2`, text, id)
			if diff := cmp.Diff(want, ask[string](t, program, `SELECT author_fold FROM books WHERE id = $1`, id)); diff != "" {
				t.Errorf("author_fold after UPDATE (-want +got):\n%s", diff)
			}
		}
		for _, table := range []string{"genres", "categories"} {
			exec(t, program, `UPDATE `+table+` SET name = 'ÉTÉ'`)
			if got := ask[string](t, program, `SELECT name_fold FROM `+table); got != "ete" {
				t.Errorf("name_fold of %s after UPDATE = %q", table, got)
			}
		}
	})
}

// randomTexts returns texts of some characters, the same for each run.
func randomTexts(characters string) (texts []string) {
	random, runes := rand.New(rand.NewPCG(1, 2)), []rune(characters)
	for range 300 {
		text := []rune{'x'} // a name is not empty
		for range 1 + random.IntN(12) {
			text = append(text, runes[random.IntN(len(runes))])
		}
		texts = append(texts, string(text))
	}
	return texts
}

// TestFoldOfDescriptions looks for texts in descriptions without regard to case and
// accents, and at the index that PostgreSQL has for it.
func TestFoldOfDescriptions(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		exec(t, program, `INSERT INTO categories (name) VALUES ('Fiction')`)
		exec(t, program, `INSERT INTO genres (name, category_id) VALUES ('Novel', 1)`)
		for _, description := range []string{`'Un été'`, `'An evening'`, `NULL`} {
			exec(t, program, `INSERT INTO books (name, description, author, pages, published_at, price_cents, genre_id) VALUES ('B', `+description+`, 'A', 1, '2000-01-01', 0, 1)`)
		}
		for text, want := range map[string]int{"ETE": 1, "éte": 1, "an": 1, "n": 2, "x": 0, "ＥＴ\u200bＥ": 1, "": 0, " ": 0, "\u0301\u00ad": 0} {
			where := &model.Condition{Op: model.ContainsFolded, Field: "description", Operand: text}
			for _, where := range []*model.Condition{where, {Op: model.Not, Of: []*model.Condition{where}}} {
				if got := must[int](t)(s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{Where: where})); got != want {
					t.Errorf("%d descriptions: %v %q, want %d", got, where.Op, text, want)
				}
				want = 3 - want
			}
		}
		// What an exact filter finds does not depend on the folded forms.
		for name, part := range map[string]string{"ㄱㅏ": "ㅏ", "x\u0655\u0653": "x\u0655", "\u00ad": "\u00ad", "a\u00a0 b": "\u00a0 b", "\u0301!": "\u0301", "ﬁn": "ﬁ"} {
			exec(t, program, `UPDATE books SET name = $1 WHERE id = 1`, name)
			for _, op := range []model.Op{model.Contains, model.StartsWith, model.EndsWith} {
				is := map[model.Op]func(string, string) bool{model.Contains: strings.Contains, model.StartsWith: strings.HasPrefix, model.EndsWith: strings.HasSuffix}[op]
				got := must[int](t)(s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{Where: &model.Condition{Op: op, Field: "name", Operand: part}}))
				if is(name, part) != (got == 1) {
					t.Errorf("%d books: %q %v %q", got, name, op, part)
				}
			}
		}
		if !isSQLite(url) {
			index := ask[string](t, program, `SELECT indexdef FROM pg_indexes WHERE indexname = 'books_description_trigrams'`)
			if !strings.Contains(index, "(description_fold gin_trgm_ops") {
				t.Errorf("the index is %s", index)
			}
		}
	})
}

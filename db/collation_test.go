package db_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest"
	"library-catalogue/graph/model"
)

// TestFold holds both databases to model.Fold: for every character that is not
// its own folded form, and for a part of the others. The rows are another
// program's.
func TestFold(t *testing.T) {
	texts := []string{"Émile Zola, ÉMILE", "ΣΊΣΥΦΟς", "e\u0301E\u0301", "\u0301", "O’Brien – “Straße”", "plain", "PLAIN 'quoted'"}
	var chunk []rune
	for r := rune(1); r <= utf8.MaxRune; r++ {
		if s := string(r); !utf8.ValidRune(r) || model.Fold(s) == s && r > 0x3000 && r%101 != 0 {
			continue
		}
		if chunk = append(chunk, r); len(chunk) == 1000 {
			texts = append(texts, string(chunk))
			chunk = chunk[:0]
		}
	}
	texts = append(texts, string(chunk))
	dbtest.Each(t, func(t *testing.T, url string) {
		home := newShelf(t, migrated(t, url))
		program := other(t, url)
		for _, text := range texts {
			want := model.Fold(text)
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

// TestFoldOfOldRows migrates a catalogue whose rows are older than the folded
// columns: it changes nothing else about them.
func TestFoldOfOldRows(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		if err := s.MigrateTo(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		exec(t, program, `INSERT INTO categories (name) VALUES ('Été')`)
		exec(t, program, `INSERT INTO genres (name, category_id) VALUES ('Poésie', 1)`)
		exec(t, program, `INSERT INTO books (name, author, pages, published_at, price_cents, genre_id) VALUES ('Œuvres', 'Émile', 1, '2000-01-01', 0, 1)`)
		before := revision(t, s)
		if err := s.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := ask[string](t, program, `SELECT c.name_fold || ' ' || g.name_fold || ' ' || b.name_fold || ' ' || b.author_fold || ' ' || (b.version + c.version + g.version)
FROM books b, genres g, categories c`)
		if want := "ete poesie oeuvres emile 3"; got != want {
			t.Errorf("folded columns and versions = %q, want %q", got, want)
		}
		if after := revision(t, s); after != before {
			t.Errorf("the revision went from %d to %d", before, after)
		}
	})
}

// TestDescriptionsOfOldRows migrates a catalogue that is older than conditions
// on folded descriptions, with the index that was made for them then.
func TestDescriptionsOfOldRows(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		if err := s.MigrateTo(t.Context(), 3); err != nil {
			t.Fatal(err)
		}
		exec(t, program, `INSERT INTO categories (name) VALUES ('Fiction')`)
		exec(t, program, `INSERT INTO genres (name, category_id) VALUES ('Novel', 1)`)
		for _, description := range []string{`'Un été'`, `'An evening'`, `NULL`} {
			exec(t, program, `INSERT INTO books (name, description, author, pages, published_at, price_cents, genre_id) VALUES ('B', `+description+`, 'A', 1, '2000-01-01', 0, 1)`)
		}
		if !isSQLite(url) {
			exec(t, program, `CREATE EXTENSION IF NOT EXISTS pg_trgm`)
			exec(t, program, `CREATE INDEX books_description_trigrams ON books USING gin (fold(description) gin_trgm_ops)`)
		}
		if err := s.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		for text, want := range map[string]int{"ETE": 1, "éte": 1, "an": 1, "n": 2, "": 2, "x": 0} {
			where := &model.Condition{Op: model.ContainsFolded, Field: "description", Operand: text}
			if got := must[int](t)(s.CountBooks(t.Context(), model.Match{Where: where})); got != want {
				t.Errorf("%d descriptions contain %q, want %d", got, text, want)
			}
		}
		if !isSQLite(url) {
			index := ask[string](t, program, `SELECT indexdef FROM pg_indexes WHERE indexname = 'books_description_trigrams'`)
			if !strings.Contains(index, "(description_fold ||") {
				t.Errorf("the index is %s", index)
			}
		}
	})
}

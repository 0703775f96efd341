package db_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
)

func containing(field, part string) *model.Page {
	return &model.Page{Limit: 1000, Match: model.Match{Where: &model.Condition{Op: model.ContainsFolded, Field: field, Operand: part}}}
}

// TestShortParts looks for parts of one and two characters, with all sorts of
// characters beside them: what finds them is no index of trigrams.
func TestShortParts(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, databaseURL string) {
		s := migrated(t, databaseURL)
		home := newShelf(t, s)
		beside := []string{"", "a", "7", " ", "\n", "#", "ж", "日", "’", "Q", "q", "\x7f", "\U0010FFFF"}
		var names []string
		for _, part := range []string{"zq", "Q7", "7#", "%", "??", `\`, "ßz", "q of", "é: of"} {
			for _, before := range beside {
				for _, after := range beside {
					names = append(names, before+part+after)
				}
			}
		}
		err := s.Write(t.Context(), func(ctx context.Context) error {
			for _, name := range names {
				if _, err := s.CreateBook(ctx, newBook(name, home.genre.ID)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		all := must[[]*model.Book](t)(s.Books(t.Context(), &model.Page{Limit: 10_000}))
		for _, part := range []string{"zq", "q7", "Q7", "7q", "77", "aa", "ss", "sz", "q", "qq", "aq", "7#q", "zqq", "#", "##", "7#", "%", "?", "??", `\`, "z", "жж", "’", "\x01", "e", "_",
			"q of", "Q OF", "q o", "é: of", "e: o", "7 of", "a q of", "of"} {
			var want, got []model.ID
			for _, b := range all {
				if strings.Contains(model.Fold(b.Name), model.Fold(part)) {
					want = append(want, b.ID)
				}
			}
			page := containing("name", part)
			page.Limit = 10_000
			for _, b := range must[[]*model.Book](t)(s.Books(t.Context(), page)) {
				got = append(got, b.ID)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%q is in %d names, want %d of %d", part, len(got), len(want), len(all))
			}
			atEnd := &model.Page{Limit: 10_000, Match: model.Match{Where: &model.Condition{Op: model.EndsWithFolded, Field: "name", Operand: part}}}
			ends := 0
			for _, b := range all {
				if strings.HasSuffix(model.Fold(b.Name), model.Fold(part)) {
					ends++
				}
			}
			if got := must[[]*model.Book](t)(s.Books(t.Context(), atEnd)); len(got) != ends {
				t.Errorf("%q ends %d names, want %d", part, len(got), ends)
			}
			none := &model.Page{Limit: 10_000, Match: model.Match{Where: &model.Condition{Op: model.Not, Of: []*model.Condition{page.Where}}}}
			if rest := must[[]*model.Book](t)(s.Books(t.Context(), none)); len(rest)+len(want) != len(all) {
				t.Errorf("%q is not in %d names, want %d", part, len(rest), len(all)-len(want))
			}
		}
	})
}

// TestPartsHaveIndexes wants PostgreSQL to look at no more rows for a short part than
// for a long one, nor for an exact one with odd letters.
func TestPartsHaveIndexes(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(dbtest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	values := u.Query()
	values.Set("options", "-c enable_seqscan=off -c enable_indexscan=off") // there are too few rows to make them dear
	u.RawQuery = values.Encode()
	s := migrated(t, u.String())
	home := newShelf(t, s)
	for range 100 {
		if _, err := s.CreateBook(t.Context(), newBook("Some words of a name", home.genre.ID)); err != nil {
			t.Fatal(err)
		}
	}
	_, writer := db.Pools(s)
	if _, err := writer.ExecContext(t.Context(), `ANALYZE books`); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"name", "author", "description"} {
		for part, indexes := range map[string][]string{
			"zq": {"books_" + field + "_trigrams", "books_lone_pairs"}, "#": {"books_rare_signs"}, "??": {"books_rare_signs"},
		} {
			wantIndexes(t, s, containing(field, part), indexes...)
		}
		parts := []string{"é", "Émile"}
		if field != "description" {
			parts = append(parts, "WORDS", "nAm")
		}
		for _, part := range parts {
			for _, op := range []model.Op{model.Contains, model.StartsWith, model.EndsWith} {
				page := containing(field, part)
				page.Where.Op = op
				wantIndexes(t, s, page, "books_odd_letters")
			}
		}
	}
}

// TestLoneLettersAreForeseen wants PostgreSQL to know that an index finds more texts
// than have a part, where a letter of the part is in no trigram.
func TestLoneLettersAreForeseen(t *testing.T) {
	t.Parallel()
	address := dbtest.Postgres(t)
	s := migrated(t, address)
	home, program := newShelf(t, s), other(t, address)
	addBooks(t, program, 1000, home.genre.ID)
	exec(t, program, `UPDATE books SET name = 'Book ' || id || ' of it', author = 'Author ' || id || ' of it', description = 'About ' || id || ' of it'`)
	exec(t, program, `VACUUM ANALYZE books`)
	for _, field := range []string{"name", "author", "description"} {
		for _, op := range []model.Op{model.ContainsFolded, model.EndsWithFolded} {
			page := containing(field, "7 of it")
			page.Where.Op = op
			if plan := planOf(t, s, page); strings.Contains(plan, "books_"+field+"_trigrams") {
				t.Errorf("%s %s %s is looked for in an index that has all:\n%s", field, op, page.Where.Operand, plan)
			}
		}
	}
}

// TestPartsAreForeseen wants PostgreSQL to have looked at the texts in the indexes of
// parts as soon as a database with books is opened, in which it had not.
func TestPartsAreForeseen(t *testing.T) {
	t.Parallel()
	address := dbtest.Postgres(t)
	s := migrated(t, address)
	home, program := newShelf(t, s), other(t, address)
	addBooks(t, program, 400, home.genre.ID)
	exec(t, program, `UPDATE books SET name = 'Book ' || id, author = 'Author ' || id, description = 'It is about ' || id`)
	for _, field := range []string{"name", "author", "description"} {
		exec(t, program, `DROP INDEX books_`+field+`_trigrams`)
	}
	if err := s.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"name", "author", "description"} {
		texts := ask[int](t, program, `SELECT array_length(histogram_bounds::text::text[], 1) FROM pg_stats WHERE tablename = $1`, "books_"+field+"_trigrams")
		if texts != 301 { // the bounds of 300 parts
			t.Errorf("PostgreSQL keeps %d texts of the index of %ss, want 301", texts, field)
		}
	}
}

// wantIndexes wants a page to be read by all of these indexes.
func wantIndexes(t *testing.T, s *db.Store, page *model.Page, indexes ...string) {
	t.Helper()
	plan := planOf(t, s, page)
	for _, index := range indexes {
		if !strings.Contains(plan, `"`+index+`"`) {
			t.Errorf("books with %+v, by %v, are not found by %s:\n%s", page.Where, page.Order, index, plan)
		}
	}
}

// planOf gives what PostgreSQL does to read a page.
func planOf(t *testing.T, s *db.Store, page *model.Page) string {
	t.Helper()
	ctx, record := stats.With(t.Context())
	explanation := record.Explain(func(context.Context) string { return "" })
	must[[]*model.Book](t)(s.Books(ctx, page))
	statements, _ := explanation.Statements()
	plan, err := statements[0].Plan(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return string(plan)
}

// TestExactParts looks for parts as they are written, among texts that are the same
// but for case and accents, in each field and turned round.
func TestExactParts(t *testing.T) {
	t.Parallel()
	texts := []string{"book", "Book", "BOOK", "bOok", "aBook", "Bóok", "BÓOK", "bo\u0301ok", "Жук", "жук", "ŋ", "Ŋ", "日本", "x†y", "e, f", strings.Repeat("é", 150), "long " + strings.Repeat("e", 150)}
	parts := append([]string{"B", "b", "OO", "oO", "É", "é", "e", "Ж", "ж", "Жу", "†", "本", "e,", "\u0301", "q", "Q"}, texts...)
	dbtest.Each(t, func(t *testing.T, databaseURL string) {
		s := migrated(t, databaseURL)
		home := newShelf(t, s)
		if err := s.DeleteBook(t.Context(), home.book.ID, nil); err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			book := newBook(text, home.genre.ID)
			book.Author, book.Description = text, graphql.OmittableOf(&text)
			must[*model.Book](t)(s.CreateBook(t.Context(), book))
		}
		all := must[[]*model.Book](t)(s.Books(t.Context(), &model.Page{Limit: 1000}))
		for field, value := range map[string]func(*model.Book) string{
			"name": func(b *model.Book) string { return b.Name }, "author": func(b *model.Book) string { return b.Author },
			"description": func(b *model.Book) string { return *b.Description },
		} {
			for _, part := range parts {
				for op, has := range map[model.Op]func(text, part string) bool{
					model.Contains: strings.Contains, model.StartsWith: strings.HasPrefix, model.EndsWith: strings.HasSuffix,
					model.ContainsFolded: func(text, part string) bool { return strings.Contains(model.Fold(text), model.Fold(part)) },
				} {
					var found, others []model.ID
					for _, b := range all {
						if has(value(b), part) {
							found = append(found, b.ID)
						} else {
							others = append(others, b.ID)
						}
					}
					page := containing(field, part)
					page.Where.Op = op
					if got := idsOf(must[[]*model.Book](t)(s.Books(t.Context(), page))); fmt.Sprint(got) != fmt.Sprint(found) {
						t.Errorf("%s %s %q: %v, want %v", field, op, part, got, found)
					}
					page.Where = &model.Condition{Op: model.Not, Of: []*model.Condition{page.Where}}
					if got := idsOf(must[[]*model.Book](t)(s.Books(t.Context(), page))); fmt.Sprint(got) != fmt.Sprint(others) {
						t.Errorf("not %s %s %q: %v, want %v", field, op, part, got, others)
					}
				}
			}
		}
	})
}

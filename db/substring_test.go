package db_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/jmoiron/sqlx"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

func containing(field, part string) *model.Page {
	return &model.Page{Limit: 1000, Selection: model.Selection{Where: &model.Condition{Op: model.ContainsFolded, Field: field, Operand: part}}}
}

// TestShortSubstrings looks for parts of one and two characters, with all sorts of
// characters beside them: no index of trigrams finds them.
func TestShortSubstrings(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, databaseURL string) {
		s := open(t, databaseURL)
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
				if _, err := s.Books.Create(ctx, newBook(name, home.genre.ID)); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		all := must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.Page(t.Context(), &model.Page{Limit: 10_000}))
		for _, part := range []string{"zq", "q7", "Q7", "7q", "77", "aa", "ss", "sz", "q", "qq", "aq", "7#q", "zqq", "#", "##", "7#", "%", "?", "??", `\`, "z", "жж", "’", "\x01", "e", "_",
			"q of", "Q OF", "q o", "é: of", "e: o", "7 of", "a q of", "of"} {
			var want, got []model.ID
			for _, b := range all {
				if strings.Contains(collate.Fold(b.Name), collate.Fold(part)) {
					want = append(want, b.ID)
				}
			}
			page := containing("name", part)
			page.Limit = 10_000
			for _, b := range must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.Page(t.Context(), page)) {
				got = append(got, b.ID)
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("%q is in %d names, want %d of %d", part, len(got), len(want), len(all))
			}
			atEnd := &model.Page{Limit: 10_000, Selection: model.Selection{Where: &model.Condition{Op: model.EndsWithFolded, Field: "name", Operand: part}}}
			ends := 0
			for _, b := range all {
				if strings.HasSuffix(collate.Fold(b.Name), collate.Fold(part)) {
					ends++
				}
			}
			if got := must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.Page(t.Context(), atEnd)); len(got) != ends {
				t.Errorf("%q ends %d names, want %d", part, len(got), ends)
			}
			none := &model.Page{Limit: 10_000, Selection: model.Selection{Where: &model.Condition{Op: model.Not, Of: []*model.Condition{page.Where}}}}
			if rest := must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.Page(t.Context(), none)); len(rest)+len(want) != len(all) {
				t.Errorf("%q is not in %d names, want %d", part, len(rest), len(all)-len(want))
			}
		}
	})
}

// TestSubstringsHaveIndexes wants PostgreSQL to look for a part of a text, and for an
// end, by an index.
func TestSubstringsHaveIndexes(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(catalogtest.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	values := u.Query()
	values.Set("options", "-c enable_seqscan=off -c enable_indexscan=off") // there are too few rows to make them expensive
	u.RawQuery = values.Encode()
	s := open(t, u.String())
	home := newShelf(t, s)
	for range 100 {
		must[*model.Book](t)(s.Books.Create(t.Context(), newBook("Some words of a name", home.genre.ID)))
	}
	_, writer := db.Pools(s)
	exec(t, writer, `ANALYZE books`)
	for _, field := range []string{"name", "author", "description"} {
		for _, op := range []model.Op{model.Contains, model.EndsWith, model.ContainsFolded, model.EndsWithFolded} {
			page := containing(field, "Émile")
			page.Where.Op = op
			wantIndexes(t, s, page, "books_"+field+"_trigrams")
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

// planOf returns what the database does to read a page.
func planOf(t *testing.T, s *db.Store, page *model.Page) string {
	t.Helper()
	return planOfRead(t, s, func(ctx context.Context) error { return second(s.Unchecked(ctx).Books.Page(ctx, page)) })
}

// planOfRead returns what the database does in the last statement of a read, whatever its
// arguments are.
func planOfRead(t *testing.T, s *db.Store, read func(context.Context) error) string {
	t.Helper()
	text := ""
	s.Observe(func(_ context.Context, statement stats.Statement) { text = statement.Text })
	defer s.Observe(nil)
	if err := read(t.Context()); err != nil {
		t.Fatal(err)
	}
	arguments := 0
	for _, placeholder := range regexp.MustCompile(`[$][0-9]+`).FindAllString(text, -1) {
		arguments = max(arguments, must[int](t)(strconv.Atoi(placeholder[1:])))
	}
	reader, _ := db.Pools(s)
	if s.System() == "postgresql" {
		tx := must[*sql.Tx](t)(reader.BeginTx(t.Context(), nil))
		defer tx.Rollback()
		nulls := "(NULL" + strings.Repeat(", NULL", max(arguments, 1)-1) + ")"
		var plan string
		if err := errors.Join(second(tx.ExecContext(t.Context(), `SET LOCAL plan_cache_mode = force_generic_plan`)),
			second(tx.ExecContext(t.Context(), `PREPARE explained AS `+text)),
			tx.QueryRowContext(t.Context(), `EXPLAIN (FORMAT JSON) EXECUTE explained`+nulls).Scan(&plan),
			second(tx.ExecContext(t.Context(), `DEALLOCATE explained`))); err != nil {
			t.Fatal(err)
		}
		return plan
	}
	var steps []struct {
		ID, Parent, NotUsed int
		Detail              string
	}
	if err := sqlx.NewDb(reader, "sqlite").SelectContext(t.Context(), &steps, `EXPLAIN QUERY PLAN `+text, make([]any, arguments)...); err != nil {
		t.Fatal(err)
	}
	plan := ""
	for _, step := range steps {
		plan += fmt.Sprintf("%q\n", step.Detail)
	}
	return plan
}

// TestExactSubstrings looks for parts as they are written, among texts that are the same
// but for case and accents, in each field and turned round.
func TestExactSubstrings(t *testing.T) {
	t.Parallel()
	texts := []string{"book", "Book", "BOOK", "bOok", "aBook", "Bóok", "BÓOK", "bo\u0301ok", "Жук", "жук", "ŋ", "Ŋ", "日本", "x†y", "e, f", strings.Repeat("é", 150), "long " + strings.Repeat("e", 150)}
	parts := append([]string{"B", "b", "OO", "oO", "É", "é", "e", "Ж", "ж", "Жу", "†", "本", "e,", "\u0301", "q", "Q"}, texts...)
	catalogtest.Each(t, func(t *testing.T, databaseURL string) {
		s := open(t, databaseURL)
		home := newShelf(t, s)
		if err := s.Books.Delete(t.Context(), home.book.ID, nil, model.Cascade); err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			book := newBook(text, home.genre.ID)
			book.Author, book.Description = text, graphql.OmittableOf(&text)
			must[*model.Book](t)(s.Books.Create(t.Context(), book))
		}
		all := must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.Page(t.Context(), &model.Page{Limit: 1000}))
		for field, value := range map[string]func(*model.Book) string{
			"name": func(b *model.Book) string { return b.Name }, "author": func(b *model.Book) string { return b.Author },
			"description": func(b *model.Book) string { return *b.Description },
		} {
			for _, part := range parts {
				for op, has := range map[model.Op]func(text, part string) bool{
					model.Contains: strings.Contains, model.StartsWith: strings.HasPrefix, model.EndsWith: strings.HasSuffix,
					model.ContainsFolded: func(text, part string) bool {
						return collate.Fold(part) != "" && strings.Contains(collate.Fold(text), collate.Fold(part))
					},
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
					if got := idsOf(must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.Page(t.Context(), page))); fmt.Sprint(got) != fmt.Sprint(found) {
						t.Errorf("%s %s %q: %v, want %v", field, op, part, got, found)
					}
					page.Where = &model.Condition{Op: model.Not, Of: []*model.Condition{page.Where}}
					if got := idsOf(must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.Page(t.Context(), page))); fmt.Sprint(got) != fmt.Sprint(others) {
						t.Errorf("not %s %s %q: %v, want %v", field, op, part, got, others)
					}
				}
			}
		}
	})
}

package db_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/graph/model"
)

func containing(field, part string) *model.Page {
	return &model.Page{Limit: 1000, Match: model.Match{Where: &model.Condition{Op: model.ContainsFolded, Field: field, Operand: part}}}
}

// TestShortParts looks for parts of one and two characters, with all sorts of
// characters beside them: what finds them is no index of trigrams.
func TestShortParts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, databaseURL string) {
		s := migrated(t, databaseURL)
		home := newShelf(t, s)
		beside := []string{"", "a", "7", " ", "\n", "#", "ж", "日", "’", "Q", "q", "\x7f", "\U0010FFFF"}
		var names []string
		for _, part := range []string{"zq", "Q7", "7#", "%", "??", `\`, "ßz"} {
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
		for _, part := range []string{"zq", "q7", "Q7", "7q", "77", "aa", "ss", "sz", "q", "qq", "aq", "7#q", "zqq", "#", "##", "7#", "%", "?", "??", `\`, "z", "жж", "’", "\x01", "e", "_"} {
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

// TestShortPartsHaveIndexes wants PostgreSQL to look at no more rows for a rare
// part than for a long one.
func TestShortPartsHaveIndexes(t *testing.T) {
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
			ctx, stats := model.WithStats(t.Context())
			explanation := stats.Explain()
			must[[]*model.Book](t)(s.Books(ctx, containing(field, part)))
			statements, _ := explanation.Statements()
			plan, err := statements[0].Plan(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, index := range indexes {
				if !strings.Contains(string(plan), index) {
					t.Errorf("%s with %s is not found by %s:\n%s", field, part, index, plan)
				}
			}
		}
	}
}

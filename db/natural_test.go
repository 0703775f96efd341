package db_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	gocmp "github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/doctor"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

// shelfMarks are texts of the signs that matter to natural order, and some of each kind of mark.
func shelfMarks() []string {
	marks := []string{
		"641/Bet", "641.5/Cor", "641.50", "641.555/Ray", "QA9 .D6", "QA76 .S73", "QA76.73 .A1", "PS3545.I345 A6 1998", "R 2", "R2", "r 010", "R 10", "v.2", "v.10",
		"641 .5", "1.2.10", ".5", "A.", "12", "رف ٢", "रत्न १०", "๙๙.๙", "Ｒ１２", "㊿ ⅷ", strings.Repeat("9", 200), strings.Repeat("0", 200), strings.Repeat("1a", 100),
		strings.Repeat("ﷺ", 100), strings.Repeat("𝟗9.", 60), "\u0301", "a\x01 1", "²³ ½", "[1] *?' 2",
	}
	for _, text := range randomTexts("aZé .. 0012359-/ ٢９") {
		marks = append(marks, strings.TrimPrefix(text, "x"))
	}
	return slices.DeleteFunc(marks, func(mark string) bool { return strings.TrimSpace(mark) == "" })
}

// TestNaturalKey holds both databases to collate.NaturalKey: for rows of another program, of this one and of one that does
// not know the key, and after changes of each.
func TestNaturalKey(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		home := newShelf(t, s)
		want := map[model.ID]string{}
		const insert = `INSERT INTO books (name, author, pages, published_at, price_cents, genre_id, shelf_mark`
		for i, mark := range shelfMarks() {
			var id model.ID
			switch {
			case i%3 == 0:
				in := newBook("B", home.genre.ID)
				in.ShelfMark = graphql.OmittableOf(&mark)
				id = must[*model.Book](t)(s.Books.Create(t.Context(), in)).ID
			case i%3 == 1 && isSQLite(url): // of a program before the key
				exec(t, program, insert+`, shelf_mark_fold, name_fold, name_words, author_fold, author_words, given_words)
VALUES ('B', 'x', 1, '2000-01-01', 0, $1, $2, $3, 'b', 'b', 'x', 'x', '')`, home.genre.ID, mark, collate.Fold(mark))
				id = model.ID(ask[int64](t, program, `SELECT max(id) FROM books`))
			default:
				exec(t, program, insert+`) VALUES ('B', 'x', 1, '2000-01-01', 0, $1, $2)`, home.genre.ID, mark)
				id = model.ID(ask[int64](t, program, `SELECT max(id) FROM books`))
			}
			want[id] = collate.NaturalKey(mark)
		}
		compare := func(when string) {
			t.Helper()
			for id, key := range want {
				if diff := gocmp.Diff(key, ask[string](t, program, `SELECT shelf_mark_key FROM books WHERE id = $1`, id)); diff != "" {
					t.Errorf("the key of book %d after %s (-want +got):\n%s", id, when, diff)
				}
			}
		}
		compare("INSERT")
		marks := shelfMarks()
		for i := range marks {
			id, mark := model.ID(i+1), marks[len(marks)-1-i]
			if i%2 == 0 {
				exec(t, program, `UPDATE books SET shelf_mark = $1 WHERE id = $2`, mark, id)
			} else {
				patch := &model.BookPatch{}
				patch.ShelfMark = graphql.OmittableOf(&mark)
				must[*model.Book](t)(s.Books.Update(t.Context(), id, patch, nil))
			}
			want[id] = collate.NaturalKey(mark)
		}
		compare("UPDATE")
		exec(t, program, `UPDATE books SET shelf_mark = NULL WHERE id = 1`)
		want[1] = ""
		compare("NULL")

		exec(t, program, `INSERT INTO passes VALUES (15, 'books', 0)`)
		if isSQLite(url) {
			exec(t, program, `UPDATE books SET shelf_mark_key = 'x' WHERE id < 100`)
		} else {
			exec(t, program, `ALTER TABLE books DISABLE TRIGGER books_fold; UPDATE books SET shelf_mark_key = 'x' WHERE id < 100; ALTER TABLE books ENABLE TRIGGER books_fold`)
		}
		changes := ask[int](t, program, `SELECT count(*) FROM changes`)
		if report := must[*doctor.Report](t)(doctor.Examine(t.Context(), url, false)); len(report.Problems) != 1 {
			t.Errorf("the doctor finds %+v", report.Problems)
		}
		check(t, s.Close())
		migrated(t, url)
		compare("the pass of the migration")
		if now := ask[int](t, program, `SELECT count(*) FROM changes`); now != changes {
			t.Errorf("the pass has logged %d changes", now-changes)
		}
	})
}

// TestNaturalOrder pages through books in both directions of their shelf marks, and filters by bounds of the order.
func TestNaturalOrder(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		home := newShelf(t, s)
		marks := append(shelfMarks(), shelfMarks()...)
		rand.New(rand.NewPCG(1, 3)).Shuffle(len(marks), func(i, j int) { marks[i], marks[j] = marks[j], marks[i] })
		all := []*model.Book{home.book}
		for _, mark := range marks {
			in := newBook("B", home.genre.ID)
			in.ShelfMark = graphql.OmittableOf(&mark)
			all = append(all, must[*model.Book](t)(s.Books.Create(t.Context(), in)))
		}
		keyOf := func(b *model.Book) string {
			if b.ShelfMark == nil {
				return ""
			}
			return collate.NaturalKey(*b.ShelfMark)
		}
		slices.SortFunc(all, func(a, b *model.Book) int { return cmp.Or(cmp.Compare(keyOf(a), keyOf(b)), cmp.Compare(a.ID, b.ID)) })
		for _, direction := range []string{"ASC", "DESC"} {
			want, got := idsOf(all), []model.ID(nil)
			if direction == "DESC" {
				slices.Reverse(want)
			}
			page := must[*model.Page](t)(model.PageArgs{OrderBy: []*model.OrderBy{{Field: "SHELF_MARK", Direction: direction}}}.Page("Book"))
			for len(got) < len(want) {
				rows := must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.Page(t.Context(), page))
				if len(rows) == 0 {
					break
				}
				got = append(got, idsOf(rows)...)
				last := rows[len(rows)-1]
				page.After = &model.Place{Keys: []any{keyOf(last)}, ID: last.ID}
			}
			if diff := gocmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", direction, diff)
			}
		}
		for _, operand := range []string{"R 2", "641.5", "QA76", "ｒ ２", ""} {
			for op, is := range map[model.Op]func(c int) bool{
				model.Gt: func(c int) bool { return c > 0 }, model.Gte: func(c int) bool { return c >= 0 },
				model.Lt: func(c int) bool { return c < 0 }, model.Lte: func(c int) bool { return c <= 0 },
			} {
				want := 0
				for _, b := range all {
					if b.ShelfMark != nil && is(cmp.Compare(keyOf(b), collate.NaturalKey(operand))) {
						want++
					}
				}
				where := &model.Condition{Op: op, Field: "shelfMark", Operand: operand}
				if got := must[int](t)(s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{Where: where})); got != want {
					t.Errorf("%s %q finds %d books, want %d", op, operand, got, want)
				}
			}
		}
		if isSQLite(url) {
			if columns := ask[string](t, program, `SELECT group_concat(name) FROM pragma_index_info('books_shelf_mark_key')`); columns != "shelf_mark_key,id" {
				t.Errorf("the index has %s", columns)
			}
		} else if index := ask[string](t, program, `SELECT indexdef FROM pg_indexes WHERE indexname = 'books_shelf_mark_key'`); !strings.HasSuffix(index, "(shelf_mark_key, id)") {
			t.Errorf("the index is %s", index)
		}
	})
}

package db_test

import (
	"fmt"
	"strings"
	"testing"

	"library-catalogue/db"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

// TestLongAuthors looks for parts of authors that are short enough for an index,
// and of such as are not, in every order, forwards and from either end.
func TestLongAuthors(t *testing.T) {
	onShelf(t, func(t *testing.T, s *db.Store, home shelf) {
		authors := []string{
			"Ann Needle", strings.Repeat("x", 93) + " needle", strings.Repeat("x", 94) + " needle", "needle " + strings.Repeat("y", 993),
			strings.Repeat("ß", 47) + "needle", strings.Repeat("ß", 48) + "needle", strings.Repeat("ж", 120) + "needle" + strings.Repeat("\U0010FFFF", 874),
			strings.Repeat("e\u0301", 60) + "NEEDLE", strings.Repeat("z", 1000), "Zoe", "nee dle", strings.Repeat("z", 100),
		}
		for i, author := range authors {
			in := newBook(fmt.Sprint("Book ", i), home.genre.ID)
			in.Author, in.Price, in.PublishedAt.Day = author, model.Cents(100*(i*7%5)), uint8(1+i*5%9)
			must[*model.Book](t)(s.Books.Create(t.Context(), in))
		}
		all := must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.Page(t.Context(), &model.Page{Limit: 100}))
		author := func(op model.Op, part string) *model.Condition {
			return &model.Condition{Op: op, Field: "author", Operand: part}
		}
		cheap := &model.Condition{Op: model.Lte, Field: "price", Operand: int64(300)}
		of := func(op model.Op, parts ...*model.Condition) *model.Condition {
			return &model.Condition{Op: op, Of: parts}
		}
		for _, part := range []string{"needle", "NEEDLE", "ssneedle", "жneedle", "z", "zo", "é", "#", "nee", "\U0010FFFF", strings.Repeat("z", 101)} {
			contains := func(b *model.Book) bool { return strings.Contains(collate.Fold(b.Author), collate.Fold(part)) }
			for name, tt := range map[string]struct {
				where *model.Condition
				want  func(*model.Book) bool
			}{
				"contains":           {author(model.ContainsFolded, part), contains},
				"ends":               {author(model.EndsWithFolded, part), func(b *model.Book) bool { return strings.HasSuffix(collate.Fold(b.Author), collate.Fold(part)) }},
				"not":                {of(model.Not, author(model.ContainsFolded, part)), func(b *model.Book) bool { return !contains(b) }},
				"contains and cheap": {of(model.And, cheap, author(model.ContainsFolded, part)), func(b *model.Book) bool { return contains(b) && b.Price <= 300 }},
				"contains or cheap":  {of(model.Or, cheap, author(model.ContainsFolded, part)), func(b *model.Book) bool { return contains(b) || b.Price <= 300 }},
			} {
				for _, field := range []string{"PUBLISHED_AT", "PRICE", "NAME"} {
					for _, descending := range []bool{false, true} {
						order := model.Order{Keys: []model.OrderKey{{Field: field, Descending: descending}}, IDDescending: descending}
						inOrder := must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.Page(t.Context(), &model.Page{Limit: 100, Order: order}))
						if len(inOrder) != len(all) {
							t.Fatalf("%d books by %s, want %d", len(inOrder), field, len(all))
						}
						var want, got []string
						for _, b := range inOrder {
							if tt.want(b) {
								want = append(want, b.Name)
							}
						}
						page := &model.Page{Limit: 2, Order: order, Selection: model.Selection{Where: tt.where}}
						for { // page after page
							books := must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.Page(t.Context(), page))
							for _, b := range books {
								got = append(got, b.Name)
							}
							if len(books) < page.Limit || len(got) > len(all) {
								break
							}
							page.Offset += page.Limit
						}
						if fmt.Sprint(got) != fmt.Sprint(want) {
							t.Errorf("%s %.20q by %s, descending %t:\n%v\nwant\n%v", name, part, field, descending, got, want)
						}
					}
				}
			}
		}
	})
}

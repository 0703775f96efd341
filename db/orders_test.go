package db_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/graph/model/collate"
)

// TestOrderByParentsName asks for pages of books that match, in order of the names of
// genres and categories. Two of each have the same name.
func TestOrderByParentsName(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, testOrderByParentsName)
}

func testOrderByParentsName(t *testing.T, url string) {
	s := open(t, url)
	nameOf := map[string]map[model.ID]string{"GENRE_NAME": {}, "CATEGORY_NAME": {}}
	var all []*model.Book
	err := s.Write(t.Context(), func(ctx context.Context) error {
		for i := range 12 {
			c, err := s.Categories.Create(ctx, &model.CreateCategoryInput{Name: fmt.Sprint("Category ", i%11)})
			if err != nil {
				return err
			}
			g, err := s.Genres.Create(ctx, &model.CreateGenreInput{Name: fmt.Sprint("Genre ", i*5%11), CategoryID: c.ID})
			if err != nil {
				return err
			}
			nameOf["GENRE_NAME"][g.ID], nameOf["CATEGORY_NAME"][g.ID] = collate.SortKey(g.Name), collate.SortKey(c.Name)
		}
		for i := range 120 {
			in := newBook("A book", model.ID(i%12+1))
			in.Pages, in.Price = i%12+1, model.Cents(i)
			b, err := s.Books.Create(ctx, in)
			if err != nil {
				return err
			}
			all = append(all, b)
		}
		return nil
	})
	check(t, err)
	matches := []struct {
		where *model.Condition
		of    func(*model.Book) bool
	}{
		{&model.Condition{Field: "pages", Op: model.Gt, Operand: int64(1000)}, func(*model.Book) bool { return false }},
		{&model.Condition{Field: "pages", Op: model.Lte, Operand: int64(2)}, func(b *model.Book) bool { return b.Pages <= 2 }},
		{&model.Condition{Field: "pages", Op: model.Gt, Operand: int64(9)}, func(b *model.Book) bool { return b.Pages > 9 }},
		{&model.Condition{Field: "price", Op: model.Gte, Operand: int64(7)}, func(b *model.Book) bool { return b.Price >= 7 }},
	}
	for i, match := range matches {
		for field, names := range nameOf {
			for n := range 4 {
				order := model.Order{Keys: []model.OrderKey{{Field: field, Descending: n&1 != 0}}, IDDescending: n&2 != 0}
				books := slices.DeleteFunc(slices.Clone(all), func(b *model.Book) bool { return !match.of(b) })
				slices.SortFunc(books, func(a, b *model.Book) int {
					byName, byID := cmp.Compare(names[a.GenreID], names[b.GenreID]), cmp.Compare(a.ID, b.ID)
					if n&1 != 0 {
						byName = -byName
					}
					if n&2 != 0 {
						byID = -byID
					}
					return cmp.Or(byName, byID)
				})
				at := func(i int) *model.Place {
					return &model.Place{Keys: []any{names[books[i].GenreID]}, ID: books[i].ID}
				}
				page := model.Page{Selection: model.Selection{Where: match.where}, Order: order, Limit: 7}
				check := func(p model.Page, want []*model.Book) {
					t.Helper()
					got := must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.Page(t.Context(), &p))
					if diff := gocmp.Diff(idsOf(want), idsOf(got)); diff != "" {
						t.Errorf("match %d, by %v: a page %+v (-want +got):\n%s", i, order, p, diff)
					}
				}
				check(page, books[:min(7, len(books))])
				for place := 0; place < len(books); place += 13 {
					after, from, before, until := page, page, page, page
					after.After, from.From, before.Before, until.Until = at(place), at(place), at(place), at(place)
					before.Backward, until.Backward = true, true
					check(after, books[place+1:min(place+8, len(books))])
					check(from, books[place:min(place+7, len(books))])
					check(before, books[max(0, place-7):place])
					check(until, books[max(0, place-6):place+1])
				}
			}
		}
	}
}

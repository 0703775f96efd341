package db_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// TestWholeLists reads whole lists in parts, in orders with an index and without
// one, with other statements in between: they have the rows of one large page, of
// one snapshot.
func TestWholeLists(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		fillShelf(t, s)
		for _, name := range []string{"'Zoology'", "'Art'", "'Music'"} {
			exec(t, program, `INSERT INTO categories (name) VALUES (`+name+`)`)
			exec(t, program, `INSERT INTO genres (name, category_id) SELECT `+name+`, max(id) FROM categories`)
		}
		exec(t, program, `UPDATE books SET genre_id = (SELECT min(id) FROM genres) + id % 4, pages = 1 + id % 601, price_cents = id % 50`)
		king := "the king"
		for name, args := range map[string]model.PageArgs{
			"by id":        {},
			"by genre":     {OrderBy: []*model.OrderBy{{Field: "GENRE_NAME"}, {Field: "AUTHOR", Direction: "DESC"}}},
			"by category":  {OrderBy: []*model.OrderBy{{Field: "CATEGORY_NAME", Direction: "DESC"}}},
			"by price":     {OrderBy: []*model.OrderBy{{Field: "PRICE"}}, Filter: model.Filter{"pages": map[string]any{"gt": 300}}},
			"by relevance": {Search: &king},
			"none":         {Filter: model.Filter{"pages": map[string]any{"lt": 0}}},
		} {
			page := must[*model.Page](t)(args.Page("Book"))
			large := *page
			large.Limit = model.MaxPageSize
			want := idsOf(must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.Page(t.Context(), &large)))
			if len(want) > 100 != (args.Search == nil && name != "none") {
				t.Errorf("%s: %d books", name, len(want))
			}
			for _, rows := range []int{7, len(want), 1000} {
				var got []model.ID
				err := streamBooks(t.Context(), s, page, max(rows, 1), func(ctx context.Context, snapshot *db.Snapshot, part []*model.Book) error {
					if len(part) == 0 || len(part) > rows {
						t.Errorf("%s: a part of %d in place of %d", name, len(part), rows)
					}
					if len(got) == 0 { // what others do meanwhile is not in it
						must[*model.Book](t)(s.Books.Update(t.Context(), part[len(part)-1].ID, rename("Renamed"), nil))
						if err := s.Books.Delete(t.Context(), must[*model.Book](t)(s.Books.Create(t.Context(), newBook("New", part[0].GenreID))).ID, nil, model.Cascade); err != nil {
							t.Error(err)
						}
					}
					got = append(got, idsOf(part)...)
					genres, err := snapshot.Genres.ByID(ctx, []model.ID{part[0].GenreID})
					if len(genres) != 1 {
						t.Errorf("%s: %d genres", name, len(genres))
					}
					return err
				})
				check(t, err)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s in parts of %d (-want +got):\n%s", name, rows, diff)
				}
				if args.Search != nil {
					break // a book has another name now
				}
			}
		}
		stop := errors.New("stop")
		parts := 0
		err := streamBooks(t.Context(), s, must[*model.Page](t)(model.PageArgs{}.Page("Book")), 3, func(context.Context, *db.Snapshot, []*model.Book) error {
			parts++
			return stop
		})
		if !errors.Is(err, stop) || parts != 1 {
			t.Errorf("after %d parts: %v", parts, err)
		}
	})
}

// streamBooks reads books in parts within one transaction.
func streamBooks(ctx context.Context, s *db.Store, p *model.Page, rows int, fn func(context.Context, *db.Snapshot, []*model.Book) error) error {
	return s.ReadTransaction(ctx, model.NoReplica, func(ctx context.Context, snapshot *db.Snapshot) error {
		return snapshot.Books.Stream(ctx, p, rows, func(ctx context.Context, part []*model.Book) error { return fn(ctx, snapshot, part) })
	})
}

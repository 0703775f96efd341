package db_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// TestAccess wants SQLite to look up the books of a page by a condition that few fulfil,
// and else to read them in order until the page is full;
// rows that are passed over are read in an index alone.
func TestAccess(t *testing.T) {
	t.Parallel()
	url := catalogtest.SQLite(t)
	s := open(t, url)
	shelf := newShelf(t, s)
	addBooks(t, other(t, url), 2000, shelf.genre.ID) // of prices and pages 1, 2, 3 …
	// The highest id says nothing about how many rows there are.
	_, err := other(t, url).Exec(`UPDATE books SET id = 1000000000000 WHERE id = $1`, shelf.book.ID)
	if err := errors.Join(err, s.CountSizes(t.Context())); err != nil {
		t.Fatal(err)
	}
	few, many := object{"gte": "0.10", "lte": "0.20"}, object{"gte": "0.10", "lte": "19"}
	const sorted, byPrice = "USE TEMP B-TREE FOR ORDER BY", "books_price (price_cents"
	for _, c := range []struct {
		name         string
		filter       model.Filter
		order        []string
		want, unlike string
	}{
		{"many, by date", object{"author": object{"icontains": "ome"}, "price": many, "publishedAt": object{"lt": "2005-08-05"}}, []string{"PUBLISHED_AT DESC"}, "books_published_at (published_at", "TEMP B-TREE"},
		{"few, by date", object{"author": object{"icontains": "ome"}, "price": few, "publishedAt": object{"lt": "2005-08-05"}}, []string{"PUBLISHED_AT DESC"}, byPrice, "books_published_at"},
		{"many, by id", object{"price": many, "pages": object{"gt": 5}}, nil, "SCAN r", "books_price"},
		{"few of two, by name", object{"and": []any{object{"pages": object{"gt": 5}}, object{"price": few}}}, []string{"NAME"}, byPrice, "books_name"},
		{"of a genre that has many, by price", object{"genre": object{"name": object{"eq": "Fantasy"}}}, []string{"PRICE"}, "books_price", sorted},
		{"few, by price", object{"pages": object{"gt": 5}, "price": few}, []string{"PRICE"}, byPrice, sorted},
		{"two keys", nil, []string{"PRICE DESC", "AUTHOR"}, "SCAN r USING INDEX books_price", sorted},
	} {
		args := model.PageArgs{Filter: c.filter}
		for _, by := range c.order {
			field, direction, _ := strings.Cut(by, " ")
			args.OrderBy = append(args.OrderBy, &model.OrderBy{Field: field, Direction: direction})
		}
		page := must[*model.Page](t)(args.Page("Book"))
		if plan := planOf(t, s, page); !strings.Contains(plan, c.want) || strings.Contains(plan, c.unlike) {
			t.Errorf("%s: want %q and not %q in %s", c.name, c.want, c.unlike, plan)
		}
	}
	offset := 1000
	far := must[*model.Page](t)(model.PageArgs{Offset: &offset}.Page("Book"))
	if plan, want := planOf(t, s, far), "SCAN r USING COVERING INDEX books_id"; !strings.Contains(plan, want) {
		t.Errorf("far behind: want %q in %s", want, plan)
	}
	for want, filter := range map[string]model.Filter{
		"SCAN r\"":    {"author": object{"icontains": "ome"}, "price": many},
		byPrice:       {"author": object{"icontains": "ome"}, "price": few},
		"books_pages": {"pages": object{"gt": 5}},
	} {
		page := must[*model.Page](t)(model.PageArgs{Filter: filter}.Page("Book"))
		plan := planOfRead(t, s, func(ctx context.Context) error { return second(s.Unchecked(ctx).Books.Count(ctx, page.Selection)) })
		if !strings.Contains(plan, want) {
			t.Errorf("count of %v: want %q in %s", filter, want, plan)
		}
	}
}

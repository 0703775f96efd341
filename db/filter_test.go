package db_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"library-catalogue/db"
	"library-catalogue/graph/model"
)

type object = map[string]any

// TestLargestFilters asks with as many conditions as a filter may have, far below and
// on several levels.
func TestLargestFilters(t *testing.T) {
	onEach(t, func(t *testing.T, s *db.Store) {
		newShelf(t, s)
		conditions := func(n int) (parts []any) {
			for i := range n {
				parts = append(parts, object{"name": object{"icontains": fmt.Sprint("x", i)}})
			}
			return parts
		}
		deep, spread := object{"not": object{"or": conditions(187)}}, object{"or": conditions(60)}
		for range 3 {
			deep = object{"genre": object{"books": object{"every": deep}}}
		}
		for range 2 {
			spread = object{"or": append([]any{object{"genre": object{"books": object{"some": spread}}}}, conditions(60)...)}
		}
		for name, filter := range map[string]model.Filter{"deep": deep, "spread": spread} {
			p, err := model.PageArgs{Filter: filter}.Page("Book")
			if err == nil {
				_, err = s.Unchecked(t.Context()).Books.Page(t.Context(), p)
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}

// TestAmountsBetweenCents compares prices of 19.98, 19.99 and 20.00 with amounts that
// lie between them.
func TestAmountsBetweenCents(t *testing.T) {
	onEach(t, func(t *testing.T, s *db.Store) {
		home := newShelf(t, s) // 19.99
		for _, price := range []model.Cents{1998, 2000} {
			book := newBook("Another", home.genre.ID)
			book.Price = price
			must[*model.Book](t)(s.Books.Create(t.Context(), book))
		}
		for filter, want := range map[string]int{
			`eq 19.994`: 0, `eq 19.990`: 1, `eq 1.999e1`: 1, `neq 19.994`: 3, `neq 19.99`: 2, `eq 19.995`: 0, `eq 19.9900000000000001`: 0,
			`gt 19.989`: 2, `gte 19.989`: 2, `gt 19.99`: 1, `gte 19.991`: 1, `lt 19.989`: 1, `lte 19.989`: 1, `lt 19.999`: 2, `lte 19.995`: 2,
			`gt -0.001`: 3, `lte -0.001`: 0, `gte 19.980000000000000000000001`: 2, `lt 1e-9`: 0, `gt 1e-9`: 3,
		} {
			operator, amount, _ := strings.Cut(filter, " ")
			wantBooks(t, s, object{"price": object{operator: amount}}, want)
		}
		amounts := []any{"19.994", "19.99", json.Number("19.9999")}
		wantBooks(t, s, object{"price": object{"in": amounts}}, 1)
		wantBooks(t, s, object{"price": object{"notIn": amounts}}, 2)
		wantBooks(t, s, object{"price": object{"in": amounts[:1]}}, 0)
		wantBooks(t, s, object{"price": object{"notIn": amounts[:1]}}, 3)
	})
}

// wantBooks wants so many books to match a filter.
func wantBooks(t *testing.T, s *db.Store, filter model.Filter, want int) {
	t.Helper()
	p, err := model.PageArgs{Filter: filter}.Page("Book")
	if err != nil {
		t.Error(err)
		return
	}
	if n := must[int](t)(s.Unchecked(t.Context()).Books.Count(t.Context(), p.Selection)); n != want {
		t.Errorf("%v: %d books, want %d", filter, n, want)
	}
}

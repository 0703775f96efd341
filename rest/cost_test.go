package rest

import (
	"strings"
	"testing"

	"library-catalogue/graph/model"
)

func TestCost(t *testing.T) {
	t.Parallel()
	few := model.Sizes{Books: 142, Genres: 30, Categories: 8}
	many := model.Sizes{Books: 100_000, Genres: 200, Categories: 20}
	for _, tt := range []struct {
		request string
		ofFew   int64
		ofMany  int64
		looked  int64 // of many
		isLong  bool  // of many
	}{
		{"books?per_page=1000", 3_000, 3_000, 0, false},
		{"books?per_page=100&page=1000", 300, 300, 0, false},
		{"genres?after=x&per_page=7", 14, 14, 0, false},
		{"books", 14, 10_000, 0, true},
		{"books?genre_id=7", 1, 50, 0, true},
		{"books?author=a", 1, 1, 0, false},
		{"books?q=ring&sort=genre_name,price", 14, 10_200, 200, true},
		{"books?author=a&price_min=1&per_page=1", 3, 3, 0, false},
		{"categories?q=x", 1, 1, 0, false},
		{"books?price_min=1&per_page=1", 3, 103, 100, false},
	} {
		name, parameters, _ := strings.Cut(tt.request, "?")
		l, q := map[string]*listing{"books": bookListing, "genres": genreListing, "categories": categoryListing}[name], &query{values: parseQuery(parameters)}
		args, page := q.args(l), q.paging()
		if got, long := l.cost(args, page, few); got.Total != tt.ofFew || long {
			t.Errorf("%s of few: %d, long: %t; want %d", tt.request, got.Total, long, tt.ofFew)
		}
		if got, long := l.cost(args, page, many); got.Total != tt.ofMany || got.Looked != tt.looked || long != tt.isLong {
			t.Errorf("%s of many: %d, %d for looks, long: %t; want %d, %d", tt.request, got.Total, got.Looked, long, tt.ofMany, tt.looked)
		}
	}
}

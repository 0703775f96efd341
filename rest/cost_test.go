package rest

import (
	"net/http/httptest"
	"strings"
	"testing"
)

func TestCost(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]int64{
		"GET /api/books/1":                   3,
		"GET /api/genres/1":                  2,
		"GET /api/categories/x":              1,
		"GET /api/nothing":                   1,
		"GET /api":                           1,
		"GET /api/books?per_page=1000":       3_000,
		"GET /api/books?page=2":              3 * perPage,
		"GET /api/genres?after=x&per_page=7": 14,
		"GET /api/books?per_page=1000000":    1, // which is refused
		"GET /api/books":                     wholeListCost,
		"HEAD /api/categories?q=x":           wholeListCost,
		"POST /api/books":                    13,
		"DELETE /api/categories/1":           11,
	} {
		method, target, _ := strings.Cut(request, " ")
		got, streamed := Cost(httptest.NewRequest(method, target, nil))
		if got != want || streamed != (want == wholeListCost) {
			t.Errorf("%s: %d, %t; want %d", request, got, streamed, want)
		}
	}
}

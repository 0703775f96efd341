package cost_test

import (
	"fmt"
	"strings"
	"testing"

	"library-catalogue/graph/cost"
	"library-catalogue/graph/model"
)

var (
	aMillion = model.Sizes{Books: 1_000_000, Genres: 2_000, Categories: 100}
	many     = model.Sizes{Books: 100_000, Genres: 200, Categories: 20}
	few      = model.Sizes{Books: 142, Genres: 30, Categories: 8}
)

const (
	limit = 50_000 // by default
	light = 400    // of admission
)

// texts are conditions on texts, as a client writes them in a filter.
func texts(n int) []any {
	var all []any
	for i := range n {
		all = append(all, map[string]any{"description": map[string]any{"icontains": fmt.Sprint("zq", i)}})
	}
	return all
}

// TestListCost prices what rows are looked at for: what people ask for is allowed, and
// what takes half a minute is not.
func TestListCost(t *testing.T) {
	t.Parallel()
	ids := make([]any, 10_000)
	for i := range ids {
		ids[i] = fmt.Sprint(i)
	}
	quantified := map[string]any{"description": map[string]any{"icontains": "q"}}
	for range 3 {
		quantified = map[string]any{"genre": map[string]any{"books": map[string]any{
			"some": map[string]any{"or": []any{quantified, map[string]any{"genre": map[string]any{"books": map[string]any{"every": map[string]any{"author": map[string]any{"icontains": "1"}}}}}}}}}}
	}
	const counted = `query ($f: BookFilter) { books(first: 1, filter: $f) { totalCount nodes { id } } }`
	for name, tt := range map[string]struct {
		document string
		filter   map[string]any
		sizes    model.Sizes
		min, max int64 // of Total
	}{
		"five conditions, a search, an order, figures and facets": {
			`query ($f: BookFilter) { books(filter: $f, search: "ring", orderBy: [{field: PRICE}]) { totalCount nodes { name genre { name category { name } } } aggregate { price { avg } }
				facets { genres { count } categories { count } authors { count } years { count } prices(bounds: [10, 20]) { count } } } }`,
			map[string]any{"and": texts(5)}, aMillion, limit / 3, limit},
		"the same of 142 books": {
			`query ($f: BookFilter) { books(filter: $f, search: "ring", orderBy: [{field: GENRE_NAME}]) { totalCount nodes { name } facets { genres { count } } } }`,
			map[string]any{"and": texts(5)}, few, 0, 700},
		"190 alternatives":              {counted, map[string]any{"or": texts(190)}, many, limit + 1, 100_000},
		"190 alternatives of 142 books": {counted, map[string]any{"or": texts(190)}, few, 50, 300},
		"190 conditions together":       {counted, map[string]any{"and": texts(190)}, many, 5_000, limit},
		"quantifiers in quantifiers":    {counted, map[string]any{"and": []any{quantified}}, many, 2_000, limit},
		"notIn of 10,000":               {counted, map[string]any{"id": map[string]any{"notIn": ids}}, many, limit + 1, 1_000_000},
		"notIn of 10,000, of 142 books": {counted, map[string]any{"id": map[string]any{"notIn": ids}}, few, 100, 1_000},
		"in of 10,000":                  {counted, map[string]any{"id": map[string]any{"in": ids}}, many, 0, light},
		"an id":                         {counted, map[string]any{"id": map[string]any{"eq": 1}, "description": map[string]any{"icontains": "a"}}, aMillion, 0, 13},
		"the books of a genre":          {`{ genre(id: 1) { books { totalCount } } }`, nil, aMillion, 0, 40},
		"all books":                     {`{ books { totalCount nodes { id } } }`, nil, many, 0, light},
		"an offset":                     {`{ books(offset: 99000) { nodes { id } } }`, nil, many, 22, light},
		"aliases of one heavy list":     {aliases(`books(first: 1, filter: {description: {icontains: "zq"}}, orderBy: [{field: GENRE_NAME}]) { totalCount nodes { id } }`), nil, many, 7_000, limit},
		"facets of all books":           {aliases(`books { facets { genres { count } categories { count } authors { count } years { count } } }`), nil, many, 10_000, limit},
		"groups of all books":           {`{ bookGroups(by: [AUTHOR], filter: {pages: {gt: 3}}) { aggregate { count } } }`, nil, many, 700, 1_000},
		"figures of each genre's books": {`{ genres(first: 1000) { nodes { books(first: 1, filter: {name: {icontains: "a"}}) { totalCount } } } }`, nil, many, 10_000, limit},
		"a write of all that match":     {`mutation ($f: BookFilter!) { deleteBooks(input: {filter: $f}) { count } }`, map[string]any{"or": texts(190)}, many, 30_000, limit},
		"a literal filter":              {`{ books(first: 1, filter: {or: [{name: {icontains: "a"}}, {not: {author: {icontains: "b"}}}]}) { nodes { id } } }`, nil, many, 400, 500},
		"a filter that cannot be":       {`query ($f: BookFilter) { books(filter: $f) { totalCount } }`, map[string]any{"or": []any{}, "genre": map[string]any{}}, many, 0, light},
	} {
		operation := parse(t, tt.document, map[string]any{"f": tt.filter})
		got := cost.NewEstimator(schema.Schema()).Estimate(operation, new(cost.Cache), tt.sizes)
		if got.Total < tt.min || got.Total > tt.max || got.Work() < got.Total {
			t.Errorf("%s: %d (%d for rows that are looked at), want %d to %d", name, got.Total, got.Looked, tt.min, tt.max)
		}
		if heavy := got.Work() > light; tt.sizes == many && tt.min >= 400 && !heavy {
			t.Errorf("%s is light work", name)
		}
	}
}

func aliases(selection string) string {
	var b strings.Builder
	for i := range 12 {
		fmt.Fprintf(&b, " a%d: %s", i, selection)
	}
	return "{" + b.String() + " }"
}

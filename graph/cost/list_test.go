package cost_test

import (
	"fmt"
	"testing"

	"library-catalogue/edge/admission"
	"library-catalogue/graph/cost"
	"library-catalogue/graph/model"
)

var (
	aMillion = model.Sizes{Books: 1_000_000, Genres: 2_000, Categories: 100}
	many     = model.Sizes{Books: 100_000, Genres: 200, Categories: 20}
	few      = model.Sizes{Books: 142, Genres: 30, Categories: 8}
)

type object = map[string]any

// texts are conditions on texts, as a client writes them in a filter.
func texts(n int) []any {
	var all []any
	for i := range n {
		all = append(all, object{"description": object{"icontains": fmt.Sprint("zq", i)}})
	}
	return all
}

// TestListCost prices what rows are looked at for: what people ask for is allowed, and
// what takes half a minute is not: the limit is 50,000 by default.
func TestListCost(t *testing.T) {
	t.Parallel()
	ids := make([]any, 10_000)
	for i := range ids {
		ids[i] = fmt.Sprint(i)
	}
	quantified := object{"description": object{"icontains": "q"}}
	for range 3 {
		quantified = object{"genre": object{"books": object{
			"some": object{"or": []any{quantified, object{"genre": object{"books": object{"every": object{"author": object{"icontains": "1"}}}}}}}}}}
	}
	const counted = `query ($f: BookFilter) { books(first: 1, filter: $f) { totalCount nodes { id } } }`
	const nested = `id name description pages author price genre { id name category { id name } }`
	for name, tt := range map[string]struct {
		document string
		filter   object
		sizes    model.Sizes
		class    admission.Class
		want     int64 // of Total
	}{
		"W1, books after an id":         {`query ($f: BookFilter) { books(first: 100, filter: $f) { nodes { ` + nested + ` } } }`, object{"id": object{"gt": "50000"}}, many, light, 301},
		"W2, a book":                    {`{ book(id: 1) { ` + nested + ` } }`, nil, many, light, 3},
		"W3, genres with books":         {`query ($g: GenreFilter) { genres(first: 20, filter: $g) { nodes { id category { id } books(first: 10) { nodes { id } } } } }`, nil, many, light, 261},
		"W6, a book is made":            {`mutation { createBook(input: {name: "a", pages: 1, publishedAt: "2020-01-01", author: "b", price: 1, genreId: 1}) { book { id genre { id } } } }`, nil, many, light, 12},
		"W7, author, prices and a date": {`query ($f: BookFilter) { books(first: 50, filter: $f, orderBy: [{field: PUBLISHED_AT}]) { nodes { ` + nested + ` } } }`, object{"author": object{"icontains": "a"}, "price": object{"gte": 1, "lte": 2}, "publishedAt": object{"lt": "2000-01-01"}}, many, heavy, 1_251},
		"the largest page":              {`{ books(first: 1000) { totalCount nodes { ` + nested + ` } } }`, nil, aMillion, light, 3_011},
		"a page far behind":             {`{ books(offset: 99000) { nodes { id } } }`, nil, many, light, 21},
		"the books of a genre":          {`{ genre(id: 1) { books { totalCount } } }`, nil, aMillion, light, 32},
		"an id":                         {`query ($f: BookFilter) { books(filter: $f) { totalCount } }`, object{"id": object{"eq": 1}, "description": object{"icontains": "a"}}, aMillion, light, 31},
		"in of 10,000":                  {counted, object{"id": object{"in": ids}}, many, light, 22},
		"a search":                      {`{ books(search: "ring") { totalCount nodes { name genre { name } } } }`, nil, many, medium, 151},
		"a search of 11,000 books":      {`{ books(search: "ring") { totalCount nodes { name genre { name } } } }`, nil, model.Sizes{Books: 11_000, Genres: 100, Categories: 10}, light, 62},
		"a search with facets":          {`{ books(search: "ring") { totalCount nodes { name } facets { genres { count } categories { count } authors { count } years { count } prices(bounds: [10, 20]) { count } } } }`, nil, many, medium, 3_213},
		"figures of all":                {`{ books { aggregate { price { avg } pages { max } } } }`, nil, many, light, 131},
		"figures":                       {`{ books(search: "ring") { aggregate { price { avg } pages { max } } } }`, nil, many, medium, 321},
		"facets of ten million": {`{ books { facets { genres { count } categories { count } authors { count } years { count } publishers { count } languages { count } } } }`,
			nil, model.Sizes{Books: 10_000_000, Genres: 400, Categories: 20}, heavy, 9_141},
		"one text pattern": {counted, object{"name": object{"icontains": "a"}}, many, medium, 1_012},
		"five conditions, a search, an order, figures and facets": {
			`query ($f: BookFilter) { books(filter: $f, search: "ring", orderBy: [{field: GENRE_NAME}]) { totalCount nodes { name genre { name category { name } } } aggregate { price { avg } }
				facets { genres { count } categories { count } authors { count } years { count } prices(bounds: [10, 20]) { count } } } }`,
			object{"and": texts(5)}, aMillion, heavy, 24_753},
		"seven patterns together":       {counted, object{"and": texts(7)}, many, heavy, 1_612},
		"ten patterns":                  {counted, object{"or": texts(10)}, many, heavy, 10_012},
		"190 alternatives":              {counted, object{"or": texts(190)}, many, heavy, 190_012},
		"190 alternatives of 142 books": {counted, object{"or": texts(190)}, few, medium, 281},
		"a pattern in two genres":       {counted, object{"or": []any{object{"genreId": object{"eq": 1}}, object{"genreId": object{"eq": 2}}}, "name": object{"icontains": "a"}}, many, light, 23},
		"not a pattern":                 {counted, object{"not": texts(1)[0]}, many, medium, 1_012},
		"not of a relation":             {counted, object{"not": object{"genre": object{"name": object{"icontains": "a"}}}}, many, medium, 114},
		"quantifiers in quantifiers":    {counted, object{"and": []any{quantified}}, many, heavy, 5_214},
		"notIn of 10,000":               {counted, object{"id": object{"notIn": ids}}, many, heavy, 100_112},
		"a pattern and another order":   {`query ($f: BookFilter) { books(first: 1, filter: $f, orderBy: [{field: GENRE_NAME}]) { totalCount } }`, object{"and": texts(1)}, many, heavy, 1_112},
		"groups of all books":           {`{ bookGroups(by: [AUTHOR], filter: {pages: {gt: 3}}) { nodes { aggregate { count } } } }`, nil, many, medium, 720},
		"figures of each genre's books": {`{ genres(first: 1000) { nodes { books(first: 1, filter: {name: {icontains: "a"}}) { totalCount } } } }`, nil, many, heavy, 18_011},
		"a write of all that match":     {`mutation ($f: BookFilter!) { deleteBooks(input: {filter: $f}) { count } }`, object{"or": texts(40)}, many, heavy, 40_011},
		"a literal filter":              {`{ books(first: 1, filter: {or: [{name: {icontains: "a"}}, {not: {author: {icontains: "b"}}}]}) { nodes { id } } }`, nil, many, heavy, 2_002},
		"a filter that cannot be":       {`query ($f: BookFilter) { books(filter: $f) { totalCount } }`, object{"or": []any{}, "genre": object{}}, many, light, 31},
	} {
		operation := parse(t, tt.document, object{"f": tt.filter})
		for range 20 { // in any order of a map
			got := cost.Compile(schema.Schema(), operation).Estimate(operation.Variables, tt.sizes)
			if got.Total != tt.want || admission.ClassOf(got) != tt.class {
				t.Fatalf("%s: %d (%d for looks, class %d), want %d (class %d)", name, got.Total, got.Looked, admission.ClassOf(got), tt.want, tt.class)
			}
		}
	}
}

const light, medium, heavy = admission.Light, admission.Medium, admission.Heavy

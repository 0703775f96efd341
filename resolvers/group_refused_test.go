package resolvers_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/server/servertest"
)

// TestGroupsAreRefused passes facets and groups arguments past their bounds. The
// error names the argument.
func TestGroupsAreRefused(t *testing.T) {
	t.Parallel()
	lists := []string{"{ books { facets { %s } } }", "{ genre(id: 1) { books { facets { %s } } } }", "{ category(id: 1) { books { facets { %s } } } }"}
	facets := map[string]string{
		"genres(first: -1) { count }": "first", "categories(first: 1001) { count }": "first", "authors(first: -1) { count }": "first", "years(first: 2147483647) { count }": "first",
		"prices(bounds: []) { count }": "bounds", "prices(bounds: [2, 1]) { count }": "bounds.1", `prices(bounds: ["1", 5, "5.004"]) { count }`: "bounds.2",
		"prices(bounds: [" + strings.Repeat("1 ", 101) + "]) { count }": "bounds",
	}
	groups := map[string]string{
		"by: []": "by", "by: [YEAR, GENRE, YEAR]": "by.2", "by: YEAR, first: -1": "first", "by: YEAR, first: 1001": "first", "by: YEAR, offset: -1": "offset",
		"by: YEAR, orderBy: [{field: COUNT}, {field: COUNT}]": "orderBy.1.field", "by: YEAR, orderBy: {field: GENRE}": "orderBy.0.field",
		"by: YEAR, having: {count: null}": "having.count", "by: YEAR, having: {price: null}": "having.price", "by: YEAR, having: {price: {avg: null}}": "having.price.avg",
		"by: YEAR, having: {count: {gt: null}}": "having.count.gt", `by: YEAR, filter: {id: {gt: null}}`: "filter.id.gt",
		`by: YEAR, search: "` + strings.Repeat("a", 201) + `"`: "search",
	}
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		c.Shelves(t)
		refused := func(document, field string) {
			f := c.WantError(t, document, "", "BAD_USER_INPUT", "")
			if len(f.Extensions.Fields) != 1 || f.Extensions.Fields[0].Field != field {
				t.Errorf("%s: fields %+v, want %s", document, f.Extensions.Fields, field)
			}
		}
		for facet, field := range facets {
			for _, list := range lists {
				refused(fmt.Sprintf(list, facet), field)
			}
		}
		for args, field := range groups {
			refused("{ bookGroups("+args+") { nodes { year } } }", field)
		}
		for _, document := range []string{
			"{ bookGroups { nodes { year } } }", "{ bookGroups(by: null) { nodes { year } } }", "{ bookGroups(by: [null]) { nodes { year } } }", "{ bookGroups(by: TITLE) { nodes { year } } }",
			"{ bookGroups(by: YEAR, first: null) { totalCount } }", "{ bookGroups(by: YEAR, offset: null) { totalCount } }",
			"{ books { facets { prices { count } } } }", "{ books { facets { prices(bounds: [null]) { count } } } }",
		} {
			c.WantError(t, document, "", "GRAPHQL_VALIDATION_FAILED", "")
		}
		for _, bound := range []string{`"x"`, "true", "{}"} {
			if a := c.Ask(t, "{ books { facets { prices(bounds: ["+bound+"]) { count } } } }", ""); len(a.Errors) != 1 || a.Errors[0].Extensions.Code == "INTERNAL" {
				t.Errorf("the bound %s: %+v", bound, a)
			}
		}
		for _, sum := range []string{`"x"`, "1.5", "9223372036854775808", "true"} {
			if a := c.Ask(t, "{ bookGroups(by: YEAR, having: {pages: {sum: {gt: "+sum+"}}}) { nodes { year } } }", ""); len(a.Errors) != 1 || a.Errors[0].Extensions.Code == "INTERNAL" {
				t.Errorf("the sum %s: %+v", sum, a)
			}
		}
		for _, document := range []string{"books { facets { years(first: $n) { count } } }", "bookGroups(by: YEAR, first: $n) { totalCount }", "changes(first: $n) { position }"} {
			c.WantError(t, "query ($n: Int) { "+document+" }", `{"n": null}`, "BAD_USER_INPUT", "An argument of the type Int! must not be null.")
			c.Get(t, "query ($n: Int) { "+document+" }", "{}") // the default
		}
		// At the bounds all is well.
		for _, facet := range []string{"genres(first: 0) { count }", "authors(first: 1000) { count }", "prices(bounds: [-99999999999999999999, 0, 1e300]) { count }"} {
			c.Get(t, fmt.Sprintf(lists[0], facet), "")
		}
		var bounds []int
		for i := range 100 {
			bounds = append(bounds, i)
		}
		var answer struct {
			Books struct {
				Facets struct{ Prices []struct{ Count int } }
			}
		}
		servertest.Unmarshal(t, c.Get(t, "query ($bounds: [Decimal!]!) { books { facets { prices(bounds: $bounds) { count } } } }", servertest.Encode(t, map[string]any{"bounds": bounds})), &answer)
		var counts []int
		for i, r := range answer.Books.Facets.Prices {
			if r.Count > 0 {
				counts = append(counts, i)
			}
		}
		if want := []int{1, 10, 20, 26}; !slices.Equal(counts, want) || len(answer.Books.Facets.Prices) != 101 { // 0.50, 9.00, 19.99, 25.00
			t.Errorf("there are books in the ranges %v of %d, want %v", counts, len(answer.Books.Facets.Prices), want)
		}
	})
}

// TestLargeFigures adds up to more than 32 bits hold, and compares with more than
// a float holds.
func TestLargeFigures(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		long := map[string]any{"name": "Long", "pages": 1_000_000, "publishedAt": "9999-12-31", "author": "Nobody", "price": "99999999.99", "genreId": 3}
		c.Get(t, "mutation ($books: [CreateBookInput!]!) { createBooks(input: {books: $books}) { count } }", servertest.Encode(t, map[string]any{"books": slices.Repeat([]any{long}, 2_500)}))
		c.Want(t, `{
			category(id: 2) { books { aggregate { count price { min avg sum } pages { max avg sum } publishedAt { max } } } }
			bookGroups(by: AUTHOR, having: {pages: {sum: {eq: 2500000000}}, price: {sum: {eq: "249999999975.00"}}}) { nodes { author aggregate { pages { sum } } } }
			none: bookGroups(by: AUTHOR, having: {pages: {sum: {gt: "9007199254740993"}}}) { nodes { author } totalCount }
		}`, "", `{
			"category": {"books": {"aggregate": {"count": 2500, "price": {"min": "99999999.99", "avg": "99999999.99", "sum": "249999999975.00"},
				"pages": {"max": 1000000, "avg": "1000000.00", "sum": "2500000000"}, "publishedAt": {"max": "9999-12-31"}}}},
			"bookGroups": {"nodes": [{"author": "Nobody", "aggregate": {"pages": {"sum": "2500000000"}}}]}, "none": {"nodes": [], "totalCount": 0}}`)
	})
}

package resolvers_test

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/server/servertest"
)

// TestNothingAndEverything passes lists of no conditions: or is true of no row, and
// and of all.
func TestNothingAndEverything(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		for filter, count := range map[string]string{
			`{}`: "4", `{or: []}`: "0", `{and: []}`: "4", `{not: {or: []}}`: "4", `{not: {}}`: "0", `{or: [{}]}`: "4", `{or: [], pages: {gt: 0}}`: "0",
			`{name: {}}`: "4", `{id: {in: []}}`: "0", `{id: {notIn: []}}`: "4", `{genre: {}}`: "4", `{genre: {or: []}}`: "0", `{genre: {books: {none: {or: []}}}}`: "4",
		} {
			c.Want(t, `{ books(filter: `+filter+`) { totalCount } }`, "", `{"books":{"totalCount":`+count+`}}`)
		}
	})
}

const filtered = `query ($filter: BookFilter) { books(filter: $filter) { nodes { name } totalCount } }`

// TestOddOperands filters by texts that are something else to a careless
// database: each is itself and nothing more.
func TestOddOperands(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		odd := []string{`'; DROP TABLE books; --`, `%`, `_`, `\`, `\%`, `"`, `$1`, `?`, `:a`, `{a,b}`, `*`, `[a]`, `0x41`, `1e5`, "🐉", strings.Repeat("é", 1000)}
		for _, name := range odd {
			c.Get(t, `mutation ($name: String!) { createBook(input: {name: $name, pages: 1, publishedAt: "2000-01-01", author: "Nobody", price: 1, genreId: 1}) { book { id } } }`,
				servertest.Encode(t, map[string]string{"name": name}))
		}
		for _, operator := range []string{"eq", "in", "contains", "icontains", "startsWith", "istartsWith", "endsWith", "iendsWith"} {
			for _, name := range odd {
				var operand any = name
				if operator == "in" {
					operand = []string{name, name, "%"[:0]}
				}
				want := []map[string]string{}
				for _, other := range odd {
					if found := map[string]bool{
						"eq": other == name, "in": other == name, "contains": strings.Contains(other, name), "icontains": strings.Contains(other, name),
						"startsWith": strings.HasPrefix(other, name), "istartsWith": strings.HasPrefix(other, name),
						"endsWith": strings.HasSuffix(other, name), "iendsWith": strings.HasSuffix(other, name),
					}; found[operator] {
						want = append(want, map[string]string{"name": other})
					}
				}
				variables := servertest.Encode(t, map[string]any{"filter": map[string]any{"name": map[string]any{operator: operand}, "author": map[string]any{"eq": "Nobody"}}})
				c.Want(t, filtered, variables, servertest.Encode(t, map[string]any{"books": map[string]any{"nodes": want, "totalCount": len(want)}}))
			}
		}
	})
}

// TestFiltersAreRefused passes filters that say nothing that can be meant. The
// error names the place.
func TestFiltersAreRefused(t *testing.T) {
	t.Parallel()
	deep := `{"id": {"gt": 0}}`
	for range 10 {
		deep = `{"not": ` + deep + `}`
	}
	wide := `{"or": [` + strings.TrimSuffix(strings.Repeat(`{"id": {"eq": 1}},{},`, 101), ",") + `]}`
	numbers, _ := json.Marshal(slices.Repeat([]int{1}, 10_001))
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		for filter, message := range map[string]string{
			`{"id": null}`:                                       "The filter.id filter must not be null: to ask for rows without a value, use isNull.",
			`{"id": {"eq": null}}`:                               "The filter.id.eq operand must not be null: to ask for rows without a value, use isNull.",
			`{"name": {"in": null}}`:                             "The filter.name.in operand must not be null: to ask for rows without a value, use isNull.",
			`{"name": {"isNull": null}}`:                         "The filter.name.isNull operand must not be null: to ask for rows without a value, use isNull.",
			`{"and": null}`:                                      "The filter.and list must not be null.",
			`{"or": [{"not": null}]}`:                            "The filter.or.0.not filter must not be null.",
			`{"genre": null}`:                                    "The filter.genre filter must not be null.",
			`{"genre": {"books": null}}`:                         "The filter.genre.books filter must not be null.",
			`{"genre": {"books": {"some": null}}}`:               "The filter.genre.books.some filter must not be null.",
			`{"id": {"eq": "x"}}`:                                "The filter.id.eq operand must be an id.",
			`{"id": {"eq": "-1"}}`:                               "The filter.id.eq operand must be an id.",
			`{"id": {"in": ["1", "9223372036854775808"]}}`:       "The filter.id.in.1 operand must be an id.",
			`{"name": {"contains": "a\u0000b"}}`:                 "The filter.name.contains operand must be a text without the character NUL.",
			`{"createdAt": {"gt": "0001-01-01T00:00:00+01:00"}}`: "The filter.createdAt.gt operand must be a valid date and time.",
			`{"createdAt": {"gt": "9999-12-31T23:59:59-01:00"}}`: "The filter.createdAt.gt operand must be a valid date and time.",
			`{"pages": {"in": ` + string(numbers) + `}}`:         "The filter.pages.in list must not have more than 10000 values.",
			wide: "The filter must not have more than 200 conditions.",
			deep: "The filter must not be nested deeper than 10 levels: see filter.not.not.not.not.not.not.not.not.not.not.",
		} {
			c.WantError(t, filtered, `{"filter": `+filter+`}`, "BAD_USER_INPUT", message)
		}
		for orderBy, message := range map[string]string{
			`[{field: NAME}, {field: NAME, direction: DESC}]`: "The field NAME is given twice.",
			`[{field: RELEVANCE}]`:                            "To order by RELEVANCE, give a search.",
		} {
			c.WantError(t, fmt.Sprintf(`{ books(orderBy: %s) { totalCount } }`, orderBy), "", "BAD_USER_INPUT", message)
		}
		if c.Log.Has("level=ERROR") {
			t.Errorf("the log has an error:\n%s", c.Log)
		}
	})
}

// TestLargeFilters passes filters that are as large as they may be.
func TestLargeFilters(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		ids, names := []string{}, []string{}
		for i := range 10_000 {
			ids, names = append(ids, fmt.Sprint(int64(i)*922337203685477)), append(names, fmt.Sprintf("%d'\"\\%%", i))
		}
		or := slices.Repeat([]any{map[string]any{"name": map[string]any{"contains": "no"}}}, 199)
		for _, filter := range []map[string]any{
			{"id": map[string]any{"in": ids}},
			{"name": map[string]any{"in": names}},
			{"or": or},
			{"and": or},
			{"id": map[string]any{"gte": "9223372036854775807"}},
			{"description": map[string]any{"gt": strings.Repeat("z", 100_000)}},
		} {
			c.Want(t, filtered, servertest.Encode(t, map[string]any{"filter": filter}), `{"books":{"nodes":[],"totalCount":0}}`)
		}
	})
}

// TestForeignCursors passes a cursor of one ordering to another.
func TestForeignCursors(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		for _, orderBy := range []string{`[]`, `[{field: NAME}]`, `[{field: PRICE, direction: DESC}]`, `[{field: PUBLISHED_AT}, {field: CREATED_AT}]`} {
			var page struct {
				Books struct{ PageInfo struct{ EndCursor string } }
			}
			document := `query ($after: String) { books(first: 1, after: $after, orderBy: %s) { pageInfo { endCursor } } }`
			must(t, json.Unmarshal([]byte(c.Get(t, fmt.Sprintf(document, orderBy), "")), &page))
			after := servertest.Encode(t, map[string]string{"after": page.Books.PageInfo.EndCursor})
			c.Get(t, fmt.Sprintf(document, orderBy), after)
			for _, other := range []string{`[{field: ID, direction: DESC}]`, `[{field: NAME, direction: DESC}]`, `[{field: PRICE}]`, `[{field: AUTHOR}]`} {
				c.WantError(t, fmt.Sprintf(document, other), after, "BAD_USER_INPUT", "The after argument must be a cursor that this list gave.")
			}
		}
	})
}

// TestForgedCursors passes cursors that carry what no row has: both endpoints refuse
// them, or take them for a place in the order.
func TestForgedCursors(t *testing.T) {
	t.Parallel()
	texts := []any{"'; DROP TABLE books; --", "%", "_", `\`, "\x00", "a\x00b", "\xed\xa0\x80", "\xff", strings.Repeat("日", 5_000), "", "2000-13-45", "infinity"}
	numbers := []any{int64(0), int64(-1), int64(math.MaxInt32) + 1, int64(math.MaxInt64), int64(math.MinInt64)}
	catalogtest.Each(t, func(t *testing.T, databaseURL string) {
		c := servertest.Serve(t, databaseURL)
		c.Shelves(t)
		for field, keys := range map[string][]any{
			"NAME": texts, "GENRE_NAME": texts, "PUBLISHED_AT": texts, "CREATED_AT": texts, "PRICE": numbers, "PAGES": numbers,
		} {
			var page struct {
				Books struct{ PageInfo struct{ EndCursor string } }
			}
			servertest.Unmarshal(t, c.Get(t, fmt.Sprintf(`{ books(first: 1, orderBy: {field: %s}) { pageInfo { endCursor } } }`, field), ""), &page)
			own, err := base64.RawURLEncoding.DecodeString(page.Books.PageInfo.EndCursor)
			must(t, err)
			for _, key := range keys {
				for _, id := range []uint64{0, 1, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64} {
					forged := base64.RawURLEncoding.EncodeToString(binary.AppendUvarint(model.AppendKey(slices.Clone(own[:4]), key), id))
					for _, argument := range []string{"after", "before"} {
						document := fmt.Sprintf(`query ($at: String) { books(orderBy: {field: %s}, filter: {pages: {in: [310, 474]}}, %s: $at) { nodes { id } } }`, field, argument)
						a := c.Ask(t, document, servertest.Encode(t, map[string]string{"at": forged}))
						if len(a.Errors) > 1 || len(a.Errors) == 1 && a.Errors[0].Extensions.Code != "BAD_USER_INPUT" {
							t.Errorf("%s %q %d: %v", field, key, id, a.Errors)
						}
					}
					w := c.Do(http.MethodGet, "/api/books?per_page=1&sort="+strings.ToLower(field)+"&after="+forged, "")
					if w.Code != http.StatusOK && w.Code != http.StatusUnprocessableEntity {
						t.Errorf("%s %q %d: status %d: %s", field, key, id, w.Code, w.Body)
					}
				}
			}
		}
		if c.Log.Has("level=ERROR") {
			t.Errorf("the log has an error:\n%s", c.Log)
		}
	})
}

// TestWildcardsAreText looks for texts with the signs that SQL's LIKE takes for
// others: each stands for itself alone.
func TestWildcardsAreText(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, base string) {
		c := servertest.Serve(t, base)
		c.Get(t, `mutation { createCategory(input: {name: "C"}) { category { id } } }`, "")
		texts := []string{`over_the_sea`, `over-the-sea`, `over%the%sea`, `over\the\sea`, `overxthexsea`, `overthesea`, `a_b`, `axb`, `a%b`, `ab`, `a\b`, `a\_b`, `a\%b`}
		for _, text := range texts {
			// In each of the texts that have an index of their own, and in one that has none.
			c.Get(t, `mutation ($text: String!) { createGenre(input: {name: $text, description: $text, categoryId: 1}) { genre { id } } }`, `{"text":`+servertest.Encode(t, text)+`}`)
			c.Get(t, `mutation ($text: String!) { createBook(input: {name: $text, author: $text, description: $text, pages: 1, publishedAt: "2000-01-01", price: 1, genreId: 1}) { book { id } } }`, `{"text":`+servertest.Encode(t, text)+`}`)
		}
		fields := map[string][]string{"books": {"name", "author", "description"}, "genres": {"name", "description"}}
		types := map[string]string{"books": "BookFilter", "genres": "GenreFilter"}
		holds := map[string]func(string, string) bool{"contains": strings.Contains, "startsWith": strings.HasPrefix, "endsWith": strings.HasSuffix}
		for _, operand := range []string{`_`, `%`, `\`, `_b`, `%b`, `a_`, `a%`, `\_`, `\%`, `r_t`, `r%t`, `er_the_`, `er%the%`, `er\the`, `over_the_sea`, `over%`, `over_`, `%sea`, `_sea`, `\sea`} {
			for list, names := range fields {
				for _, name := range names {
					for operator, holds := range holds {
						want := 0
						for _, text := range texts {
							if holds(text, operand) {
								want++
							}
						}
						for _, operator := range []string{operator, "i" + operator} {
							variables := servertest.Encode(t, map[string]any{"f": map[string]any{name: map[string]any{operator: operand}}})
							document := fmt.Sprintf(`query ($f: %s) { %s(filter: $f) { totalCount } }`, types[list], list)
							if got := c.Get(t, document, variables); got != fmt.Sprintf(`{"%s":{"totalCount":%d}}`, list, want) {
								t.Errorf("%s %s: %s, want %d", list, variables, got, want)
							}
						}
					}
				}
			}
		}
	})
}

// TestConditionsAtTheLimit sends filters of as many conditions as are allowed, and
// of one more.
func TestConditionsAtTheLimit(t *testing.T) {
	t.Parallel()
	const limit = 200
	c := servertest.Serve(t, catalogtest.SQLite(t))
	c.Shelves(t)
	const document = `query ($f: BookFilter) { books(filter: $f) { totalCount } }`
	filter := func(n int) string {
		conditions := make([]any, n)
		for i := range conditions {
			conditions[i] = map[string]any{"pages": map[string]int{"eq": i + 300}}
		}
		return servertest.Encode(t, map[string]any{"or": conditions})
	}
	c.Want(t, document, `{"f":`+filter(limit)+`}`, `{"books":{"totalCount":3}}`)
	c.WantError(t, document, `{"f":`+filter(limit+1)+`}`, "BAD_USER_INPUT", "The filter must not have more than 200 conditions.")
}

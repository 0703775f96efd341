package server_test

import (
	"fmt"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
)

// TestWildcardsAreText looks for texts with the signs that SQL's LIKE takes for
// others: each stands for itself alone.
func TestWildcardsAreText(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, base string) {
		c := serve(t, base)
		c.get(t, `mutation { createCategory(input: {name: "C"}) { category { id } } }`, "")
		texts := []string{`over_the_sea`, `over-the-sea`, `over%the%sea`, `over\the\sea`, `overxthexsea`, `overthesea`, `a_b`, `axb`, `a%b`, `ab`, `a\b`, `a\_b`, `a\%b`}
		for _, text := range texts {
			// In each of the texts that have an index of their own, and in one that has none.
			c.get(t, `mutation ($text: String!) { createGenre(input: {name: $text, description: $text, categoryId: 1}) { genre { id } } }`, `{"text":`+encode(t, text)+`}`)
			c.get(t, `mutation ($text: String!) { createBook(input: {name: $text, author: $text, description: $text, pages: 1, publishedAt: "2000-01-01", price: 1, genreId: 1}) { book { id } } }`, `{"text":`+encode(t, text)+`}`)
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
							variables := encode(t, map[string]any{"f": map[string]any{name: map[string]any{operator: operand}}})
							document := fmt.Sprintf(`query ($f: %s) { %s(filter: $f) { totalCount } }`, types[list], list)
							if got := c.get(t, document, variables); got != fmt.Sprintf(`{"%s":{"totalCount":%d}}`, list, want) {
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
	c := serve(t, catalogtest.SQLite(t))
	c.shelves(t)
	const document = `query ($f: BookFilter) { books(filter: $f) { totalCount } }`
	filter := func(n int) string {
		conditions := make([]any, n)
		for i := range conditions {
			conditions[i] = map[string]any{"pages": map[string]int{"eq": i + 300}}
		}
		return encode(t, map[string]any{"or": conditions})
	}
	c.want(t, document, `{"f":`+filter(limit)+`}`, `{"books":{"totalCount":3}}`)
	c.wantError(t, document, `{"f":`+filter(limit+1)+`}`, "BAD_USER_INPUT", "The filter must not have more than 200 conditions.")
}

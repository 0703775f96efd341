package server_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest/catalogtest"
)

// TestSearchGolden asks both endpoints over both databases for what the store is held
// to: the same books of the same shelf in the same order.
func TestSearchGolden(t *testing.T) {
	t.Parallel()
	read := func(name string) string {
		text, err := os.ReadFile("../db/testdata/" + name)
		must(t, err)
		return string(text)
	}
	golden, queries := read("search.golden"), strings.Split(strings.TrimSpace(read("queries.txt")), "\n")
	rows, err := csv.NewReader(strings.NewReader(read("shelf.csv"))).ReadAll()
	must(t, err)
	var shelf []any
	for _, row := range rows[1:] {
		shelf = append(shelf, map[string]any{
			"name": row[0], "author": row[1], "description": row[2], "pages": 1, "publishedAt": "2000-01-01", "price": 0, "genreId": 1,
		})
	}
	type found []struct {
		ID           any
		Name, Author string
	}
	write := func(b *strings.Builder, text string, count int, first found) {
		fmt.Fprintf(b, "%s: %d\n", text, count)
		for _, book := range first {
			fmt.Fprintf(b, "  %v %s / %s\n", book.ID, book.Name, book.Author)
		}
	}
	catalogtest.Each(t, func(t *testing.T, databaseURL string) {
		c := serve(t, databaseURL)
		c.get(t, `mutation ($shelf: [CreateBookInput!]!) {
			createCategory(input: {name: "Fiction"}) { category { id } }
			createGenre(input: {name: "Fantasy", categoryId: 1}) { genre { id } }
			createBooks(input: {books: $shelf}) { count }
		}`, encode(t, map[string]any{"shelf": shelf}))
		var byGraphQL, byREST strings.Builder
		for _, text := range queries {
			var page struct {
				Books struct {
					TotalCount int
					Nodes      found
				}
			}
			unmarshal(t, c.get(t, `query ($text: String!) { books(search: $text, first: 10) { totalCount nodes { id name author } } }`,
				encode(t, map[string]string{"text": text})), &page)
			write(&byGraphQL, text, page.Books.TotalCount, page.Books.Nodes)

			var whole struct{ Data found }
			must(t, json.Unmarshal(c.do("GET", "/api/books?q="+url.QueryEscape(text), "").Body.Bytes(), &whole))
			write(&byREST, text, len(whole.Data), whole.Data[:min(10, len(whole.Data))])
		}
		for face, got := range map[string]string{"GraphQL": byGraphQL.String(), "/api": byREST.String()} {
			if diff := cmp.Diff(golden, got); diff != "" {
				t.Errorf("what the searches find by %s (-want +got):\n%s", face, diff)
			}
		}
	})
}

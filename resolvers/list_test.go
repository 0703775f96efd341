package resolvers_test

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/server/servertest"
)

// TestEachOrder walks through each list in order of each field, forwards and
// backwards: the rows come as their values have them, and then their ids.
func TestEachOrder(t *testing.T) {
	t.Parallel()
	schema := graph.NewExecutableSchema(graph.Config{}).Schema()
	numbers := map[string]string{"ID": "IDFilter", "PAGES": "IntFilter", "PRICE": "DecimalFilter"}
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		c.Shelves(t)
		for list, enum := range map[string]string{"books": "BookOrderField", "genres": "GenreOrderField", "categories": "CategoryOrderField"} {
			for _, field := range schema.Types[enum].EnumValues {
				selected, typename := model.Camel(strings.ToLower(field.Name)), numbers[field.Name]
				switch {
				case field.Name == model.Relevance:
					continue // TestSearchGolden has it
				case field.Name == "GENRE_NAME":
					selected = "genre { value: name }"
				case field.Name == "CATEGORY_NAME" && list == "books":
					selected = "genre { value: category { value: name } }"
				case field.Name == "CATEGORY_NAME":
					selected = "category { value: name }"
				}
				f := model.Entities[strings.TrimSuffix(enum, "OrderField")].Field(selected)
				if f == nil || f.Kind == model.KindText {
					typename = "StringFilter"
				}
				rows := rowsOf(t, c, list, selected)
				for direction, sign := range map[string]int{"ASC": 1, "DESC": -1} {
					want := []string{}
					for _, r := range slices.SortedFunc(slices.Values(rows), func(a, b shown) int {
						return sign * cmp.Or(compared(a.text(), b.text(), typename), compared(a.id, b.id, "IDFilter"))
					}) {
						want = append(want, r.id)
					}
					orderBy := fmt.Sprintf("{field: %s, direction: %s}", field.Name, direction)
					if diff := gocmp.Diff(want, walk(t, c, list, orderBy, false)); diff != "" {
						t.Errorf("%s by %s (-want +got):\n%s", list, orderBy, diff)
					}
					if diff := gocmp.Diff(want, walk(t, c, list, orderBy, true)); diff != "" {
						t.Errorf("%s by %s, backwards (-want +got):\n%s", list, orderBy, diff)
					}
				}
			}
		}
	})
}

// walk returns the ids of a list that is read two rows at a time.
func walk(t *testing.T, c *servertest.Client, list, orderBy string, backwards bool) (ids []string) {
	t.Helper()
	ids = []string{}
	page := "first: 2, after: $at"
	if backwards {
		page = "last: 2, before: $at"
	}
	document := fmt.Sprintf(`query ($at: String) { x: %s(orderBy: %s, %s) { nodes { id } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } }`, list, orderBy, page)
	for at, more := "null", true; more; {
		var got struct {
			X struct {
				Nodes    []struct{ ID string }
				PageInfo struct {
					HasNextPage, HasPreviousPage bool
					StartCursor, EndCursor       string
				}
			}
		}
		servertest.Unmarshal(t, c.Get(t, document, `{"at":`+at+`}`), &got)
		var read []string
		for _, n := range got.X.Nodes {
			read = append(read, n.ID)
		}
		info := got.X.PageInfo
		if backwards {
			ids, at, more = append(read, ids...), servertest.Encode(t, info.StartCursor), info.HasPreviousPage
		} else {
			ids, at, more = append(ids, read...), servertest.Encode(t, info.EndCursor), info.HasNextPage
		}
	}
	return ids
}

// TestPagesOfParents asks for pages of 20 by default and of about as many rows as
// there are: each list tells by itself how many it has, and whether more follow.
func TestPagesOfParents(t *testing.T) {
	t.Parallel()
	type list struct {
		Nodes      []struct{ ID string }
		PageInfo   struct{ HasNextPage, HasPreviousPage bool }
		TotalCount int
	}
	const fields = `{ nodes { id } pageInfo { hasNextPage hasPreviousPage } totalCount }`
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		fill(t, url)
		check := func(what string, got list, size, of int) {
			t.Helper()
			if len(got.Nodes) != min(size, of) || got.PageInfo.HasNextPage != (size < of) || got.PageInfo.HasPreviousPage || got.TotalCount != of {
				t.Errorf("%d %s of %d: there are %d, %+v, totalCount %d", size, what, of, len(got.Nodes), got.PageInfo, got.TotalCount)
			}
		}
		var got struct {
			Books, Genres, Categories list
			Genre                     struct{ Books list }
			Category                  struct{ Genres, Books list }
		}
		servertest.Unmarshal(t, c.Get(t, strings.ReplaceAll(`{ books X genres X categories X genre(id: 7) { books X } category(id: 3) { genres X books X } }`, "X", fields), ""), &got)
		check("books", got.Books, 20, 1200)
		check("genres", got.Genres, 20, 20)
		check("categories", got.Categories, 20, 5)
		check("books of a genre", got.Genre.Books, 20, 60)
		check("genres of a category", got.Category.Genres, 20, 4)
		check("books of a category", got.Category.Books, 20, 240)
		for _, size := range []int{0, 3, 4, 5, 59, 60, 61, 239, 240, 241} {
			var got struct {
				Genres     struct{ Nodes []struct{ Books list } }
				Categories struct {
					Nodes []struct{ Genres, Books list }
				}
			}
			servertest.Unmarshal(t, c.Get(t, `query ($n: Int!) { genres { nodes { books(first: $n) `+fields+` } } categories { nodes { genres(first: $n) `+fields+` books(first: $n) `+fields+` } } }`,
				fmt.Sprintf(`{"n":%d}`, size)), &got)
			if len(got.Genres.Nodes) != 20 || len(got.Categories.Nodes) != 5 {
				t.Errorf("there are %d genres and %d categories", len(got.Genres.Nodes), len(got.Categories.Nodes))
			}
			for _, g := range got.Genres.Nodes {
				check("books of a genre", g.Books, size, 60)
			}
			for _, k := range got.Categories.Nodes {
				check("genres of a category", k.Genres, size, 4)
				check("books of a category", k.Books, size, 240)
			}
		}
	})
}

// TestPageNumbers reads pages by number again and again: in the end each is one
// statement that begins near the page, and has the rows that the whole list has
// there. After a change, which moves all pages, none is out of date.
func TestPageNumbers(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		fill(t, url)
		var mu sync.Mutex
		var statements []string
		c.Store.Observe(func(_ context.Context, statement stats.Statement) {
			mu.Lock()
			defer mu.Unlock()
			statements = append(statements, statement.Text)
		})
		rows := func(query string) (rows []json.RawMessage, total string, text string) {
			t.Helper()
			mu.Lock()
			statements = nil
			mu.Unlock()
			w := c.Do(http.MethodGet, "/api/books?"+query, "")
			var list struct{ Data []json.RawMessage }
			if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || w.Code != http.StatusOK {
				t.Fatalf("%s: status %d, %v: %.500s", query, w.Code, err, w.Body)
			}
			mu.Lock()
			defer mu.Unlock()
			return list.Data, w.Header().Get("X-Total-Count"), strings.Join(statements, "\n")
		}
		for _, change := range []string{"", "DELETE FROM books WHERE id = 7", "UPDATE books SET price_cents = 1000000 WHERE id = 8"} {
			if change != "" {
				execSQL(t, url, change)
			}
			for _, list := range []string{"", "sort=name", "sort=-price,author", "sort=genre_name", "price_min=0.02", "sort=-published_at&price_min=0.02&published_to=2001-01-01"} {
				all, _, _ := rows(list)
				page := func(number, size int) (text string) {
					t.Helper()
					got, total, text := rows(fmt.Sprintf("%s&per_page=%d&page=%d", list, size, number))
					from := min((number-1)*size, len(all))
					want := all[from:min(from+size, len(all))]
					if total != strconv.Itoa(len(all)) || !slices.EqualFunc(got, want, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
						t.Errorf("after %q, %s, page %d of %d: X-Total-Count %s of %d, %d rows, want %d: %.200s\nwant %.200s", change, list, number, size, total, len(all), len(got), len(want), got, want)
					}
					return text
				}
				for attempt := 0; ; attempt++ { // positions are read beside the requests
					text := page(12, 100)
					if !strings.Contains(text, "OFFSET") && !strings.Contains(text, "FROM revision), (SELECT count(*)") {
						break
					}
					if attempt == 2000 {
						t.Fatalf("%s: rows are still counted or passed over:\n%s", list, text)
					}
				}
				for _, number := range []int{1, 2, 11, 12, 13, 14} { // in between, and past the end
					page(number, 97)
				}
			}
		}
	})
}

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
		c := servertest.Serve(t, databaseURL)
		c.Get(t, `mutation ($shelf: [CreateBookInput!]!) {
			createCategory(input: {name: "Fiction"}) { category { id } }
			createGenre(input: {name: "Fantasy", categoryId: 1}) { genre { id } }
			createBooks(input: {books: $shelf}) { count }
		}`, servertest.Encode(t, map[string]any{"shelf": shelf}))
		var byGraphQL, byREST strings.Builder
		for _, text := range queries {
			var page struct {
				Books struct {
					TotalCount int
					Nodes      found
				}
			}
			servertest.Unmarshal(t, c.Get(t, `query ($text: String!) { books(search: $text, first: 10) { totalCount nodes { id name author } } }`,
				servertest.Encode(t, map[string]string{"text": text})), &page)
			write(&byGraphQL, text, page.Books.TotalCount, page.Books.Nodes)

			var whole struct{ Data found }
			must(t, json.Unmarshal(c.Do("GET", "/api/books?q="+url.QueryEscape(text), "").Body.Bytes(), &whole))
			write(&byREST, text, len(whole.Data), whole.Data[:min(10, len(whole.Data))])
		}
		for endpoint, got := range map[string]string{"GraphQL": byGraphQL.String(), "/api": byREST.String()} {
			if diff := gocmp.Diff(golden, got); diff != "" {
				t.Errorf("what the searches find by %s (-want +got):\n%s", endpoint, diff)
			}
		}
	})
}

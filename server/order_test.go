package server_test

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph"
	"library-catalogue/graph/model"
)

// TestEachOrder walks through each list in order of each field, forwards and
// backwards: the rows come as their values have them, and then their ids.
func TestEachOrder(t *testing.T) {
	t.Parallel()
	schema := graph.NewExecutableSchema(graph.Config{}).Schema()
	numbers := map[string]string{"ID": "IDFilter", "PAGES": "IntFilter", "PRICE": "DecimalFilter"}
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := serve(t, url)
		c.shelves(t)
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
				rows := c.rowsOf(t, list, selected)
				for direction, sign := range map[string]int{"ASC": 1, "DESC": -1} {
					want := []string{}
					for _, r := range slices.SortedFunc(slices.Values(rows), func(a, b shown) int {
						return sign * cmp.Or(compared(a.text(), b.text(), typename), compared(a.id, b.id, "IDFilter"))
					}) {
						want = append(want, r.id)
					}
					orderBy := fmt.Sprintf("{field: %s, direction: %s}", field.Name, direction)
					if diff := gocmp.Diff(want, c.walk(t, list, orderBy, false)); diff != "" {
						t.Errorf("%s by %s (-want +got):\n%s", list, orderBy, diff)
					}
					if diff := gocmp.Diff(want, c.walk(t, list, orderBy, true)); diff != "" {
						t.Errorf("%s by %s, backwards (-want +got):\n%s", list, orderBy, diff)
					}
				}
			}
		}
	})
}

// walk returns the ids of a list that is read two rows at a time.
func (c *client) walk(t *testing.T, list, orderBy string, backwards bool) (ids []string) {
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
		unmarshal(t, c.get(t, document, `{"at":`+at+`}`), &got)
		var read []string
		for _, n := range got.X.Nodes {
			read = append(read, n.ID)
		}
		info := got.X.PageInfo
		if backwards {
			ids, at, more = append(read, ids...), encode(t, info.StartCursor), info.HasPreviousPage
		} else {
			ids, at, more = append(ids, read...), encode(t, info.EndCursor), info.HasNextPage
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
		c := serve(t, url)
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
		unmarshal(t, c.get(t, strings.ReplaceAll(`{ books X genres X categories X genre(id: 7) { books X } category(id: 3) { genres X books X } }`, "X", fields), ""), &got)
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
			unmarshal(t, c.get(t, `query ($n: Int!) { genres { nodes { books(first: $n) `+fields+` } } categories { nodes { genres(first: $n) `+fields+` books(first: $n) `+fields+` } } }`,
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

package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
)

// unconditional are filters by the edges of a type that are true of all rows.
var unconditional = map[string][]string{
	"Books":      {`{"genre":{}}`, `{"genre":{"name":{}}}`, `{"genre":{"category":{"name":{"notIn":[]}}}}`, `{"genre":{"books":{}}}`, `{"genre":{"or":[{"name":{"eq":"x"}},{}]}}`},
	"Genres":     {`{"category":{}}`, `{"category":{"not":{"or":[]}}}`, `{"books":{}}`, `{"books":{"every":{}}}`, `{"books":{"none":{"or":[]}}}`},
	"Categories": {`{"genres":{"every":{"category":{}}}}`, `{"genres":{"none":{"id":{"in":[]}}}}`},
}

// TestBulkFilterBounds passes filters and counts that are refused: nothing is
// changed by them.
func TestBulkFilterBounds(t *testing.T) {
	onEach(t, func(t *testing.T, c *client) {
		before := revision(t, c.store)
		for _, noun := range []string{"Books", "Genres", "Categories"} {
			update := `mutation ($filter: ` + strings.TrimSuffix(strings.Replace(noun, "ies", "ys", 1), "s") + `Filter!, $atMost: Int!) {
  update` + noun + `(input: {filter: $filter, atMost: $atMost, patch: {name: "X"}}) { count } }`
			remove := strings.Replace(strings.Replace(update, "update", "delete", 1), `, patch: {name: "X"}`, "", 1)
			for _, document := range []string{update, remove} {
				for _, filter := range append([]string{`{}`, `{"and":[]}`, `{"and":[{},{"and":[]}]}`, `{"or":[{}]}`, `{"not":{"or":[]}}`, `{"id":{}}`, `{"id":{},"name":{}}`,
					`{"or":[{"id":{}},{"id":{"eq":0}}]}`, `{"not":{"and":[{"id":{"gt":0}},{"or":[]}]}}`, `{"id":{"notIn":[]}}`, `{"name":{"notIn":[]}}`}, unconditional[noun]...) {
					c.wantError(t, document, `{"filter":`+filter+`,"atMost":10000}`, "BAD_USER_INPUT", "The filter must have a condition.")
				}
				for _, filter := range []string{`{"or":[]}`, `{"not":{}}`, `{"id":{"in":[]}}`, `{"and":[{"or":[]},{"id":{"gt":0}}]}`, `{"or":[{"id":{"eq":99}},{"name":{"eq":"x"}}]}`, `{"not":{"id":{"gt":0}}}`, `{"and":[{"not":{"or":[]}},{"id":{"eq":99}}]}`, `{"id":{},"name":{"in":["x","y"]}}`} {
					if got := c.get(t, document, `{"filter":`+filter+`,"atMost":10000}`); !strings.Contains(got, `{"count":0}`) {
						t.Errorf("%s: %s", filter, got)
					}
				}
				for _, filter := range []string{`{"id":null}`, `{"id":{"eq":null}}`, `{"and":null}`, `{"name":{"eq":null}}`, `{"name":{"eq":"\u0000"}}`, `{"id":{"eq":"x"}}`} {
					c.wantError(t, document, `{"filter":`+filter+`,"atMost":10000}`, "BAD_USER_INPUT", "")
				}
				for _, atMost := range []string{"0", "-1", "10001", "2147483647"} {
					c.wantError(t, document, `{"filter":{"id":{"eq":1}},"atMost":`+atMost+`}`, "BAD_USER_INPUT", "The atMost field must be between 1 and 10000.")
				}
				for _, name := range []string{"'; DROP TABLE books; --", "' OR 1=1 --", "%", "_", `\`, "*", `"`, "x') OR ('1'='1"} {
					for _, operator := range []string{"eq", "contains", "istartsWith"} {
						got := c.get(t, document, `{"filter":{"name":{"`+operator+`":`+encode(t, name)+`}},"atMost":10000}`)
						if !strings.Contains(got, `{"count":0}`) {
							t.Errorf("%s %s: %s", operator, name, got)
						}
					}
				}
			}
			c.wantError(t, remove, `{"filter":{"id":{"gt":0}},"atMost":1}`, "BAD_USER_INPUT", " "+strings.ToLower(noun)+", and atMost is 1. Nothing was changed.")
		}
		if after := revision(t, c.store); after != before {
			t.Error("something was changed")
		}
	})
}

// TestBulkFilterMost changes and deletes as many rows as may be at once.
func TestBulkFilterMost(t *testing.T) {
	onEach(t, func(t *testing.T, c *client) {
		rows := mostRows(c.url)
		c.createBooks(t, `{"books":`+manyBooks(rows, nil)+`}`)
		const update = `mutation ($atMost: Int!) { updateBooks(input: {filter: {name: {startsWith: "n"}}, atMost: $atMost, patch: {price: "3.5", genreId: 2}}) { count results { index book { name version genre { name } } error { code } } } }`
		c.wantError(t, update, fmt.Sprintf(`{"atMost":%d}`, rows-1), "BAD_USER_INPUT", fmt.Sprintf("The filter matches %d books, and atMost is %d. Nothing was changed.", rows, rows-1))
		var data struct {
			UpdateBooks struct {
				Count   int
				Results []struct {
					Index int
					Book  struct {
						Name    string
						Version int
						Genre   struct{ Name string }
					}
				}
			}
		}
		unmarshal(t, c.get(t, update, `{"atMost":10000}`), &data)
		if data.UpdateBooks.Count != rows || len(data.UpdateBooks.Results) != rows {
			t.Fatalf("%d of %d", data.UpdateBooks.Count, len(data.UpdateBooks.Results))
		}
		for i, r := range data.UpdateBooks.Results {
			if r.Index != i || r.Book.Name != fmt.Sprint("n", i) || r.Book.Version != 2 || r.Book.Genre.Name != "Novel" {
				t.Fatalf("row %d: %+v", i, r)
			}
		}
		for _, document := range []string{
			`mutation { updateBooks(input: {filter: {price: {eq: "3.5"}}, atMost: 10000, patch: {pages: 7}}) { count } }`,
			`mutation { deleteBooks(input: {filter: {price: {eq: "3.5"}}, atMost: 10000}) { count } }`,
		} {
			if n := c.timing(t, document, ""); n > 5 {
				t.Errorf("%d statements: %s", n, document)
			}
		}
		c.want(t, "{ books { totalCount } }", "", `{"books":{"totalCount":4}}`)
	})
}

// TestBulkFilterIsWhole makes the database fail at one of many rows.
func TestBulkFilterIsWhole(t *testing.T) {
	onEach(t, func(t *testing.T, c *client) {
		const all = "{ books { nodes { id version pages } } genres { totalCount } }"
		before := c.get(t, all, "")
		if strings.HasPrefix(c.url, "sqlite:") {
			execSQL(t, c.url, `CREATE TRIGGER fails BEFORE UPDATE ON books WHEN NEW.id = 3 BEGIN SELECT RAISE(ABORT, 'the test'); END`,
				`CREATE TRIGGER fails_too BEFORE DELETE ON books WHEN OLD.id = 3 BEGIN SELECT RAISE(ABORT, 'the test'); END`)
		} else {
			execSQL(t, c.url, `CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the test'; END $$`,
				`CREATE TRIGGER fails BEFORE UPDATE OR DELETE ON books FOR EACH ROW WHEN (OLD.id = 3) EXECUTE FUNCTION fails()`)
		}
		for _, document := range []string{
			`mutation { updateBooks(input: {filter: {id: {gt: 0}}, atMost: 9, patch: {pages: 1}}) { count } }`,
			`mutation { deleteBooks(input: {filter: {id: {gt: 0}}, atMost: 9}) { count } }`,
			`mutation { deleteGenres(input: {filter: {id: {gt: 0}}, atMost: 9, onChildren: CASCADE}) { count } }`,
			`mutation { deleteGenres(input: {filter: {id: {eq: 2}}, onChildren: REASSIGN, reassignTo: 3}) { count } }`,
			`mutation { deleteCategories(input: {filter: {id: {gt: 0}}, atMost: 9, onChildren: CASCADE, errorPolicy: REJECT_ROW}) { count } }`,
		} {
			c.wantError(t, document, "", "INTERNAL", "Internal server error")
			if after := c.get(t, all, ""); after != before {
				t.Errorf("%s left %s", document, after)
			}
		}
	})
}

// TestBulkFilterAtOnce changes the same rows by several filters at once: each
// change is whole, and what no longer matches is left alone.
func TestBulkFilterAtOnce(t *testing.T) {
	onEach(t, func(t *testing.T, c *client) {
		c.createBooks(t, `{"books":`+manyBooks(200, nil)+`}`)
		var all sync.WaitGroup
		var mu sync.Mutex
		counts := map[string]int{}
		for i := range 8 {
			document := `mutation { x: updateBooks(input: {filter: {name: {startsWith: "n"}}, atMost: 1000, patch: {pages: 2}}) { count } }`
			if i%2 == 1 { // only the first of them finds any
				document = `mutation { x: updateBooks(input: {filter: {name: {startsWith: "n"}, author: {eq: "A"}}, atMost: 1000, patch: {author: "B"}}) { count } }`
			}
			all.Go(func() {
				got := c.get(t, document, "")
				mu.Lock()
				defer mu.Unlock()
				counts[got]++
			})
		}
		all.Wait()
		if counts[`{"x":{"count":200}}`] != 5 || counts[`{"x":{"count":0}}`] != 3 {
			t.Errorf("%v", counts)
		}
		var data struct {
			Books struct{ Nodes []json.RawMessage }
		}
		unmarshal(t, c.get(t, `{ books(first: 1000, filter: {name: {startsWith: "n"}}) { nodes { version author pages } } }`, ""), &data)
		for _, node := range data.Books.Nodes {
			if string(node) != `{"version":6,"author":"B","pages":2}` {
				t.Fatalf("%s", node)
			}
		}
	})
}

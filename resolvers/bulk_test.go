package resolvers_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"library-catalogue/server/servertest"
)

const createBooks = `mutation ($input: CreateBooksInput!) { createBooks(input: $input) { count results { index book { id name genreId } error { message fields { field message } } } } }`

// bulk is what createBooks answers.
type bulk struct {
	Count   int
	Results []struct {
		Index int
		Book  *struct{ ID, Name, GenreID string }
		Error *struct {
			Message string
			Fields  []struct{ Field, Message string }
		}
	}
}

// manyBooks writes so many books as JSON, of which change may change each.
func manyBooks(rows int, change func(i int, row map[string]any)) string {
	books := make([]map[string]any, rows)
	for i := range books {
		books[i] = map[string]any{"name": fmt.Sprint("n", i), "pages": 1, "publishedAt": "2000-01-01", "author": "A", "price": 1, "genreId": 1}
		if change != nil {
			change(i, books[i])
		}
	}
	text, err := json.Marshal(books)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// storeBooks stores books in bulk.
func storeBooks(t *testing.T, c *servertest.Client, input string) bulk {
	t.Helper()
	var data struct{ CreateBooks bulk }
	servertest.Unmarshal(t, c.Get(t, createBooks, `{"input":`+input+`}`), &data)
	return data.CreateBooks
}

// mostRows returns how many rows a test writes at once: as many as may be, but on
// SQLite fewer under the race detector, which makes that many times slower.
func mostRows(url string) int {
	if raceDetector && strings.HasPrefix(url, "sqlite:") {
		return 500
	}
	return 10_000
}

// TestBulkMost stores as many rows as may be stored at once, in few statements.
func TestBulkMost(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		rows := mostRows(c.URL)
		body := servertest.Encode(t, map[string]any{"query": createBooks, "variables": json.RawMessage(`{"input":{"books":` + manyBooks(rows, nil) + `}}`)})
		w := c.Do(http.MethodPost, "/graphql", body)
		t.Logf("%s for a body of %d bytes", w.Header().Get("Server-Timing"), len(body))
		a := servertest.Parse(t, w)
		if w.Code != http.StatusOK || len(a.Errors) > 0 {
			t.Fatalf("%d %+v", w.Code, a.Errors)
		}
		var data struct{ CreateBooks bulk }
		servertest.Unmarshal(t, string(a.Data), &data)
		b := data.CreateBooks
		if b.Count != rows || len(b.Results) != rows {
			t.Fatalf("%d of %d", b.Count, len(b.Results))
		}
		for i, r := range b.Results {
			if r.Index != i || r.Error != nil || r.Book.Name != fmt.Sprint("n", i) || r.Book.ID != fmt.Sprint(5+i) {
				t.Fatalf("row %d: %+v", i, r)
			}
		}
		if n := servertest.StatementCount(t, w); n > rows/100+10 {
			t.Errorf("%d statements", n)
		}
		c.Want(t, "{ books { totalCount } }", "", fmt.Sprintf(`{"books":{"totalCount":%d}}`, 4+rows))
		// One more is refused, and so is what is longer than a request may be.
		for noun, row := range map[string]string{"Categories": `{"name":"C"}`, "Genres": `{"name":"G"}`, "Books": `{` + servertest.BookVariables + `}`} {
			lower := strings.ToLower(noun)
			many := "[" + strings.TrimSuffix(strings.Repeat(row+",", 10_001), ",") + "]"
			f := c.WantError(t, `mutation ($input: Create`+noun+`Input!) { create`+noun+`(input: $input) { count } }`, `{"input":{"`+lower+`":`+many+`}}`,
				"BAD_USER_INPUT", "The "+lower+" field must not have more than 10000 rows.")
			if len(f.Extensions.Fields) != 1 || f.Extensions.Fields[0].Field != lower {
				t.Errorf("%+v", f)
			}
		}
		c.Want(t, "{ books { totalCount } genres { totalCount } categories { totalCount } }", "", fmt.Sprintf(`{"books":{"totalCount":%d},"genres":{"totalCount":3},"categories":{"totalCount":2}}`, 4+rows))
	})
}

// TestBulkPolicies passes bad rows among good ones.
func TestBulkPolicies(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		before := c.Lengths(t)
		bad := map[int]string{
			0: "name: The name field is required.", 120: "genreId: The selected genre id is invalid.",
			199: "genre.create.category.connect.id: The selected category id is invalid.", 249: "price: The price field must not be greater than 99999999.99.",
		}
		rows := manyBooks(250, func(i int, row map[string]any) {
			switch i {
			case 0:
				row["name"] = " "
			case 120:
				row["genreId"] = 99
			case 199:
				delete(row, "genreId")
				row["genre"] = json.RawMessage(`{"create":{"name":"G","category":{"connect":{"id":99}}}}`)
			case 200:
				delete(row, "genreId")
				row["genre"] = json.RawMessage(`{"create":{"name":"'; DROP TABLE genres; --","category":{"create":{"name":"%_\\\u2028x"}}}}`)
			case 249:
				row["price"] = 1e9
			}
		})
		check := func(b bulk, policy string) {
			t.Helper()
			if len(b.Results) != 250 {
				t.Fatalf("%s: %d results", policy, len(b.Results))
			}
			for i, r := range b.Results {
				want, got := bad[i], ""
				if r.Error != nil && len(r.Error.Fields) == 1 {
					got = r.Error.Fields[0].Field + ": " + r.Error.Fields[0].Message
				}
				if r.Index != i || got != want || (r.Error != nil) != (want != "") || (r.Book != nil) != (want == "" && policy == "REJECT_ROW") {
					t.Errorf("%s, row %d: %+v, %q, want %q", policy, i, r, got, want)
				}
			}
		}
		for _, policy := range []string{"", "REJECT_ALL"} {
			input := `{"books":` + rows + `,"errorPolicy":"` + policy + `"}`
			if policy == "" {
				input = `{"books":` + rows + `}`
			}
			b := storeBooks(t, c, input)
			check(b, policy)
			if b.Count != 0 || c.Lengths(t) != before {
				t.Errorf("%q: %d were written; there were %s, and are %s", policy, b.Count, before, c.Lengths(t))
			}
		}
		b := storeBooks(t, c, `{"books":`+rows+`,"errorPolicy":"REJECT_ROW"}`)
		check(b, "REJECT_ROW")
		if b.Count != 246 {
			t.Errorf("%d were written", b.Count)
		}
		c.Want(t, "{ books { totalCount } genres(last: 1) { totalCount nodes { name category { name } } } categories { totalCount } }", "",
			`{"books":{"totalCount":250},"genres":{"totalCount":4,"nodes":[{"name":"'; DROP TABLE genres; --","category":{"name":"%_\\`+"\u2028x"+`"}}]},"categories":{"totalCount":3}}`)
		// A value that its type does not take refuses the request, and says where it stands.
		f := c.WantError(t, createBooks, `{"input":{"errorPolicy":"REJECT_ROW","books":`+manyBooks(5, func(i int, row map[string]any) {
			if i == 3 {
				row["publishedAt"] = "soon"
			}
		})+`}}`, "BAD_USER_INPUT", "The published at field must be a valid date.")
		if len(f.Extensions.Fields) != 1 || f.Extensions.Fields[0].Field != "books.3.publishedAt" {
			t.Errorf("%+v", f)
		}
		c.Want(t, "{ books { totalCount } }", "", `{"books":{"totalCount":250}}`)
	})
}

// TestBulkIsWhole makes the database fail in the middle of a bulk write.
func TestBulkIsWhole(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		before := c.Lengths(t)
		fail := `CREATE TRIGGER fails BEFORE INSERT ON books WHEN NEW.name = 'n234' BEGIN SELECT RAISE(ABORT, 'the test'); END`
		if !strings.HasPrefix(c.URL, "sqlite:") {
			fail = `CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the test'; END $$;
CREATE TRIGGER fails BEFORE INSERT ON books FOR EACH ROW WHEN (NEW.name = 'n234') EXECUTE FUNCTION fails()`
		}
		execSQL(t, c.URL, fail)
		for _, policy := range []string{"REJECT_ALL", "REJECT_ROW"} {
			c.WantError(t, createBooks, `{"input":{"errorPolicy":"`+policy+`","books":`+manyBooks(250, func(i int, row map[string]any) {
				delete(row, "genreId")
				row["genre"] = json.RawMessage(`{"create":{"name":"G","category":{"create":{"name":"C"}}}}`)
			})+`}}`, "INTERNAL", "Internal server error")
			if after := c.Lengths(t); after != before {
				t.Errorf("%s: there were %s, and are %s", policy, before, after)
			}
		}
	})
}

// TestBulkAtOnce stores rows while their genre is deleted, again and again: each
// bulk write finds it or does not.
func TestBulkAtOnce(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		for range 5 {
			var made struct {
				CreateGenre struct{ Genre struct{ ID string } }
			}
			servertest.Unmarshal(t, c.Get(t, `mutation { createGenre(input: {name: "G", categoryId: 1}) { genre { id } } }`, ""), &made)
			genre := made.CreateGenre.Genre.ID
			var both sync.WaitGroup
			both.Go(func() {
				c.Get(t, `mutation { deleteGenre(input: {id: `+genre+`, onChildren: CASCADE}) { deletedGenreId } }`, "")
			})
			both.Go(func() {
				b := storeBooks(t, c, `{"books":`+manyBooks(120, func(_ int, row map[string]any) { row["genreId"] = genre })+`}`)
				if b.Count != 120 && (b.Count != 0 || b.Results[0].Error == nil || b.Results[0].Error.Message != "The selected genre id is invalid.") {
					t.Errorf("%d were written, %+v", b.Count, b.Results[0].Error)
				}
			})
			both.Wait()
			c.Want(t, "{ books { totalCount } }", "", `{"books":{"totalCount":4}}`)
		}
	})
}

// unconditional are filters by the edges of a type that are true of all rows.
var unconditional = map[string][]string{
	"Books":      {`{"genre":{}}`, `{"genre":{"name":{}}}`, `{"genre":{"category":{"name":{"notIn":[]}}}}`, `{"genre":{"books":{}}}`, `{"genre":{"or":[{"name":{"eq":"x"}},{}]}}`},
	"Genres":     {`{"category":{}}`, `{"category":{"not":{"or":[]}}}`, `{"books":{}}`, `{"books":{"every":{}}}`, `{"books":{"none":{"or":[]}}}`},
	"Categories": {`{"genres":{"every":{"category":{}}}}`, `{"genres":{"none":{"id":{"in":[]}}}}`},
}

// TestBulkFilterBounds passes filters and counts that are refused: nothing is
// changed by them.
func TestBulkFilterBounds(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		before := servertest.Revision(t, c.Store)
		for _, noun := range []string{"Books", "Genres", "Categories"} {
			update := `mutation ($filter: ` + strings.TrimSuffix(strings.Replace(noun, "ies", "ys", 1), "s") + `Filter!, $atMost: Int!) {
  update` + noun + `(input: {filter: $filter, atMost: $atMost, patch: {name: "X"}}) { count } }`
			remove := strings.Replace(strings.Replace(update, "update", "delete", 1), `, patch: {name: "X"}`, "", 1)
			for _, document := range []string{update, remove} {
				for _, filter := range append([]string{`{}`, `{"and":[]}`, `{"and":[{},{"and":[]}]}`, `{"or":[{}]}`, `{"not":{"or":[]}}`, `{"id":{}}`, `{"id":{},"name":{}}`,
					`{"or":[{"id":{}},{"id":{"eq":0}}]}`, `{"not":{"and":[{"id":{"gt":0}},{"or":[]}]}}`, `{"id":{"notIn":[]}}`, `{"name":{"notIn":[]}}`}, unconditional[noun]...) {
					c.WantError(t, document, `{"filter":`+filter+`,"atMost":10000}`, "BAD_USER_INPUT", "The filter must have a condition.")
				}
				for _, filter := range []string{`{"or":[]}`, `{"not":{}}`, `{"id":{"in":[]}}`, `{"and":[{"or":[]},{"id":{"gt":0}}]}`, `{"or":[{"id":{"eq":99}},{"name":{"eq":"x"}}]}`, `{"not":{"id":{"gt":0}}}`, `{"and":[{"not":{"or":[]}},{"id":{"eq":99}}]}`, `{"id":{},"name":{"in":["x","y"]}}`} {
					if got := c.Get(t, document, `{"filter":`+filter+`,"atMost":10000}`); !strings.Contains(got, `{"count":0}`) {
						t.Errorf("%s: %s", filter, got)
					}
				}
				for _, filter := range []string{`{"id":null}`, `{"id":{"eq":null}}`, `{"and":null}`, `{"name":{"eq":null}}`, `{"name":{"eq":"\u0000"}}`, `{"id":{"eq":"x"}}`} {
					c.WantError(t, document, `{"filter":`+filter+`,"atMost":10000}`, "BAD_USER_INPUT", "")
				}
				for _, atMost := range []string{"0", "-1", "10001", "2147483647"} {
					c.WantError(t, document, `{"filter":{"id":{"eq":1}},"atMost":`+atMost+`}`, "BAD_USER_INPUT", "The atMost field must be between 1 and 10000.")
				}
				for _, name := range []string{"'; DROP TABLE books; --", "' OR 1=1 --", "%", "_", `\`, "*", `"`, "x') OR ('1'='1"} {
					for _, operator := range []string{"eq", "contains", "istartsWith"} {
						got := c.Get(t, document, `{"filter":{"name":{"`+operator+`":`+servertest.Encode(t, name)+`}},"atMost":10000}`)
						if !strings.Contains(got, `{"count":0}`) {
							t.Errorf("%s %s: %s", operator, name, got)
						}
					}
				}
			}
			c.WantError(t, remove, `{"filter":{"id":{"gt":0}},"atMost":1}`, "BAD_USER_INPUT", " "+strings.ToLower(noun)+", and atMost is 1. Nothing was changed.")
		}
		if after := servertest.Revision(t, c.Store); after != before {
			t.Error("something was changed")
		}
	})
}

// TestBulkFilterMost changes and deletes as many rows as may be at once.
func TestBulkFilterMost(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		rows := mostRows(c.URL)
		storeBooks(t, c, `{"books":`+manyBooks(rows, nil)+`}`)
		const update = `mutation ($atMost: Int!) { updateBooks(input: {filter: {name: {startsWith: "n"}}, atMost: $atMost, patch: {price: "3.5", genreId: 2}}) { count results { index book { name version genre { name } } error { code } } } }`
		c.WantError(t, update, fmt.Sprintf(`{"atMost":%d}`, rows-1), "BAD_USER_INPUT", fmt.Sprintf("The filter matches %d books, and atMost is %d. Nothing was changed.", rows, rows-1))
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
		servertest.Unmarshal(t, c.Get(t, update, `{"atMost":10000}`), &data)
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
			if n := timing(t, c, document, ""); n > 6 { // with those that name the actor and, on SQLite, give the changes their time
				t.Errorf("%d statements: %s", n, document)
			}
		}
		c.Want(t, "{ books { totalCount } }", "", `{"books":{"totalCount":4}}`)
	})
}

// TestBulkFilterIsWhole makes the database fail at one of many rows.
func TestBulkFilterIsWhole(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		const all = "{ books { nodes { id version pages } } genres { totalCount } }"
		before := c.Get(t, all, "")
		if strings.HasPrefix(c.URL, "sqlite:") {
			execSQL(t, c.URL, `CREATE TRIGGER fails BEFORE UPDATE ON books WHEN NEW.id = 3 BEGIN SELECT RAISE(ABORT, 'the test'); END`,
				`CREATE TRIGGER fails_too BEFORE DELETE ON books WHEN OLD.id = 3 BEGIN SELECT RAISE(ABORT, 'the test'); END`)
		} else {
			execSQL(t, c.URL, `CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the test'; END $$`,
				`CREATE TRIGGER fails BEFORE UPDATE OR DELETE ON books FOR EACH ROW WHEN (OLD.id = 3) EXECUTE FUNCTION fails()`)
		}
		for _, document := range []string{
			`mutation { updateBooks(input: {filter: {id: {gt: 0}}, atMost: 9, patch: {pages: 1}}) { count } }`,
			`mutation { deleteBooks(input: {filter: {id: {gt: 0}}, atMost: 9}) { count } }`,
			`mutation { deleteGenres(input: {filter: {id: {gt: 0}}, atMost: 9, onChildren: CASCADE}) { count } }`,
			`mutation { deleteGenres(input: {filter: {id: {eq: 2}}, onChildren: REASSIGN, reassignTo: 3}) { count } }`,
			`mutation { deleteCategories(input: {filter: {id: {gt: 0}}, atMost: 9, onChildren: CASCADE, errorPolicy: REJECT_ROW}) { count } }`,
		} {
			c.WantError(t, document, "", "INTERNAL", "Internal server error")
			if after := c.Get(t, all, ""); after != before {
				t.Errorf("%s left %s", document, after)
			}
		}
	})
}

// TestBulkFilterAtOnce changes the same rows by several filters at once: each
// change is whole, and what no longer matches is left alone.
func TestBulkFilterAtOnce(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		storeBooks(t, c, `{"books":`+manyBooks(200, nil)+`}`)
		var all sync.WaitGroup
		var mu sync.Mutex
		counts := map[string]int{}
		for i := range 8 {
			document := `mutation { x: updateBooks(input: {filter: {name: {startsWith: "n"}}, atMost: 1000, patch: {pages: 2}}) { count } }`
			if i%2 == 1 { // only the first of them finds any
				document = `mutation { x: updateBooks(input: {filter: {name: {startsWith: "n"}, author: {eq: "A"}}, atMost: 1000, patch: {author: "B"}}) { count } }`
			}
			all.Go(func() {
				got := c.Get(t, document, "")
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
		servertest.Unmarshal(t, c.Get(t, `{ books(first: 1000, filter: {name: {startsWith: "n"}}) { nodes { version author pages } } }`, ""), &data)
		for _, node := range data.Books.Nodes {
			if string(node) != `{"version":6,"author":"B","pages":2}` {
				t.Fatalf("%s", node)
			}
		}
	})
}

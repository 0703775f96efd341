package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
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

// createBooks stores books in bulk.
func (c *client) createBooks(t *testing.T, input string) bulk {
	t.Helper()
	var data struct{ CreateBooks bulk }
	unmarshal(t, c.get(t, createBooks, `{"input":`+input+`}`), &data)
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
	onEach(t, func(t *testing.T, c *client) {
		rows := mostRows(c.url)
		body := encode(t, map[string]any{"query": createBooks, "variables": json.RawMessage(`{"input":{"books":` + manyBooks(rows, nil) + `}}`)})
		w := c.do(http.MethodPost, "/graphql", body)
		t.Logf("%s for a body of %d bytes", w.Header().Get("Server-Timing"), len(body))
		a := parse(t, w)
		if w.Code != http.StatusOK || len(a.Errors) > 0 {
			t.Fatalf("%d %+v", w.Code, a.Errors)
		}
		var data struct{ CreateBooks bulk }
		unmarshal(t, string(a.Data), &data)
		b := data.CreateBooks
		if b.Count != rows || len(b.Results) != rows {
			t.Fatalf("%d of %d", b.Count, len(b.Results))
		}
		for i, r := range b.Results {
			if r.Index != i || r.Error != nil || r.Book.Name != fmt.Sprint("n", i) || r.Book.ID != fmt.Sprint(5+i) {
				t.Fatalf("row %d: %+v", i, r)
			}
		}
		if n := statementCount(t, w); n > rows/100+10 {
			t.Errorf("%d statements", n)
		}
		c.want(t, "{ books { totalCount } }", "", fmt.Sprintf(`{"books":{"totalCount":%d}}`, 4+rows))
		// One more is refused, and so is what is longer than a request may be.
		for noun, row := range map[string]string{"Categories": `{"name":"C"}`, "Genres": `{"name":"G"}`, "Books": `{` + bookVariables + `}`} {
			lower := strings.ToLower(noun)
			many := "[" + strings.TrimSuffix(strings.Repeat(row+",", 10_001), ",") + "]"
			f := c.wantError(t, `mutation ($input: Create`+noun+`Input!) { create`+noun+`(input: $input) { count } }`, `{"input":{"`+lower+`":`+many+`}}`,
				"BAD_USER_INPUT", "The "+lower+" field must not have more than 10000 rows.")
			if len(f.Extensions.Fields) != 1 || f.Extensions.Fields[0].Field != lower {
				t.Errorf("%+v", f)
			}
		}
		c.want(t, "{ books { totalCount } genres { totalCount } categories { totalCount } }", "", fmt.Sprintf(`{"books":{"totalCount":%d},"genres":{"totalCount":3},"categories":{"totalCount":2}}`, 4+rows))
	})
}

// TestBulkPolicies passes bad rows among good ones.
func TestBulkPolicies(t *testing.T) {
	onEach(t, func(t *testing.T, c *client) {
		before := c.lengths(t)
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
			b := c.createBooks(t, input)
			check(b, policy)
			if b.Count != 0 || c.lengths(t) != before {
				t.Errorf("%q: %d were written; there were %s, and are %s", policy, b.Count, before, c.lengths(t))
			}
		}
		b := c.createBooks(t, `{"books":`+rows+`,"errorPolicy":"REJECT_ROW"}`)
		check(b, "REJECT_ROW")
		if b.Count != 246 {
			t.Errorf("%d were written", b.Count)
		}
		c.want(t, "{ books { totalCount } genres(last: 1) { totalCount nodes { name category { name } } } categories { totalCount } }", "",
			`{"books":{"totalCount":250},"genres":{"totalCount":4,"nodes":[{"name":"'; DROP TABLE genres; --","category":{"name":"%_\\`+"\u2028x"+`"}}]},"categories":{"totalCount":3}}`)
		// A value that its type does not take refuses the request, and says where it stands.
		f := c.wantError(t, createBooks, `{"input":{"errorPolicy":"REJECT_ROW","books":`+manyBooks(5, func(i int, row map[string]any) {
			if i == 3 {
				row["publishedAt"] = "soon"
			}
		})+`}}`, "BAD_USER_INPUT", "The published at field must be a valid date.")
		if len(f.Extensions.Fields) != 1 || f.Extensions.Fields[0].Field != "books.3.publishedAt" {
			t.Errorf("%+v", f)
		}
		c.want(t, "{ books { totalCount } }", "", `{"books":{"totalCount":250}}`)
	})
}

// TestBulkIsWhole makes the database fail in the middle of a bulk write.
func TestBulkIsWhole(t *testing.T) {
	onEach(t, func(t *testing.T, c *client) {
		before := c.lengths(t)
		fail := `CREATE TRIGGER fails BEFORE INSERT ON books WHEN NEW.name = 'n234' BEGIN SELECT RAISE(ABORT, 'the test'); END`
		if !strings.HasPrefix(c.url, "sqlite:") {
			fail = `CREATE FUNCTION fails() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'the test'; END $$;
CREATE TRIGGER fails BEFORE INSERT ON books FOR EACH ROW WHEN (NEW.name = 'n234') EXECUTE FUNCTION fails()`
		}
		execSQL(t, c.url, fail)
		for _, policy := range []string{"REJECT_ALL", "REJECT_ROW"} {
			c.wantError(t, createBooks, `{"input":{"errorPolicy":"`+policy+`","books":`+manyBooks(250, func(i int, row map[string]any) {
				delete(row, "genreId")
				row["genre"] = json.RawMessage(`{"create":{"name":"G","category":{"create":{"name":"C"}}}}`)
			})+`}}`, "INTERNAL", "Internal server error")
			if after := c.lengths(t); after != before {
				t.Errorf("%s: there were %s, and are %s", policy, before, after)
			}
		}
	})
}

// TestBulkAtOnce stores rows while their genre is deleted, again and again: each
// bulk write finds it or does not.
func TestBulkAtOnce(t *testing.T) {
	onEach(t, func(t *testing.T, c *client) {
		for range 5 {
			var made struct {
				CreateGenre struct{ Genre struct{ ID string } }
			}
			unmarshal(t, c.get(t, `mutation { createGenre(input: {name: "G", categoryId: 1}) { genre { id } } }`, ""), &made)
			genre := made.CreateGenre.Genre.ID
			var both sync.WaitGroup
			both.Go(func() {
				c.get(t, `mutation { deleteGenre(input: {id: `+genre+`, onChildren: CASCADE}) { deletedGenreId } }`, "")
			})
			both.Go(func() {
				b := c.createBooks(t, `{"books":`+manyBooks(120, func(_ int, row map[string]any) { row["genreId"] = genre })+`}`)
				if b.Count != 120 && (b.Count != 0 || b.Results[0].Error == nil || b.Results[0].Error.Message != "The selected genre id is invalid.") {
					t.Errorf("%d were written, %+v", b.Count, b.Results[0].Error)
				}
			})
			both.Wait()
			c.want(t, "{ books { totalCount } }", "", `{"books":{"totalCount":4}}`)
		}
	})
}

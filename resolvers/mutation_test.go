package resolvers_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/edge/auth"
	"library-catalogue/server/servertest"
)

// TestMutationsSucceed runs the documents above with a token: what is refused
// without one is refused for want of it alone.
func TestMutationsSucceed(t *testing.T) {
	t.Parallel()
	for name, document := range servertest.Mutations {
		t.Run(name, func(t *testing.T) {
			c := servertest.Serve(t, catalogtest.SQLite(t))
			if name != "loadSample" {
				c.Shelves(t)
			}
			if noun, ok := strings.CutPrefix(name, "restore"); ok { // a change to take back
				c.Get(t, servertest.Mutations["update"+noun], "")
			}
			before := servertest.Revision(t, c.Store)
			c.Get(t, document, "")
			if servertest.Revision(t, c.Store) == before {
				t.Error("nothing was written")
			}
		})
	}
}

// TestLaterFieldsSeeEarlierWrites runs many mutations in one document: in order,
// and none answers what was read before another wrote.
func TestLaterFieldsSeeEarlierWrites(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		c.Want(t, `mutation {
  a: updateBook(input: {id: 1, patch: {pages: 1}}) { book { genre { name category { name } books { totalCount nodes { name } } } } }
  b: updateGenre(input: {id: 1, patch: {name: "Renamed"}}) { genre { category { name books(first: 1) { nodes { genre { name } } } } } }
  c: updateCategory(input: {id: 1, patch: {name: "Renamed too"}}) { category { genres { nodes { name category { name } } } } }
  d: updateBook(input: {id: 1, patch: {genreId: 2}}) { book { genre { books { totalCount nodes { id } } category { name } } } }
  e: deleteBook(input: {id: 2}) { deletedBookId }
  f: updateGenre(input: {id: 1, patch: {categoryId: 2}}) { genre { books { totalCount nodes { id } } category { name genres { nodes { name } } } } }
  g: createBook(input: {name: "Last", pages: 1, publishedAt: "2000-01-01", author: "A", price: 1, genreId: 1}) { book { id genre { name books { nodes { id } } } } }
}`, "", `{
  "a": {"book": {"genre": {"name": "Fantasy", "category": {"name": "Fiction"}, "books": {"totalCount": 2, "nodes": [{"name": "The Hobbit"}, {"name": "The Silmarillion"}]}}}},
  "b": {"genre": {"category": {"name": "Fiction", "books": {"nodes": [{"genre": {"name": "Renamed"}}]}}}},
  "c": {"category": {"genres": {"nodes": [{"name": "Renamed", "category": {"name": "Renamed too"}}, {"name": "Novel", "category": {"name": "Renamed too"}}]}}},
  "d": {"book": {"genre": {"books": {"totalCount": 3, "nodes": [{"id": "1"}, {"id": "3"}, {"id": "4"}]}, "category": {"name": "Renamed too"}}}},
  "e": {"deletedBookId": "2"},
  "f": {"genre": {"books": {"totalCount": 0, "nodes": []}, "category": {"name": "Non-fiction", "genres": {"nodes": [{"name": "Renamed"}, {"name": "History"}]}}}},
  "g": {"book": {"id": "5", "genre": {"name": "Renamed", "books": {"nodes": [{"id": "5"}]}}}}
}`)
		// One that fails keeps none of the others from their work.
		a := c.Ask(t, `mutation {
  a: deleteBook(input: {id: 99}) { deletedBookId }
  b: deleteBook(input: {id: 5}) { deletedBookId }
}`, "")
		if string(a.Data) != `{"a":null,"b":{"deletedBookId":"5"}}` || len(a.Errors) != 1 {
			t.Errorf("%s, %+v", a.Data, a.Errors)
		}
	})
}

// TestVersionsAreOneForBothFaces reads by the one and writes by the other.
func TestVersionsAreOneForBothFaces(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		update := `mutation ($version: Int!) { updateBook(input: {id: 1, expectedVersion: $version, patch: {pages: 1}}) { book { version } } }`
		read := c.Do(http.MethodGet, "/api/books/1", "")
		version := strings.Split(strings.Trim(read.Header().Get("ETag"), `"`), ".")[0]
		c.Want(t, update, `{"version":`+version+`}`, `{"updateBook":{"book":{"version":2}}}`)
		c.WantError(t, update, `{"version":`+version+`}`, "CONFLICT", "Book was changed by someone else. Read it again.")
		if w := c.Do(http.MethodDelete, "/api/books/1", "", "If-Match: "+read.Header().Get("ETag")); w.Code != http.StatusPreconditionFailed {
			t.Errorf("a stale DELETE under /api: status %d", w.Code)
		}
		c.Want(t, "{ book(id: 1) { version pages } }", "", `{"book":{"version":2,"pages":1}}`)
	})
}

// TestMoneyIsExact passes prices that no float can hold, by literal and variable.
func TestMoneyIsExact(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		const most, digits = "99999999.99", "000000000000000000000000000000"
		for price, want := range map[string]string{
			"0": "0.00", "0.01": "0.01", "0.29": "0.29", "1.005": "1.01", "1.0049999999999999999999999999999": "1.00",
			"8.995": "9.00", "79.99": "79.99", "99999999.99": most, "99999999.994": most, "99999999.98" + digits + "1": "99999999.98",
			"99999999.9949999999999999999999999999": most, "0.00" + digits + "1": "0.00", "0.005": "0.01", "0.004" + strings.Repeat("9", 30): "0.00",
			"9999999999e-2": most, "1e7": "10000000.00", "1.5E+1": "15.00", "1234567.89" + digits: "1234567.89", "-0": "0.00", "1e-999999999": "0.00",
		} {
			stored := fmt.Sprintf(`{"updateBook":{"book":{"price":"%s"}}}`, want)
			c.Want(t, fmt.Sprintf(`mutation { updateBook(input: {id: 1, patch: {price: %s}}) { book { price } } }`, price), "", stored)
			c.Want(t, fmt.Sprintf(`mutation { updateBook(input: {id: 1, patch: {price: "%s"}}) { book { price } } }`, price), "", stored)
			for _, variable := range []string{price, `"` + price + `"`} {
				c.Want(t, `mutation ($p: Decimal) { updateBook(input: {id: 1, patch: {price: $p}}) { book { price } } }`, `{"p":`+variable+`}`, stored)
				c.Want(t, `mutation ($patch: BookPatch!) { updateBook(input: {id: 1, patch: $patch}) { book { price } } }`, `{"patch":{"price":`+variable+`}}`, stored)
			}
			c.Want(t, fmt.Sprintf(`mutation ($p: Decimal = %s) { updateBook(input: {id: 1, patch: {price: $p}}) { book { price } } }`, price), "", stored)
		}
		for _, price := range []string{"99999999.995", "100000000", "-0.005", "-1", "1e8", "1e999999999", "99999999999999999999", "1" + digits, "0.1e10"} {
			c.WantError(t, fmt.Sprintf(`mutation { updateBook(input: {id: 1, patch: {price: %s}}) { book { price } } }`, price), "", "BAD_USER_INPUT", "The price field must")
			c.WantError(t, `mutation ($p: Decimal) { updateBook(input: {id: 1, patch: {price: $p}}) { book { price } } }`, `{"p":`+price+`}`, "BAD_USER_INPUT", "The price field must")
		}
	})
}

// TestWriteWhileTheClientLeaves cancels mutations at any moment: each is there
// as a whole or not at all, and the server goes on.
func TestWriteWhileTheClientLeaves(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		body := servertest.Encode(t, map[string]string{"query": `mutation { deleteCategory(input: {id: 1, onChildren: CASCADE}) { deletedCategoryId } }`})
		for range 10 {
			ctx, leave := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				c.DoContext(ctx, http.MethodPost, "/graphql", body)
			}()
			leave()
			<-done
			got := c.Get(t, "{ categories { totalCount } genres { totalCount } books { totalCount } }", "")
			const all, rest = `{"categories":{"totalCount":2},"genres":{"totalCount":3},"books":{"totalCount":4}}`,
				`{"categories":{"totalCount":1},"genres":{"totalCount":1},"books":{"totalCount":0}}`
			if got != all && got != rest {
				t.Fatalf("half was deleted: %s", got)
			}
		}
		if c.Log.Has("panic") {
			t.Errorf("the log has a panic:\n%s", c.Log)
		}
	})
}

// TestSearchAfterWrite searches in one request for a word that a book has only
// from the second mutation on: until then it counts as mistyped.
func TestSearchAfterWrite(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		create := func(alias, name string) string {
			return alias + `: createBook(input: {name: "` + name + `", pages: 1, publishedAt: "2000-01-01", author: "A", price: 1, genreId: 1}) {
				book { genre { books(search: "zyzzyvo") { nodes { name } } } } }`
		}
		c.Want(t, `mutation { `+create("a", "Zyzzyva")+create("b", "Zyzzyvo")+` }`, "",
			`{"a":{"book":{"genre":{"books":{"nodes":[{"name":"Zyzzyva"}]}}}},"b":{"book":{"genre":{"books":{"nodes":[{"name":"Zyzzyvo"}]}}}}}`)
	})
}

// TestUpsertAtOnce sends the same upserts many times at once: each row is made
// once, and changed by all others.
func TestUpsertAtOnce(t *testing.T) {
	t.Parallel()
	const clients = 20
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		c.Shelves(t)
		for i, document := range []string{
			`mutation { x: upsertCategory(input: {name: "New"}) { created row: category { id version } } }`,
			`mutation { x: upsertGenre(input: {name: "New", categoryId: 1}) { created row: genre { id version } } }`,
			`mutation { x: upsertBook(input: {` + servertest.BookInput + `, genreId: 1}) { created row: book { id version } } }`,
		} {
			var mu sync.Mutex
			var all sync.WaitGroup
			seen := map[string]bool{}
			for range clients {
				all.Go(func() {
					got := c.Get(t, document, "")
					mu.Lock()
					defer mu.Unlock()
					seen[got] = true
				})
			}
			all.Wait()
			id := []int{3, 4, 5}[i]
			for version := range clients {
				want := fmt.Sprintf(`{"x":{"created":%t,"row":{"id":"%d","version":%d}}}`, version == 0, id, version+1)
				if !seen[want] {
					t.Errorf("nobody heard %s", want)
				}
			}
		}
		c.Want(t, "{ categories { totalCount } genres { totalCount } books { totalCount } }", "", `{"categories":{"totalCount":3},"genres":{"totalCount":4},"books":{"totalCount":5}}`)
	})
}

// TestUpsertMeansTheFirst has several rows with the same key, and keys that are
// alike but not the same. A spelling wins over the first with its key.
func TestUpsertMeansTheFirst(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		for range 2 {
			c.Get(t, `mutation {
  createCategory(input: {name: "Same"}) { category { id } }
  createGenre(input: {name: "Same", categoryId: 1}) { genre { id } }
}`, "")
		}
		c.Get(t, `mutation { createBook(input: {`+servertest.BookInput+`, genreId: 1}) { book { id } } }`, "")
		c.Want(t, `mutation {
  c: upsertCategory(input: {name: "Same"}) { category { id } created }
  g: upsertGenre(input: {name: "Same", categoryId: 1}) { genre { id } created }
  b: upsertBook(input: {`+servertest.BookInput+`, genreId: 2}) { book { id genreId } created }
}`, "", `{"c":{"category":{"id":"3"},"created":false},"g":{"genre":{"id":"4"},"created":false},"b":{"book":{"id":"5","genreId":"2"},"created":false}}`)
		c.Get(t, `mutation { createBook(input: {`+servertest.BookInput+`, genreId: 1, isbn: "9783161484100"}) { book { id } } }`, "")
		if got := c.Ask(t, `mutation { upsertBook(input: {`+servertest.BookInput+`, genreId: 2}) { created } }`, ""); len(got.Errors) != 0 {
			t.Errorf("a book without an ISBN is there: %+v", got.Errors)
		}
		c.Want(t, `mutation { upsertBook(input: {`+servertest.BookInput+`, isbn: "316148410X", genreId: 2}) { created book { id } } }`, "", `{"upsertBook":{"created":false,"book":{"id":"6"}}}`)
		c.Get(t, `mutation { createBook(input: {`+servertest.BookInput+`, genreId: 1}) { book { id } } }`, "")
		if got := c.Ask(t, `mutation { upsertBook(input: {`+servertest.BookInput+`, genreId: 2, description: "other"}) { created } }`, ""); len(got.Errors) != 1 || got.Errors[0].Extensions.Code != "CONFLICT" {
			t.Errorf("several books match: %+v", got)
		}
		for _, name := range []string{"Sam_", "Same%", "Sáme", "' OR '1'='1", `Same\`} {
			c.Want(t, `mutation ($name: String!) { upsertCategory(input: {name: $name}) { created } upsertGenre(input: {name: $name, categoryId: 1}) { created } }`,
				`{"name":`+servertest.Encode(t, name)+`}`, `{"upsertCategory":{"created":true},"upsertGenre":{"created":true}}`)
		}
		for _, name := range []string{"SAME", "Ｓame", " Sa\u00adme", "Sa\u200bme"} {
			c.Want(t, `mutation ($name: String!) { upsertCategory(input: {name: $name}) { category { id } } upsertGenre(input: {name: $name, categoryId: 1}) { genre { id } } }`,
				`{"name":`+servertest.Encode(t, name)+`}`, `{"upsertCategory":{"category":{"id":"3"}},"upsertGenre":{"genre":{"id":"4"}}}`)
		}
		c.Get(t, `mutation { createCategory(input: {name: "SAME"}) { category { id } } }`, "")
		c.Want(t, `mutation { upsertCategory(input: {name: "SAME"}) { category { id } created } }`, "", `{"upsertCategory":{"category":{"id":"10"},"created":false}}`)
		// By id a row may be given another key, also one that another has.
		c.Want(t, `mutation { upsertCategory(input: {id: 4, expectedVersion: 1, name: "Fiction"}) { category { id version } created } }`, "",
			`{"upsertCategory":{"category":{"id":"4","version":2},"created":false}}`)
	})
}

// TestExpectedVersionAtOnce changes a row many times at once, each time as it was
// seen first: one finds it so, and the others are told.
func TestExpectedVersionAtOnce(t *testing.T) {
	t.Parallel()
	const clients = 12
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		c.Shelves(t)
		for _, document := range []string{
			`mutation { updateBook(input: {id: 1, expectedVersion: 1, patch: {pages: 1}}) { book { id } } }`,
			`mutation { upsertBook(input: {id: 2, expectedVersion: 1, ` + servertest.BookInput + `, genreId: 1}) { created } }`,
			`mutation { upsertGenre(input: {name: "Fantasy", categoryId: 1, expectedVersion: 1}) { created } }`,
			`mutation { upsertCategory(input: {name: "Fiction", expectedVersion: 1}) { created } }`,
			`mutation { updateGenre(input: {id: 2, expectedVersion: 1, patch: {name: "N"}}) { genre { id } } }`,
		} {
			var won, lost atomic.Int32
			var all sync.WaitGroup
			for range clients {
				all.Go(func() {
					switch a := c.Ask(t, document, ""); {
					case len(a.Errors) == 0:
						won.Add(1)
					case a.Errors[0].Extensions.Code == "CONFLICT":
						lost.Add(1)
					default:
						t.Errorf("%s: %+v", document, a.Errors)
					}
				})
			}
			all.Wait()
			if won.Load() != 1 || lost.Load() != clients-1 {
				t.Errorf("%s: %d changed it, %d were told", document, won.Load(), lost.Load())
			}
		}
	})
}

// TestKeysOfIssuers sends one key with tokens of two issuers, which have the same subject.
func TestKeysOfIssuers(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	for i, issuer := range []string{"a", "b", "a", ""} {
		var err error
		c.Token, err = auth.Sign(servertest.Secret, "tester", issuer, "", time.Hour, time.Now())
		must(t, err)
		w := c.Do(http.MethodPost, "/api/categories", `{"name":"N"}`, `Idempotency-Key: "k"`)
		if replayed := w.Header().Get("Idempotency-Replayed") != ""; w.Code != http.StatusCreated || replayed != (i == 2) {
			t.Errorf("issuer %q: status %d, replayed %t", issuer, w.Code, replayed)
		}
	}
}

package server_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
)

// TestUpsertAtOnce sends the same upserts many times at once: each row is made
// once, and changed by all others.
func TestUpsertAtOnce(t *testing.T) {
	t.Parallel()
	const clients = 20
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := serve(t, url)
		c.shelves(t)
		for i, document := range []string{
			`mutation { x: upsertCategory(input: {name: "New"}) { created row: category { id version } } }`,
			`mutation { x: upsertGenre(input: {name: "New", categoryId: 1}) { created row: genre { id version } } }`,
			`mutation { x: upsertBook(input: {` + book + `, genreId: 1}) { created row: book { id version } } }`,
		} {
			var mu sync.Mutex
			var all sync.WaitGroup
			seen := map[string]bool{}
			for range clients {
				all.Go(func() {
					got := c.get(t, document, "")
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
		c.want(t, "{ categories { totalCount } genres { totalCount } books { totalCount } }", "", `{"categories":{"totalCount":3},"genres":{"totalCount":4},"books":{"totalCount":5}}`)
	})
}

// TestUpsertMeansTheFirst has several rows with the same key, and keys that are
// alike but not the same.
func TestUpsertMeansTheFirst(t *testing.T) {
	onEach(t, func(t *testing.T, c *client) {
		for range 2 {
			c.get(t, `mutation {
  createCategory(input: {name: "Same"}) { category { id } }
  createGenre(input: {name: "Same", categoryId: 1}) { genre { id } }
  createBook(input: {`+book+`, genreId: 1}) { book { id } }
}`, "")
		}
		c.want(t, `mutation {
  c: upsertCategory(input: {name: "Same"}) { category { id } created }
  g: upsertGenre(input: {name: "Same", categoryId: 1}) { genre { id } created }
  b: upsertBook(input: {`+book+`, genreId: 2}) { book { id genreId } created }
}`, "", `{"c":{"category":{"id":"3"},"created":false},"g":{"genre":{"id":"4"},"created":false},"b":{"book":{"id":"5","genreId":"2"},"created":false}}`)
		for _, name := range []string{"same", "Sam_", "Same%", "Sáme", "' OR '1'='1", `Same\`} {
			c.want(t, `mutation ($name: String!) { upsertCategory(input: {name: $name}) { created } upsertGenre(input: {name: $name, categoryId: 1}) { created } }`,
				`{"name":`+encode(t, name)+`}`, `{"upsertCategory":{"created":true},"upsertGenre":{"created":true}}`)
		}
		// By id a row may be given another key, also one that another has.
		c.want(t, `mutation { upsertCategory(input: {id: 4, expectedVersion: 1, name: "Fiction"}) { category { id version } created } }`, "",
			`{"upsertCategory":{"category":{"id":"4","version":2},"created":false}}`)
	})
}

// TestExpectedVersionAtOnce changes a row many times at once, each time as it was
// seen first: one finds it so, and the others are told.
func TestExpectedVersionAtOnce(t *testing.T) {
	t.Parallel()
	const clients = 12
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := serve(t, url)
		c.shelves(t)
		for _, document := range []string{
			`mutation { updateBook(input: {id: 1, expectedVersion: 1, patch: {pages: 1}}) { book { id } } }`,
			`mutation { upsertBook(input: {id: 2, expectedVersion: 1, ` + book + `, genreId: 1}) { created } }`,
			`mutation { upsertGenre(input: {name: "Fantasy", categoryId: 1, expectedVersion: 1}) { created } }`,
			`mutation { upsertCategory(input: {name: "Fiction", expectedVersion: 1}) { created } }`,
			`mutation { updateGenre(input: {id: 2, expectedVersion: 1, patch: {name: "N"}}) { genre { id } } }`,
		} {
			var won, lost atomic.Int32
			var all sync.WaitGroup
			for range clients {
				all.Go(func() {
					switch a := c.ask(t, document, ""); {
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

package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/server/servertest"
)

// TestPooler sends thousands of requests of all kinds through pgbouncer in transaction mode, with fewer
// connections than requests at a time. None fails, and then each read has the response of a direct
// connection.
func TestPooler(t *testing.T) {
	t.Parallel()
	const workers, rounds = 12, 25
	cluster := dbtest.Durable(t)
	url := catalogtest.Migrate(t, cluster.Database(t))
	direct := servertest.Serve(t, url)
	direct.Shelves(t)
	pooled := servertest.Serve(t, cluster.Pooler(t, url, 3)+"&pooler=transaction")

	type request struct{ method, target, body, header string }
	graphQL := func(document string) request {
		body, err := json.Marshal(map[string]string{"query": document})
		servertest.Must(t, err)
		return request{http.MethodPost, "/graphql", string(body), "Accept: application/json"}
	}
	get := func(target string) request { return request{http.MethodGet, target, "", "Accept: */*"} }
	reads := []request{
		get("/api/books/1"), get("/api/genres?per_page=2"), get("/api/books?per_page=3&sort=-price"), get("/api/books"), get("/api/books?author=Jane+Austen"),
		graphQL(`{ books(first: 5) { nodes { name createdAt genre { name category { name } } } totalCount } }`),
		graphQL(`{ books(search: "hobit", first: 9) { nodes { name } } }`),
		graphQL(`{ books(first: 3, filter: {pages: {gte: 300}}) { nodes { name description } facets { genres { genre { name } count } } aggregate { count } } }`),
		graphQL(`{ categories { nodes { name genres { nodes { name books(first: 2) { nodes { name } } } } } } }`),
	}
	do := func(c *servertest.Client, r request) string {
		w := c.Do(r.method, r.target, r.body, r.header)
		if w.Code >= http.StatusBadRequest || strings.Contains(w.Body.String(), `"errors"`) {
			t.Errorf("%s %s %s: status %d: %.300s", r.method, r.target, r.body, w.Code, w.Body)
		}
		return w.Body.String()
	}
	const book = `{"name":"Book %d","pages":1,"published_at":"2000-01-01","author":"A","price":1,"genre_id":%d}`
	file := "name,pages,published_at,author,price,genre,category\n"
	for n := range 300 {
		file += fmt.Sprintf("Imported %d,%d,2001-01-01,B,2,Genre %d,Category\n", n, n+1, n%7)
	}
	var started struct{ Data struct{ ID string } }
	servertest.Must(t, json.Unmarshal([]byte(do(pooled, request{http.MethodPost, "/api/imports", file, "Content-Type: text/csv"})), &started))
	var work sync.WaitGroup
	for worker := range workers {
		work.Go(func() {
			for round := range rounds {
				for _, r := range reads {
					do(pooled, r)
				}
				n := worker*rounds + round
				create := request{http.MethodPost, "/api/books", fmt.Sprintf(book, n, 1+n%3), fmt.Sprint("Idempotency-Key: ", n)}
				if first, second := do(pooled, create), do(pooled, create); first != second {
					t.Errorf("a replayed write: %s, want %s", second, first)
				}
				do(pooled, request{http.MethodPut, "/api/books/1", fmt.Sprintf(book, n, 1), "Accept: */*"})
				do(pooled, graphQL(fmt.Sprintf(`mutation { createBook(input: {name: "Book %d", pages: 2, publishedAt: "2000-01-01", author: "C", price: 1, genreId: 2}) { book { id } } }`, n)))
				do(pooled, graphQL(`mutation { updateBooks(input: {filter: {id: {in: [2, 3]}}, patch: {pages: 7}, atMost: 2}) { count } }`))
			}
		})
	}
	work.Wait()
	for !strings.Contains(do(pooled, get("/api/imports/"+started.Data.ID)), `"status":"done"`) && !t.Failed() {
	}
	for _, r := range reads {
		if got, want := do(pooled, r), do(direct, r); got != want {
			t.Errorf("%s %s: %.500s\nwant %.500s", r.target, r.body, got, want)
		}
	}
	if got, want := pooled.Lengths(t), direct.Lengths(t); got != want || !strings.Contains(got, fmt.Sprint(4+2*workers*rounds+300)) {
		t.Errorf("%s, want %s", got, want)
	}
	do(pooled, get("/readyz"))
}

// TestPoolerIsNotNamed sends requests through pgbouncer in transaction mode with a URL that does not say
// so: none has status 500, and /readyz says what to do.
func TestPoolerIsNotNamed(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	url := catalogtest.Migrate(t, cluster.Database(t))
	servertest.Serve(t, url).Shelves(t)
	c := servertest.Serve(t, cluster.Pooler(t, url, 3))
	var work sync.WaitGroup
	for worker := range 12 {
		work.Go(func() {
			for round := range 10 {
				for _, target := range []string{"/api/books/1", "/api/books?per_page=2", fmt.Sprintf("/api/genres?per_page=%d", 1+(worker+round)%9)} {
					if w := c.Do(http.MethodGet, target, ""); w.Code != http.StatusOK && (w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "pooler=transaction")) {
						t.Errorf("%s: status %d: %s", target, w.Code, w.Body)
					}
				}
			}
		})
	}
	work.Wait()
	if w := c.Do(http.MethodGet, "/readyz", ""); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "Add pooler=transaction to the database URL, or connect directly.") {
		t.Errorf("/readyz: status %d: %s", w.Code, w.Body)
	}
}

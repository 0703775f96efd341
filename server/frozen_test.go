package server_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/server"
	"library-catalogue/server/telemetry"
)

// TestFrozenDatabase stops every process of PostgreSQL: its connections are there, and
// nobody answers. Each kind of request hears so within its time, cached or not, and is
// answered as before when the database goes on.
func TestFrozenDatabase(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	c := serve(t, catalogtest.Migrate(t, cluster.Database(t)))
	c.shelves(t)
	c.handler = newHandler(t, c.log, server.Config{
		Catalogue: c.catalogue, Authenticate: c.authenticate, CacheBytes: 1 << 20, Timeout: time.Second,
		Observer: telemetry.New(telemetry.Config{Logger: c.log.logger(), Checks: c.store.Checks}),
	})
	const book = `{"name":"B","pages":1,"published_at":"2000-01-01","author":"A","price":1,"genre_id":1}`
	requests := map[string]func() *httptest.ResponseRecorder{
		"a cached query": func() *httptest.ResponseRecorder {
			return c.do(http.MethodPost, "/graphql", `{"query":"{ books { nodes { name } } }"}`)
		},
		"a query": func() *httptest.ResponseRecorder {
			return c.do(http.MethodPost, "/graphql", `{"query":"{ books { nodes { name genre { name } } } }"}`, "Cache-Control: no-cache")
		},
		"a mutation": func() *httptest.ResponseRecorder {
			return c.do(http.MethodPost, "/graphql", `{"query":"mutation { updateGenre(input: {id: 1, patch: {name: \"G\"}}) { genre { id } } }"}`)
		},
		"a cached item": func() *httptest.ResponseRecorder { return c.do(http.MethodGet, "/api/books/1", "") },
		"an item": func() *httptest.ResponseRecorder {
			return c.do(http.MethodGet, "/api/genres/1", "", "Cache-Control: no-cache")
		},
		"a page":       func() *httptest.ResponseRecorder { return c.do(http.MethodGet, "/api/books?per_page=1", "") },
		"a whole list": func() *httptest.ResponseRecorder { return c.do(http.MethodGet, "/api/books", "") },
		"a whole list that is not cached": func() *httptest.ResponseRecorder {
			return c.do(http.MethodGet, "/api/books", "", "Cache-Control: no-cache")
		},
		"a new book": func() *httptest.ResponseRecorder { return c.do(http.MethodPost, "/api/books", book) },
		"a change":   func() *httptest.ResponseRecorder { return c.do(http.MethodPut, "/api/books/1", book) },
		"a change under a key": func() *httptest.ResponseRecorder {
			return c.do(http.MethodPost, "/api/categories", `{"name":"C"}`, "Idempotency-Key: a")
		},
		"whether it is ready": func() *httptest.ResponseRecorder { return c.do(http.MethodGet, "/readyz", "") },
	}
	works := func(when string) {
		t.Helper()
		for name, request := range requests {
			if w := request(); w.Code >= http.StatusBadRequest || strings.Contains(w.Body.String(), `"errors"`) {
				t.Errorf("%s, %s: %d %s", name, when, w.Code, w.Body)
			}
		}
	}
	works("before")
	works("once more, from the cache")

	cluster.Freeze(t)
	type answer struct {
		name string
		*httptest.ResponseRecorder
	}
	answers := make(chan answer)
	for range 3 { // more than there are connections
		for name, request := range requests {
			go func() { answers <- answer{name, request()} }()
		}
	}
	deadline := time.After(20 * time.Second)
	for range 3 * len(requests) {
		select {
		case a := <-answers:
			if a.Code != http.StatusServiceUnavailable && !strings.Contains(a.Body.String(), `"UNAVAILABLE"`) {
				t.Errorf("%s: %d %s", a.name, a.Code, a.Body)
			}
		case <-deadline:
			t.Fatal("a request waits for the database")
		}
	}
	cluster.Thaw(t)
	works("when it goes on")
}

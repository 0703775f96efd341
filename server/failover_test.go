package server_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/edge/telemetry"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

// TestFrozenDatabase stops every process of PostgreSQL: its connections are there, and
// nobody answers. Each kind of request hears so within its time, cached or not, and is
// answered as before when the database goes on.
func TestFrozenDatabase(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	c := servertest.Serve(t, catalogtest.Migrate(t, cluster.Database(t)))
	c.Shelves(t)
	c.Reconfigure(t, server.Config{
		CacheBytes: 1 << 20, Timeout: time.Second, Observer: telemetry.New(telemetry.Config{Logger: c.Log.Logger(), Checks: c.Store.Checks}),
	})
	const book = `{"name":"B","pages":1,"published_at":"2000-01-01","author":"A","price":1,"genre_id":1}`
	requests := map[string]func() *httptest.ResponseRecorder{
		"a cached query": func() *httptest.ResponseRecorder {
			return c.Do(http.MethodPost, "/graphql", `{"query":"{ books { nodes { name } } }"}`)
		},
		"a query": func() *httptest.ResponseRecorder {
			return c.Do(http.MethodPost, "/graphql", `{"query":"{ books { nodes { name genre { name } } } }"}`, "Cache-Control: no-cache")
		},
		"a mutation": func() *httptest.ResponseRecorder {
			return c.Do(http.MethodPost, "/graphql", `{"query":"mutation { updateGenre(input: {id: 1, patch: {name: \"G\"}}) { genre { id } } }"}`)
		},
		"a cached item": func() *httptest.ResponseRecorder { return c.Do(http.MethodGet, "/api/books/1", "") },
		"an item": func() *httptest.ResponseRecorder {
			return c.Do(http.MethodGet, "/api/genres/1", "", "Cache-Control: no-cache")
		},
		"a page":       func() *httptest.ResponseRecorder { return c.Do(http.MethodGet, "/api/books?per_page=1", "") },
		"a whole list": func() *httptest.ResponseRecorder { return c.Do(http.MethodGet, "/api/books", "") },
		"a whole list that is not cached": func() *httptest.ResponseRecorder {
			return c.Do(http.MethodGet, "/api/books", "", "Cache-Control: no-cache")
		},
		"a new book": func() *httptest.ResponseRecorder { return c.Do(http.MethodPost, "/api/books", book) },
		"a change":   func() *httptest.ResponseRecorder { return c.Do(http.MethodPut, "/api/books/1", book) },
		"a change under a key": func() *httptest.ResponseRecorder {
			return c.Do(http.MethodPost, "/api/categories", `{"name":"C"}`, "Idempotency-Key: a")
		},
		"whether it is ready": func() *httptest.ResponseRecorder { return c.Do(http.MethodGet, "/readyz", "") },
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

// bothHosts returns the URL of a database on two servers.
func bothHosts(t *testing.T, first, second string) string {
	t.Helper()
	u, err := url.Parse(first)
	servertest.Must(t, err)
	other, err := url.Parse(second)
	servertest.Must(t, err)
	query := u.Query()
	for _, name := range []string{"host", "port"} {
		query.Set(name, query.Get(name)+","+other.Query().Get(name))
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// TestFailover ends the primary with a commit that its standby has not received, and
// promotes that. While there is no primary nobody hears of more than that, and then no
// answer is of the commit that was lost, though answers of it are cached.
func TestFailover(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	primary := catalogtest.Migrate(t, cluster.Database(t))
	servertest.Serve(t, primary).Shelves(t)
	standby := cluster.Standby(t) // a copy that has these rows whenever it begins
	c := servertest.Serve(t, bothHosts(t, primary, standby.On(t, primary)))
	handler := func(timeout time.Duration) http.Handler {
		return servertest.NewHandler(t, c.Log, server.Config{Catalogue: c.Catalogue, Authenticate: c.Authenticate, CacheBytes: 1 << 20, Timeout: timeout})
	}
	inGenre := func(genre, id int, name string) *httptest.ResponseRecorder {
		return c.Do(http.MethodPut, fmt.Sprint("/api/books/", id), fmt.Sprintf(`{"name":%q,"pages":1,"published_at":"2000-01-01","author":"A","price":1,"genre_id":%d}`, name, genre))
	}
	name := func(id int, name string) *httptest.ResponseRecorder { return inGenre(1, id, name) }
	reads := map[string]func() *httptest.ResponseRecorder{
		"an item": func() *httptest.ResponseRecorder { return c.Do(http.MethodGet, "/api/books/1", "") },
		"a list":  func() *httptest.ResponseRecorder { return c.Do(http.MethodGet, "/api/books", "") },
		"a page":  func() *httptest.ResponseRecorder { return c.Do(http.MethodGet, "/api/books?per_page=2", "") },
		"a query": func() *httptest.ResponseRecorder {
			return c.Do(http.MethodPost, "/graphql", `{"query":"{ books { nodes { name } } }"}`)
		},
		"a search": func() *httptest.ResponseRecorder {
			return c.Do(http.MethodPost, "/graphql", `{"query":"{ books(search: \"a\", first: 9) { nodes { name } } }"}`)
		},
	}
	lost := func(when string, want bool) {
		t.Helper()
		for kind, read := range reads {
			if w := read(); w.Code != http.StatusOK || strings.Contains(w.Body.String(), "Lost") != want {
				t.Errorf("%s, %s: status %d: %.300s", kind, when, w.Code, w.Body)
			}
		}
	}

	standby.Kill(t)
	c.Handler = handler(time.Second)
	if w := name(1, "Lost"); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "did not say whether") {
		t.Fatalf("a write that no standby has: status %d: %.300s", w.Code, w.Body)
	}
	c.Handler = handler(10 * time.Second)
	for !strings.Contains(reads["an item"]().Body.String(), "Lost") { // until the server has heard that nobody waits for it
	}
	for range 3 {
		lost("before the primary ends", true)
	}

	var wrong atomic.Int32
	var ended atomic.Bool
	var asking sync.WaitGroup
	for _, ask := range []func() *httptest.ResponseRecorder{ // others than those whose answers are cached
		func() *httptest.ResponseRecorder { return name(3, "Another") },
		func() *httptest.ResponseRecorder { return c.Do(http.MethodGet, "/api/books/4", "") },
		func() *httptest.ResponseRecorder { return c.Do(http.MethodGet, "/api/genres", "") },
		func() *httptest.ResponseRecorder {
			return c.Do(http.MethodPost, "/graphql", `{"query":"{ books { totalCount } genres { nodes { name } } }"}`)
		},
	} {
		asking.Go(func() {
			for !ended.Load() {
				w := ask()
				unavailable := w.Code == http.StatusServiceUnavailable || strings.Contains(w.Body.String(), `"UNAVAILABLE"`)
				if !unavailable && (w.Code != http.StatusOK || strings.Contains(w.Body.String(), `"errors"`)) && wrong.Add(1) < 10 {
					t.Errorf("while the primary changes: status %d: %.300s", w.Code, w.Body)
				}
			}
		})
	}
	cluster.Kill(t)
	standby.Start(t)
	for c.Do(http.MethodGet, "/api/books/4", "").Code != http.StatusOK { // until it is known that there is another
	}
	const unknown = 99 // as far as a standby knows
	for _, genre := range []int{1, unknown} {
		if w := inGenre(genre, 2, "Refused"); w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "read-only or a standby") {
			t.Errorf("a write to a standby: status %d: %.300s", w.Code, w.Body)
		}
	}
	ended.Store(true)
	asking.Wait()
	standby.Promote(t)
	if w := name(2, "Kept"); w.Code != http.StatusOK { // as many changes as were lost
		t.Errorf("a write to the new primary: status %d: %.300s", w.Code, w.Body)
	}
	lost("from the new primary", false)
}

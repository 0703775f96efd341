package rest_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"library-catalogue/server/servertest"
)

// TestLiveList follows a page of a filtered list: each state has the total and the links, then the envelope.
func TestLiveList(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		const target = "/api/books?genre_id=1&sort=-name&per_page=2"
		events, stop := follow(t, c, target)
		defer stop()
		state := func() {
			t.Helper()
			w := c.Do(http.MethodGet, target, "")
			page, list := <-events, <-events
			want := fmt.Sprintf(`{"total":%s,"link":%q}`, w.Header().Get("X-Total-Count"), w.Header().Get("Link"))
			if page.name != "page" || strings.ReplaceAll(page.data, `\u0026`, "&") != strings.ReplaceAll(want, `\u0026`, "&") {
				t.Errorf("page %+v, want %s", page, want)
			}
			if list.name != "" || list.data != w.Body.String() {
				t.Errorf("list %+v, want %s", list, w.Body)
			}
		}
		state()
		c.Get(t, `mutation { createBook(input: {name: "Zadig", pages: 1, publishedAt: "1747-01-01", author: "Voltaire", price: 1, genreId: 1}) {clientMutationId} }`, "")
		state()
		c.Get(t, `mutation { updateGenre(input: {id: 1, patch: {name: "Conte"}}) {clientMutationId} }`, "")
		state()
	})
}

// TestLiveItem follows an object until it is deleted.
func TestLiveItem(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		events, stop := follow(t, c, "/api/books/1")
		defer stop()
		if got, want := (<-events).data, c.Do(http.MethodGet, "/api/books/1", "").Body.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		c.Get(t, `mutation { updateBook(input: {id: 1, patch: {name: "Bilbo"}}) {clientMutationId} }`, "")
		if got := (<-events).data; !strings.Contains(got, `"name":"Bilbo"`) {
			t.Errorf("after an update: %s", got)
		}
		c.Get(t, `mutation { deleteBook(input: {id: 1}) {clientMutationId} }`, "")
		if got, want := (<-events).data, `{"success":false,"message":"Book not found","data":null}`; got != want {
			t.Errorf("after the deletion: %s, want %s", got, want)
		}
		if e, open := <-events; open {
			t.Errorf("after the end: %+v", e)
		}
	})
}

// TestLiveRefused asks for streams that do not begin: the response is an envelope.
func TestLiveRefused(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		for target, status := range map[string]int{
			"/api/books/4711":                http.StatusNotFound,
			"/api/books?per_page=0":          http.StatusUnprocessableEntity,
			"/api/books?sort=x":              http.StatusUnprocessableEntity,
			"/api/books?q=%00":               http.StatusUnprocessableEntity,
			"/api/genres?after=x&per_page=1": http.StatusUnprocessableEntity,
			"/api/nothing":                   http.StatusNotFound,
		} {
			plain := c.Do(http.MethodGet, target, "")
			w := c.Do(http.MethodGet, target, "", "Accept: text/event-stream")
			if w.Code != status || w.Body.String() != plain.Body.String() || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("%s: %d %s, want %s", target, w.Code, w.Body, plain.Body)
			}
		}
		for _, target := range []string{"/api/books/1", "/api/categories"} {
			w := c.Do(http.MethodHead, target, "", "Accept: text/event-stream")
			if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" {
				t.Errorf("HEAD %s: %d %v", target, w.Code, w.Header())
			}
		}
	})
}

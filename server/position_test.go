package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/server/servertest"
)

// TestPosition joins lists and changes: each list that reports its position, together with the changes after it, is
// the catalogue. The cache neither serves nor keeps such responses.
func TestPosition(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.ServeCached(t, url, 8<<20)
		const report = "Catalogue-Position: report"
		document := `{"query":"{ books { nodes { id pages } } }"}`
		lists := map[string]func(headers ...string) *httptest.ResponseRecorder{
			"page": func(headers ...string) *httptest.ResponseRecorder {
				return c.Do(http.MethodGet, "/api/books?per_page=10", "", headers...)
			},
			"whole list": func(headers ...string) *httptest.ResponseRecorder {
				return c.Do(http.MethodGet, "/api/books", "", headers...)
			},
			"GraphQL": func(headers ...string) *httptest.ResponseRecorder {
				return c.Do(http.MethodPost, "/graphql", document, headers...)
			},
		}
		pages := 1000
		for name, read := range lists {
			for range 3 { // the third response of a plain list comes from the cache
				w := read()
				if w.Code != http.StatusOK || w.Header().Get("Catalogue-Position") != "" || strings.Contains(w.Body.String(), `"position"`) {
					t.Errorf("%s: %d %s %s", name, w.Code, w.Header(), w.Body)
				}
			}
			var tag string
			for range 3 {
				pages++
				c.Get(t, fmt.Sprintf(`mutation { updateBook(input: {id: 1, patch: {pages: %d}}) { book { id } } }`, pages), "")
				w := read(report, "If-None-Match: "+tag)
				tag = w.Header().Get("ETag")
				position := w.Header().Get("Catalogue-Position")
				if w.Code != http.StatusOK || position == "" || servertest.FromCache(w) {
					t.Fatalf("%s: %d %s %s", name, w.Code, w.Header(), w.Body)
				}
				var inBody struct {
					Extensions struct{ Position string }
				}
				servertest.Must(t, json.Unmarshal(w.Body.Bytes(), &inBody))
				if name == "GraphQL" && inBody.Extensions.Position != position {
					t.Errorf("extensions.position is %q, the header has %q", inBody.Extensions.Position, position)
				}
				if !strings.Contains(w.Body.String(), fmt.Sprintf(`"pages":%d`, pages)) {
					t.Errorf("%s lacks the last write: %s", name, w.Body)
				}
				pages++
				c.Get(t, fmt.Sprintf(`mutation { updateBook(input: {id: 1, patch: {pages: %d}}) { book { id } } }`, pages), "")
				changes := c.Get(t, `{ changes(types: [BOOK], after: "`+position+`") { nodes { book { pages } } } }`, "")
				if !strings.HasSuffix(changes, fmt.Sprintf(`{"book":{"pages":%d}}]}}`, pages)) {
					t.Errorf("%s: after its position are %s", name, changes)
				}
			}
			if w := read("Catalogue-Position: yes"); w.Code != http.StatusBadRequest && w.Code != http.StatusUnprocessableEntity {
				t.Errorf("%s with a wrong value: %d %s", name, w.Code, w.Body)
			}
		}
	})
}

package httpcond_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	neturl "net/url"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// TestGraphQLETag asks by GET again with the tag that an answer had.
func TestGraphQLETag(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		store, program := catalogtest.Open(t, url), catalogtest.Open(t, url)
		servertest.StoreBook(t, store)
		pages, meanwhile := 0, false // another program changes the book right after it was read
		change := func(s *db.Store) {
			pages++
			if _, err := s.Books.Update(t.Context(), 1, &model.BookPatch{Pages: graphql.OmittableOf(&pages)}, nil); err != nil {
				t.Fatal(err)
			}
		}
		store.Observe(func(_ context.Context, statement stats.Statement) {
			if meanwhile && strings.Contains(statement.Text, "books r") {
				meanwhile = false
				change(program)
			}
		})
		handler := servertest.CachedHandler(t, resolvers.New(store))
		get := func(query, tag string) *httptest.ResponseRecorder {
			request := httptest.NewRequest(http.MethodGet, "/graphql?query="+neturl.QueryEscape(query), nil)
			if tag != "" {
				request.Header.Set("If-None-Match", tag)
			}
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, request)
			return answer
		}
		const query = `{ book(id: 1) { pages } }`
		for range 3 { // from the cache too
			first := get(query, "")
			tag := first.Header().Get("ETag")
			if first.Code != http.StatusOK || tag == "" {
				t.Fatalf("status %d, tag %q: %s", first.Code, tag, first.Body)
			}
			if again := get(query, tag); again.Code != http.StatusNotModified || again.Body.Len() > 0 {
				t.Errorf("status %d for the tag of the same answer: %s", again.Code, again.Body)
			}
			change(store)
			if later := get(query, tag); later.Code != http.StatusOK || later.Header().Get("ETag") == tag {
				t.Errorf("status %d, tag %s after a change: %s", later.Code, later.Header().Get("ETag"), later.Body)
			}
		}
		for _, query := range []string{query, `{ books { nodes { pages } } } # no mutation`} {
			meanwhile = true
			old := get(query, "")
			if old.Code != http.StatusOK || meanwhile {
				t.Errorf("status %d: %s", old.Code, old.Body)
			}
			if later := get(query, old.Header().Get("ETag")); later.Code != http.StatusOK || later.Body.String() == old.Body.String() {
				t.Errorf("status %d for the tag of %s, which was changed meanwhile: %s", later.Code, old.Body, later.Body)
			}
		}
		if failed := get(`{ book(id: 1) { nothing } }`, ""); failed.Header().Get("ETag") != "" {
			t.Errorf("an error has the tag %s", failed.Header().Get("ETag"))
		}
	})
}

// TestGraphQLConditions asks by GET for what the client may have, in both media
// types: a 304 has the headers of its 200 (RFC 9110, section 15.4.5), and there is
// none for what would not be executed (section 13.2.1).
func TestGraphQLConditions(t *testing.T) {
	c := servertest.Shelved(t)
	c.Reconfigure(t, server.Config{CacheBytes: 1 << 20})
	const valid = `query A($id: ID!) { book(id: $id) { name } }`
	get := func(query, more, media, tag string) *httptest.ResponseRecorder {
		return c.Do(http.MethodGet, "/graphql?query="+neturl.QueryEscape(query)+more, "", "Accept: "+media, "If-None-Match: "+tag)
	}
	one := "&variables=" + neturl.QueryEscape(`{"id":1}`)
	headers := func(w *httptest.ResponseRecorder) string {
		return fmt.Sprint(w.Header()["Etag"], w.Header()["Vary"], w.Header()["Cache-Control"])
	}
	tags := map[string]string{}
	for _, media := range []string{"application/json", "application/graphql-response+json"} {
		var tag string
		for i := range 3 {
			w := get(valid, one, media, "")
			if i == 0 {
				tag = w.Header().Get("ETag")
			}
			if want := "[" + tag + "] [Accept-Encoding Accept] [no-cache]"; w.Code != http.StatusOK || headers(w) != want {
				t.Errorf("%s, time %d: status %d, %s, want %s", media, i+1, w.Code, headers(w), want)
			}
			if kept := strings.Contains(w.Header().Get("Server-Timing"), "cache"); kept != (i == 2) {
				t.Errorf("%s, time %d: from the cache: %t", media, i+1, kept)
			}
			for _, given := range []string{tag, "W/" + tag, "*"} {
				again := get(valid, one, media, given)
				if again.Code != http.StatusNotModified || headers(again) != headers(w) || again.Body.Len() > 0 {
					t.Errorf("%s, If-None-Match: %s: status %d, %s, want %s", media, given, again.Code, headers(again), headers(w))
				}
			}
		}
		tags[tag] = media
		if w := get(`{ books { totalCount } } # `+media, "", media, tag); w.Code != http.StatusNotModified {
			t.Errorf("%s: status %d for a document that was not seen before", media, w.Code)
		}
		for name, request := range map[string]struct{ query, more string }{
			"a field that is not there": {`{ x }`, ""}, "no document": {`{`, ""}, "nothing": {"", ""}, "no variable": {valid, ""},
			"a variable that is none":        {valid, "&variables=" + neturl.QueryEscape(`{"id":[]}`)},
			"an operation that is not there": {valid, one + "&operationName=B"}, "a mutation": {servertest.Mutations["deleteBook"], ""},
			"too much": {servertest.TooMuch, ""}, "a broken parameter": {valid, "&variables=x"},
		} {
			plain := get(request.query, request.more, media, "")
			for _, given := range []string{"*", tag} {
				if w := get(request.query, request.more, media, given); w.Code != plain.Code || w.Code == http.StatusNotModified || w.Body.String() != plain.Body.String() {
					t.Errorf("%s, %s, If-None-Match: %s: status %d, without it %d: %s", name, media, given, w.Code, plain.Code, w.Body)
				}
			}
		}
	}
	if len(tags) != 2 {
		t.Errorf("two media types have the same tag: %v", tags)
	}
	for tag, media := range tags {
		for _, other := range tags {
			if w := get(valid, one, other, tag); (w.Code == http.StatusNotModified) != (other == media) {
				t.Errorf("the tag %s of %s: status %d for %s", tag, media, w.Code, other)
			}
		}
	}
}

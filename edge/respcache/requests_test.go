package respcache_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// TestCacheOfHead asks by HEAD as often as it takes to cache an answer, and then
// by GET: the answer has its body.
func TestCacheOfHead(t *testing.T) {
	t.Parallel()
	c := servertest.ServeCached(t, catalogtest.SQLite(t), 1<<20)
	for _, target := range []string{servertest.ByGet(`{ book(id: 1) { name } }`), "/api/books/1", "/api/books", "/api/books?per_page=2"} {
		for range 3 {
			if w := c.Do(http.MethodHead, target, ""); w.Code != http.StatusOK {
				t.Fatalf("HEAD %s: status %d: %s", target, w.Code, w.Body)
			}
		}
		if w := c.Do(http.MethodGet, target, ""); w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "The Hobbit") {
			t.Errorf("GET %s after HEAD: status %d: %s", target, w.Code, w.Body)
		}
	}
}

// TestCacheKeepsHeaders asks until the answer comes from the cache: its headers are
// those that it had before.
func TestCacheKeepsHeaders(t *testing.T) {
	t.Parallel()
	c := servertest.ServeCached(t, catalogtest.SQLite(t), 1<<20)
	for _, target := range []string{servertest.ByGet(`{ book(id: 1) { name } }`), "/api/books/1", "/api/books?per_page=2", "/", "/books/1", "/genres"} {
		first := c.Do(http.MethodGet, target, "", "Accept: text/html,*/*")
		again := c.Do(http.MethodGet, target, "", "Accept: text/html,*/*")
		for range 2 {
			again = c.Do(http.MethodGet, target, "", "Accept: text/html,*/*")
		}
		if first.Code != http.StatusOK || !servertest.FromCache(again) {
			t.Errorf("%s: status %d, and then %s", target, first.Code, again.Header().Get("Server-Timing"))
		}
		for _, w := range []*httptest.ResponseRecorder{first, again} {
			w.Header().Del("Server-Timing")
			w.Header().Del("Content-Length") // net/http's, of what is not cached
		}
		if diff := cmp.Diff(first.Header(), again.Header()); diff != "" {
			t.Errorf("%s (-first +cached):\n%s", target, diff)
		}
	}
}

// TestCacheOfMethods sends the same query by POST and by GET: one is not answered
// with the headers of the other.
func TestCacheOfMethods(t *testing.T) {
	t.Parallel()
	for _, methods := range [][]string{{http.MethodPost, http.MethodGet}, {http.MethodGet, http.MethodPost}} {
		c := servertest.ServeCached(t, catalogtest.SQLite(t), 1<<20)
		const document = `{ book(id: 1) { name } }`
		for _, method := range methods {
			for i := range 3 {
				target, body := "/graphql", `{"query":`+servertest.Encode(t, document)+`}`
				if method == http.MethodGet {
					target, body = servertest.ByGet(document), ""
				}
				w := c.Do(method, target, body)
				if tag := w.Header().Get("ETag"); (tag != "") != (method == http.MethodGet) {
					t.Errorf("%s after %v has the tag %q", method, methods, tag)
				}
				if i == 2 && !servertest.FromCache(w) {
					t.Errorf("%s: %v is not of the cache: the test says nothing", method, w.Header())
				}
			}
		}
	}
}

// TestCacheByNames repeats documents with a word in a text, an alias or a field: the field alone keeps the answer out of
// the cache.
func TestCacheByNames(t *testing.T) {
	t.Parallel()
	c := servertest.ServeCached(t, catalogtest.SQLite(t), 1<<20)
	for document, cached := range map[string]bool{
		`{ books(search: "history") { totalCount } }`:                          true,
		`{ books(search: """a "viewer" of changes""") { totalCount } } # asOf`: true,
		`{ book(id: 1) { name } pre_history: book(id: 2) { name } }`:           true,
		`{ books(search: "mutation") { totalCount } }`:                         true,
		`{ books(search: "\"") { totalCount } viewer { subject } }`:            false,
		`{ book(id: 1, asOf: "2100-01-01T00:00:00Z") { name } }`:               false,
		`{ history(type: BOOK, id: 1, first: 1) { nodes { operation } } }`:     false,
		"{ # a comment\n changes(first: 1) { nodes { operation } } }":          false,
	} {
		var fromCache bool
		for range 3 {
			w := c.Do(http.MethodPost, "/graphql", `{"query":`+servertest.Encode(t, document)+`}`)
			fromCache = servertest.FromCache(w)
		}
		if fromCache != cached {
			t.Errorf("%s: from the cache %t, want %t", document, fromCache, cached)
		}
	}
}

// TestErrorsAreNotCached asks for answers with errors as often as it takes to cache one.
func TestErrorsAreNotCached(t *testing.T) {
	t.Parallel()
	c := servertest.ServeCached(t, catalogtest.SQLite(t), 1<<20)
	for _, document := range []string{
		`{ books(after: "broken") { totalCount } }`, `{ a: book(id: 1) { name } b: books(after: "broken") { totalCount } }`,
		`{ __schema { description } books(after: "broken") { totalCount } }`, `{ nothing }`, `{`,
	} {
		for range 4 {
			w := c.Do(http.MethodPost, "/graphql", `{"query":`+servertest.Encode(t, document)+`}`)
			if servertest.FromCache(w) || !strings.Contains(w.Body.String(), `"errors"`) {
				t.Errorf("%s: from the cache: %t: %s", document, servertest.FromCache(w), w.Body)
			}
		}
	}
	for _, target := range []string{"/api/books/999", "/api/books?page=0", "/api/nothing"} {
		for range 4 {
			if w := c.Do(http.MethodGet, target, ""); servertest.FromCache(w) || w.Code < 400 {
				t.Errorf("%s: status %d, from the cache: %t", target, w.Code, servertest.FromCache(w))
			}
		}
	}
}

// TestCacheIsPassedBy asks for an answer that is cached with Cache-Control: the
// statements are run where a client says no-cache.
func TestCacheIsPassedBy(t *testing.T) {
	t.Parallel()
	c := servertest.ServeCached(t, catalogtest.SQLite(t), 1<<20)
	for _, target := range []string{servertest.ByGet(`{ book(id: 1) { name } }`), "/api/books/1"} {
		for range 3 {
			c.Do(http.MethodGet, target, "")
		}
		for header, want := range map[string]bool{
			"Cache-Control: no-cache": false, "Cache-Control: max-age=0, no-cache": false, "Cache-Control:": true, "Cache-Control: max-age=60": true,
		} {
			if w := c.Do(http.MethodGet, target, "", header); servertest.FromCache(w) != want || w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "The Hobbit") {
				t.Errorf("%s with %q: status %d, from the cache: %t, want %t", target, header, w.Code, servertest.FromCache(w), want)
			}
		}
	}
}

// TestCacheIsBounded caches answers that have more bytes together than the cache
// may have.
func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	const (
		bytes   = 128 << 10
		answers = 200
	)
	c := servertest.ServeCached(t, catalogtest.SQLite(t), bytes)
	target := func(i int) string { // about 10 KB, since a response key is not short
		return servertest.ByGet(fmt.Sprintf(`{ %s: books { nodes { id } } n%d: __typename }`, strings.Repeat("x", 10_000), i))
	}
	size := 0
	for i := range answers {
		for range 2 { // an answer is cached from the second time on
			w := c.Do(http.MethodGet, target(i), "")
			if size = w.Body.Len(); w.Code != http.StatusOK || size > bytes/8 {
				t.Fatalf("status %d, %d bytes", w.Code, size)
			}
		}
	}
	held := 0
	for i := range answers {
		if servertest.FromCache(c.Do(http.MethodHead, target(i), "")) { // HEAD adds nothing
			held += size
		}
	}
	if held == 0 || held > 2*bytes {
		t.Errorf("%d bytes of %d are cached, and %d are allowed", held, answers*size, bytes)
	}
}

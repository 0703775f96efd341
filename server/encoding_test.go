package server_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

// decoded returns the body of an answer, decompressed.
func decoded(t *testing.T, w *httptest.ResponseRecorder) string {
	t.Helper()
	var body io.Reader = bytes.NewReader(w.Body.Bytes())
	var err error
	switch w.Header().Get("Content-Encoding") {
	case "gzip":
		body, err = gzip.NewReader(body)
	case "zstd":
		body, err = zstd.NewReader(body)
	}
	servertest.Must(t, err)
	text, err := io.ReadAll(body)
	servertest.Must(t, err)
	return string(text)
}

// TestCacheOfCodings asks for answers in each content coding until they come from
// the cache: they are those that came before, with all of their headers.
func TestCacheOfCodings(t *testing.T) {
	t.Parallel()
	long := servertest.ByGet(`{ ` + strings.Repeat("x", 2000) + `: books { nodes { id name } } }`)
	c := servertest.ServeCached(t, catalogtest.SQLite(t), 1<<20)
	for range 15 { // so that the list is longer than what is sent at once
		c.Get(t, `mutation { createBooks(input: {books: [`+strings.Repeat(`{`+servertest.BookInput+`, genreId: 1}`, 10)+`]}) { count } }`, "")
	}
	for _, target := range []string{long, "/api/books", "/api/books?per_page=20"} {
		plain := c.Do(http.MethodGet, target, "", "Cache-Control: no-cache")
		for accepted, coding := range map[string]string{"gzip": "gzip", "zstd": "zstd", "gzip, deflate, br": "gzip", "identity": "", "": ""} {
			tag := plain.Header().Get("ETag")
			if coding != "" {
				tag = strings.TrimSuffix(tag, `"`) + "-" + coding + `"`
			}
			fresh := c.Do(http.MethodGet, target, "", "Accept-Encoding: "+accepted, "Cache-Control: no-cache")
			var w *httptest.ResponseRecorder
			for range 3 {
				w = c.Do(http.MethodGet, target, "", "Accept-Encoding: "+accepted)
				for _, name := range []string{"Content-Encoding", "Content-Type", "Cache-Control", "ETag", "Link", "Vary", "X-Total-Count"} {
					if got, want := w.Header().Get(name), fresh.Header().Get(name); got != want {
						t.Errorf("%s, %q: %s is %q, want %q", target, accepted, name, got, want)
					}
				}
				if w.Code != http.StatusOK || decoded(t, w) != plain.Body.String() {
					t.Errorf("%s, %q: status %d: %s", target, accepted, w.Code, decoded(t, w))
				}
			}
			if !servertest.FromCache(w) || w.Header().Get("Content-Length") != strconv.Itoa(w.Body.Len()) || w.Header().Get("Content-Encoding") != coding || w.Header().Get("ETag") != tag {
				t.Errorf("%s, %q: from the cache: %t, %d bytes: %v", target, accepted, servertest.FromCache(w), w.Body.Len(), w.Header())
			}
			if again := c.Do(http.MethodGet, target, "", "Accept-Encoding: "+accepted, "If-None-Match: "+tag); again.Code != http.StatusNotModified || again.Header().Get("ETag") != tag {
				t.Errorf("%s, %q: status %d, tag %s for %s", target, accepted, again.Code, again.Header().Get("ETag"), tag)
			}
			head := c.Do(http.MethodHead, target, "", "Accept-Encoding: "+accepted)
			if head.Code != http.StatusOK || head.Header().Get("Content-Encoding") != "" || head.Header().Get("ETag") != plain.Header().Get("ETag") {
				t.Errorf("HEAD %s, %q: status %d: %v", target, accepted, head.Code, head.Header())
			}
		}
	}
}

// TestPartialSuccess asks for a long response with data and errors: it is compressed and logged, and neither cached nor
// revalidated.
func TestPartialSuccess(t *testing.T) {
	c := servertest.Shelved(t)
	c.Reconfigure(t, server.Config{CacheBytes: 1 << 20})
	target := servertest.ByGet(`{ ` + strings.Repeat("x", 2000) + `: book(id: 1) { name } late: book(id: 1, asOf: "2999-01-01T00:00:00Z") { name } }`)
	for range 3 {
		w := c.Do(http.MethodGet, target, "", "Accept: application/graphql-response+json", "Accept-Encoding: gzip", "If-None-Match: *")
		h := w.Header()
		if w.Code != 294 || h.Get("Content-Encoding") != "gzip" || h.Get("ETag") != "" || h.Get("Cache-Control") != "no-store" || servertest.FromCache(w) {
			t.Errorf("status %d, %v", w.Code, h)
		}
		if text := decoded(t, w); !strings.Contains(text, `:{"name":"The Hobbit"},"late":null},"errors":[`) {
			t.Error(text)
		}
	}
	if !c.Log.Has("status=294") {
		t.Errorf("the log has no status:\n%s", c.Log)
	}
}

// TestCodings wants the coding that a client prefers of those we have.
func TestCodings(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	for accepted, coding := range map[string]string{
		"": "", "identity": "", "*": "", "br": "", "gzip;q=0": "", "gzip;q=x": "", "gzip;q=NaN": "", "gzip;q": "", ",;=,": "",
		"gzip": "gzip", "GZIP": "gzip", " gzip ; q = 0.1": "gzip", "zstd": "zstd", "gzip, deflate, br, zstd": "zstd", "zstd, gzip": "zstd",
		"gzip, zstd;q=0.9": "gzip", "gzip;q=0.5, zstd;q=0.5": "zstd", "zstd;q=0, gzip;q=0.001": "gzip", "gzip;q=0, zstd;q=0": "",
	} {
		w := c.Do(http.MethodGet, "/openapi.yaml", "", "Accept-Encoding: "+accepted)
		if got := w.Header().Get("Content-Encoding"); got != coding || w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: %q, want %q: %v", accepted, got, coding, w.Header())
		}
	}
	// What is compressed already is not decompressed for another coding.
	w := c.Do(http.MethodGet, "/api/docs/swagger-ui-bundle.js", "", "Accept-Encoding: gzip, deflate, br, zstd")
	if w.Header().Get("Content-Encoding") != "gzip" || !strings.Contains(decoded(t, w), "Swagger") {
		t.Errorf("status %d: %v", w.Code, w.Header())
	}
}

// TestStaticPages reads what never changes in each coding: it is compressed before it
// is sent, so its length is known, and has a tag of its own.
func TestStaticPages(t *testing.T) {
	t.Parallel()
	c := servertest.ServeWith(t, func(cfg *server.Config) { cfg.Origins = []string{"https://app.example"} })
	plain := c.Do(http.MethodGet, "/openapi.yaml", "")
	tags := map[string]bool{}
	for _, coding := range []string{"", "gzip", "zstd"} {
		w := c.Do(http.MethodGet, "/openapi.yaml", "", "Accept-Encoding: "+coding)
		tag := w.Header().Get("ETag")
		if w.Code != http.StatusOK || w.Header().Get("Content-Encoding") != coding || w.Header().Get("Content-Length") != strconv.Itoa(w.Body.Len()) ||
			w.Header().Get("Cache-Control") != "no-cache" || tags[tag] || decoded(t, w) != plain.Body.String() || len(w.Header()["Vary"]) != 2 {
			t.Errorf("%s, %q: status %d: %v", "/openapi.yaml", coding, w.Code, w.Header())
		}
		tags[tag] = true
		if again := c.Do(http.MethodGet, "/openapi.yaml", "", "Accept-Encoding: "+coding, "If-None-Match: "+tag); again.Code != http.StatusNotModified || again.Header().Get("ETag") != tag || again.Body.Len() > 0 {
			t.Errorf("%s, %q: status %d for its tag: %v", "/openapi.yaml", coding, again.Code, again.Header())
		}
		if other := c.Do(http.MethodGet, "/openapi.yaml", "", "Accept-Encoding: "+coding, `If-None-Match: "x"`); other.Code != http.StatusOK {
			t.Errorf("%s, %q: status %d for another tag", "/openapi.yaml", coding, other.Code)
		}
	}
}

// TestHead asks GraphQL by HEAD for what GET answers (RFC 9110, section 9.3.2),
// over a connection.
func TestHead(t *testing.T) {
	c := servertest.Shelved(t)
	srv := httptest.NewServer(servertest.NewHandler(t, c.Log, server.Config{Catalogue: c.Catalogue, Authenticate: c.Authenticate, CacheBytes: 1 << 20}))
	defer srv.Close()
	ask := func(method, query, tag string) (*http.Response, string) {
		request, err := http.NewRequest(method, srv.URL+"/graphql?query="+url.QueryEscape(query), nil)
		servertest.Must(t, err)
		request.Header.Set("Accept", "application/graphql-response+json")
		request.Header.Set("Accept-Encoding", "identity")
		request.Header.Set("Authorization", "Bearer "+c.Token)
		if tag != "" {
			request.Header.Set("If-None-Match", tag)
		}
		response, err := http.DefaultClient.Do(request)
		servertest.Must(t, err)
		defer response.Body.Close()
		body, err := io.ReadAll(response.Body)
		servertest.Must(t, err)
		return response, string(body)
	}
	for query, status := range map[string]int{
		`{ books(first: 1) { nodes { name } } }`: 200, `{ isbn }`: 422, ``: 422, servertest.TooMuch: 422, servertest.Mutations["deleteBook"]: 405,
	} {
		for range 3 { // from the cache too
			got, _ := ask(http.MethodGet, query, "")
			head, body := ask(http.MethodHead, query, "")
			if head.StatusCode != status || got.StatusCode != status || body != "" {
				t.Errorf("%s: status %d by HEAD, %d by GET, want %d: %s", query, head.StatusCode, got.StatusCode, status, body)
			}
			for _, name := range []string{"Allow", "Cache-Control", "Content-Type", "ETag", "Vary"} {
				if h, g := head.Header.Get(name), got.Header.Get(name); h != g {
					t.Errorf("%s: %s is %q by HEAD, %q by GET", query, name, h, g)
				}
			}
			if status == 200 && head.ContentLength != got.ContentLength { // an error has its request's id
				t.Errorf("%s: %d bytes by HEAD, %d by GET", query, head.ContentLength, got.ContentLength)
			}
			if tag := head.Header.Get("ETag"); tag != "" {
				if again, _ := ask(http.MethodHead, query, tag); again.StatusCode != http.StatusNotModified {
					t.Errorf("%s: status %d by HEAD for its tag", query, again.StatusCode)
				}
			}
		}
	}
	if allow := c.Do(http.MethodDelete, "/graphql", "").Header().Get("Allow"); allow != "GET, HEAD, POST, QUERY" {
		t.Errorf("allowed are %s", allow)
	}
	c.Want(t, "{ books { totalCount } }", "", `{"books":{"totalCount":4}}`)
}

package respcache

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"library-catalogue/graph/model"
)

// served sends a request to a cache at a revision, whose handler writes an answer that is to
// be kept or not. It reports whether the handler had to.
func served(t *testing.T, c *Cache, revision int64, key, method string, keep bool, handle func(http.ResponseWriter), headers ...string) (w *httptest.ResponseRecorder, handled bool) {
	t.Helper()
	r, w := httptest.NewRequest(method, "/", nil), httptest.NewRecorder()
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	c.Record(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var entry *Entry
		if c.Serves(w, r) {
			if entry = c.Look(w, r, KeyOf(key), revision); entry.Answered() {
				return
			}
		}
		handled = true
		if keep {
			entry.Keep(revision)
		}
		handle(w)
	})).ServeHTTP(w, r)
	return w, handled
}

func write(text string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { _, _ = w.Write([]byte(text)) }
}

func newCache(t *testing.T, bytes int) *Cache {
	t.Helper()
	c := New(bytes)
	return c
}

// TestCached sends each request twice, from which on its answer is cached where it may be,
// and once more.
func TestCached(t *testing.T) {
	t.Parallel()
	const bytes = 80_000 // an answer may have an eighth
	for name, test := range map[string]struct {
		handle func(http.ResponseWriter)
		keep   bool
		cached bool
	}{
		"an answer":           {write("hello"), true, true},
		"of the largest size": {write(strings.Repeat("x", bytes/8)), true, true},
		"larger":              {write(strings.Repeat("x", bytes/8+1)), true, false},
		"larger in parts":     {func(w http.ResponseWriter) { write(strings.Repeat("x", bytes/8))(w); write("x")(w) }, true, false},
		"flushed":             {func(w http.ResponseWriter) { write("a")(w); _ = http.NewResponseController(w).Flush(); write("b")(w) }, true, false},
		"that is not kept":    {write("errors"), false, false},
		"status 200":          {func(w http.ResponseWriter) { w.WriteHeader(http.StatusOK); write("hello")(w) }, true, true},
		"status 404":          {func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound); write("no")(w) }, true, false},
		"status 201":          {func(w http.ResponseWriter) { w.WriteHeader(http.StatusCreated); write("new")(w) }, true, false},
		"nothing":             {func(http.ResponseWriter) {}, true, false},
	} {
		c := newCache(t, bytes)
		var first, last *httptest.ResponseRecorder
		var handled bool
		for i := range 3 {
			last, handled = served(t, c, 7, name, http.MethodGet, test.keep, test.handle)
			if i == 0 {
				first = last
			} else if first.Body.String() != last.Body.String() || first.Code != last.Code {
				t.Errorf("%s: time %d: %d %.20q, want %d %.20q", name, i+1, last.Code, last.Body, first.Code, first.Body)
			}
		}
		if handled == test.cached {
			t.Errorf("%s: answered from the cache: %t, want %t", name, !handled, test.cached)
		}
		if held := c.responses.Len(); (held != 0) != test.cached {
			t.Errorf("%s: %d answers are held", name, held)
		}
	}
}

// TestRevision moves the revision after an answer was cached: it is not given again.
func TestRevision(t *testing.T) {
	t.Parallel()
	c := newCache(t, 1<<20)
	for _, step := range []struct {
		revision   int64
		text, want string
	}{
		{1, "old", "old"}, {1, "old", "old"}, {1, "unread", "old"},
		{2, "new", "new"}, {2, "unread", "new"},
		{1, "old again", "old again"},
	} {
		if w, _ := served(t, c, step.revision, "key", http.MethodGet, true, write(step.text)); w.Body.String() != step.want {
			t.Errorf("at revision %d: %q, want %q", step.revision, w.Body, step.want)
		}
	}
}

// TestMiddleware caches what a handler answers that looks at the catalogue by itself, unless
// the revision moves meanwhile or cannot be read.
func TestMiddleware(t *testing.T) {
	t.Parallel()
	away := errors.New("the database is away")
	revision, lost := int64(1), error(nil)
	look := func(context.Context) (model.Revision, error) { return model.Revision{Catalogue: revision}, lost }
	for name, test := range map[string]struct {
		meanwhile func()
		cached    bool
	}{
		"a page":             {func() {}, true},
		"a change meanwhile": {func() { revision++ }, false},
		"revision lost":      {func() { lost = away }, false},
	} {
		c := newCache(t, 1<<20)
		handled := 0
		h := c.Record(c.Middleware(look)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			handled++
			test.meanwhile()
			write("page")(w)
		})))
		for range 3 {
			lost = nil
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
			if w.Body.String() != "page" {
				t.Errorf("%s: %q", name, w.Body)
			}
		}
		if cached := handled == 2; cached != test.cached {
			t.Errorf("%s: handled %d times of 3", name, handled)
		}
		lost, handled = away, 0
		if h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil)); handled != 1 {
			t.Errorf("%s, without a revision: handled %d times", name, handled)
		}
	}
}

// TestVariants asks for a cached answer in ways that have answers of their own, or none of
// the cache.
func TestVariants(t *testing.T) {
	t.Parallel()
	c := newCache(t, 1<<20)
	for range 2 {
		served(t, c, 1, "key", http.MethodGet, true, func(w http.ResponseWriter) {
			w.Header()["Etag"], w.Header()["X-Request-Id"] = []string{`"1"`}, []string{"first"}
			write("hello")(w)
		})
	}
	for _, test := range []struct {
		key, method, header string
		handled             bool
	}{
		{"key", http.MethodGet, "", false}, {"key", http.MethodHead, "", false}, {"other", http.MethodGet, "", true},
		{"key", http.MethodGet, "Accept-Encoding: gzip", true}, {"key", http.MethodGet, "Cache-Control: no-cache", true},
		{"key", http.MethodGet, `If-None-Match: "1"`, true},
	} {
		w, handled := served(t, c, 1, test.key, test.method, true, write("hello"), test.header)
		if handled != test.handled {
			t.Errorf("%+v: handled: %t", test, handled)
		}
		if header := w.Result().Header; !handled && (header.Get("ETag") != `"1"` || header.Get("Content-Length") != "5" || header.Get("X-Request-Id") != "") {
			t.Errorf("%+v: %v", test, header)
		}
		if body := w.Body.String(); (body == "") != (test.method == http.MethodHead && !handled) {
			t.Errorf("%+v: %q", test, body)
		}
	}
}

// TestBound caches more answers than there is room for.
func TestBound(t *testing.T) {
	t.Parallel()
	const bytes = 80_000
	c := newCache(t, bytes)
	for i := range 100 {
		for range 2 {
			served(t, c, 1, strings.Repeat("k", i), http.MethodGet, true, write(strings.Repeat("x", 5_000)))
		}
	}
	if held := c.responses.Len(); held == 0 || held*5_000 > bytes {
		t.Errorf("%d answers of 5,000 bytes are held, %d bytes are allowed", held, bytes)
	}
	if none := newCache(t, 0); none != nil {
		t.Error("a cache of no bytes")
	}
}

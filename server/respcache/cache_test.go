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

// shelf is a catalogue whose revision moves, or cannot be read, when a test wants that.
type shelf struct {
	revision int64
	err      error
}

func (s *shelf) WithLoaders(ctx context.Context) context.Context { return ctx }

func (s *shelf) Revision(context.Context) (model.Revision, error) {
	return model.Revision{Catalogue: s.revision}, s.err
}

// served sends a request to a cache, whose handler writes an answer and reports whether it
// may be cached. It reports whether the handler had to.
func served(t *testing.T, c *Cache, key, method string, handle func(http.ResponseWriter) bool, headers ...string) (w *httptest.ResponseRecorder, handled bool) {
	t.Helper()
	r, w := httptest.NewRequest(method, "/", nil), httptest.NewRecorder()
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	c.Record(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := c.Serve(w, r, func() Key { return KeyOf(key) }, func(w http.ResponseWriter) bool {
			handled = true
			return handle(w)
		})
		if err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		}
	})).ServeHTTP(w, r)
	return w, handled
}

func write(text string) func(http.ResponseWriter) bool {
	return func(w http.ResponseWriter) bool {
		_, _ = w.Write([]byte(text))
		return true
	}
}

func newCache(t *testing.T, s *shelf, bytes int) *Cache {
	t.Helper()
	c, err := New(s, bytes)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestCached sends each request twice, from which on its answer is cached where it may be,
// and once more.
func TestCached(t *testing.T) {
	t.Parallel()
	const bytes = 80_000 // an answer may have an eighth
	s := &shelf{revision: 7}
	for name, test := range map[string]struct {
		handle func(http.ResponseWriter) bool
		cached bool
	}{
		"an answer":           {write("hello"), true},
		"of the largest size": {write(strings.Repeat("x", bytes/8)), true},
		"larger":              {write(strings.Repeat("x", bytes/8+1)), false},
		"larger in parts":     {func(w http.ResponseWriter) bool { write(strings.Repeat("x", bytes/8))(w); return write("x")(w) }, false},
		"flushed":             {func(w http.ResponseWriter) bool { write("a")(w); w.(http.Flusher).Flush(); return write("b")(w) }, false},
		"that may not be":     {func(w http.ResponseWriter) bool { write("errors")(w); return false }, false},
		"status 200":          {func(w http.ResponseWriter) bool { w.WriteHeader(http.StatusOK); return write("hello")(w) }, true},
		"status 404":          {func(w http.ResponseWriter) bool { w.WriteHeader(http.StatusNotFound); return write("no")(w) }, false},
		"status 201":          {func(w http.ResponseWriter) bool { w.WriteHeader(http.StatusCreated); return write("new")(w) }, false},
		"nothing":             {func(http.ResponseWriter) bool { return true }, false},
		"a change meanwhile":  {func(w http.ResponseWriter) bool { s.revision++; return write("torn")(w) }, false},
		"revision lost": {func(w http.ResponseWriter) bool {
			s.err = errors.New("the database is away")
			return write("hello")(w)
		}, false},
	} {
		c := newCache(t, s, bytes)
		var first, last *httptest.ResponseRecorder
		var handled bool
		for i := range 3 {
			s.err = nil
			last, handled = served(t, c, name, http.MethodGet, test.handle)
			if i == 0 {
				first = last
			} else if first.Body.String() != last.Body.String() || first.Code != last.Code {
				t.Errorf("%s: time %d: %d %.20q, want %d %.20q", name, i+1, last.Code, last.Body, first.Code, first.Body)
			}
		}
		if handled == test.cached {
			t.Errorf("%s: answered from the cache: %t, want %t", name, !handled, test.cached)
		}
		if held := c.answers.EstimatedSize(); (held != 0) != test.cached {
			t.Errorf("%s: %d answers are held", name, held)
		}
	}
}

// TestRevision moves the revision after an answer was cached: it is not given again, and
// neither is it where the revision cannot be read.
func TestRevision(t *testing.T) {
	t.Parallel()
	s := &shelf{revision: 1}
	c := newCache(t, s, 1<<20)
	ask := func(text string) (string, bool) {
		w, handled := served(t, c, "key", http.MethodGet, write(text))
		return w.Body.String(), handled
	}
	ask("old")
	ask("old")
	if got, handled := ask("unread"); got != "old" || handled {
		t.Errorf("%q, handled: %t", got, handled)
	}
	s.revision = 2
	if got, handled := ask("new"); got != "new" || !handled {
		t.Errorf("after a change: %q, handled: %t", got, handled)
	}
	if got, handled := ask("unread"); got != "new" || handled {
		t.Errorf("after another read: %q, handled: %t", got, handled)
	}
	s.err = errors.New("the database is away")
	if got, handled := ask("unread"); got != "the database is away\n" || handled {
		t.Errorf("without a revision: %q, handled: %t", got, handled)
	}
}

// TestVariants asks for a cached answer in ways that have answers of their own, or none of
// the cache.
func TestVariants(t *testing.T) {
	t.Parallel()
	c := newCache(t, &shelf{revision: 1}, 1<<20)
	for range 2 {
		served(t, c, "key", http.MethodGet, func(w http.ResponseWriter) bool {
			w.Header()["Etag"], w.Header()["X-Request-Id"] = []string{`"1"`}, []string{"first"}
			return write("hello")(w)
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
		w, handled := served(t, c, test.key, test.method, write("hello"), test.header)
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
	c := newCache(t, &shelf{revision: 1}, bytes)
	for i := range 100 {
		for range 2 {
			served(t, c, strings.Repeat("k", i), http.MethodGet, write(strings.Repeat("x", 5_000)))
		}
	}
	c.answers.CleanUp() // what is beyond the bound goes in the background
	if held := c.answers.EstimatedSize(); held == 0 || held*5_000 > bytes {
		t.Errorf("%d answers of 5,000 bytes are held, %d bytes are allowed", held, bytes)
	}
	if none := newCache(t, &shelf{}, 0); none != nil {
		t.Error("a cache of no bytes")
	}
}

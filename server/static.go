package server

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"library-catalogue/edge/httpcond"
)

// page is a constant response. It records the output of a handler and then serves it.
type page struct {
	header http.Header
	body   []byte
}

// newPage records the response of handler in a content encoding.
func newPage(handler http.Handler, encoding string) *page {
	p := &page{header: http.Header{}}
	handler.ServeHTTP(p, &http.Request{Method: http.MethodGet, Header: http.Header{"Accept-Encoding": {encoding}}})
	delete(p.header, "Vary") // the middleware of each request adds it
	return p
}

func (p *page) Header() http.Header { return p.header }

func (p *page) WriteHeader(int) {}

func (p *page) Write(b []byte) (int, error) {
	p.body = append(p.body, b...)
	return len(b), nil
}

func (p *page) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	maps.Copy(w.Header(), p.header)
	w.Header().Set("Content-Length", strconv.Itoa(len(p.body)))
	_, _ = w.Write(p.body) // the client may be gone
}

// static serves a page. It compresses the page once per content encoding.
func static(compress middleware, plain *page) http.Handler {
	sum := sha256.Sum256(plain.body)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	plain.header.Set("Etag", tag)
	caching := cmp.Or(plain.header.Get("Cache-Control"), "no-cache")
	plain.header.Set("Cache-Control", caching)
	compressed := map[string]func() *page{}
	for _, encoding := range encodings {
		compressed[encoding] = sync.OnceValue(func() *page { return newPage(compress(plain), encoding) })
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", caching)
		if httpcond.NotModified(w, r, tag) {
			return
		}
		encoding, _, _ := strings.Cut(r.Header.Get("Accept-Encoding"), ",")
		if page, ok := compressed[encoding]; ok {
			page().ServeHTTP(w, r)
			return
		}
		plain.ServeHTTP(w, r)
	})
}

func document(contentType string, body []byte) *page {
	return &page{http.Header{"Content-Type": {contentType}}, body}
}

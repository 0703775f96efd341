package server

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"maps"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/99designs/gqlgen/graphql/playground"

	"library-catalogue/rest"
)

// page is an answer that never changes. It takes what a handler writes, and then is
// one itself.
type page struct {
	header http.Header
	body   []byte
}

// newPage returns what a handler answers, in a content coding.
func newPage(handler http.Handler, coding string) *page {
	p := &page{header: http.Header{}}
	handler.ServeHTTP(p, &http.Request{Method: http.MethodGet, Header: http.Header{"Accept-Encoding": {coding}}})
	delete(p.header, "Vary") // each request's middleware says it
	return p
}

// Header implements http.ResponseWriter.
func (p *page) Header() http.Header { return p.header }

// WriteHeader implements http.ResponseWriter.
func (p *page) WriteHeader(int) {}

// Write implements http.ResponseWriter.
func (p *page) Write(b []byte) (int, error) {
	p.body = append(p.body, b...)
	return len(b), nil
}

// ServeHTTP implements http.Handler.
func (p *page) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	maps.Copy(w.Header(), p.header)
	w.Header().Set("Content-Length", strconv.Itoa(len(p.body)))
	_, _ = w.Write(p.body) // a client that has gone needs no answer
}

// static answers with a page, which is compressed once for each content coding.
func static(compress middleware, plain *page) http.Handler {
	sum := sha256.Sum256(plain.body)
	tag := `"` + hex.EncodeToString(sum[:8]) + `"`
	plain.header.Set("Etag", tag)
	plain.header.Set("Cache-Control", "no-cache")
	compressed := map[string]func() *page{}
	for _, coding := range codings {
		compressed[coding] = sync.OnceValue(func() *page { return newPage(compress(plain), coding) })
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		if rest.NotModified(w, r, tag) {
			return
		}
		answer := plain
		if form, ok := compressed[r.Header.Get("Accept-Encoding")]; ok {
			answer = form()
		}
		answer.ServeHTTP(w, r)
	})
}

// openAPIPage returns the description of /api.
func openAPIPage() *page {
	return &page{http.Header{"Content-Type": {"application/yaml"}}, rest.OpenAPI} // RFC 9512
}

var (
	inlineScript = regexp.MustCompile(`(?s)<script>(.*?)</script>`)
	linked       = regexp.MustCompile(`(?:src|href)="(https:[^"]+)"`)
)

// playgroundPage returns GraphiQL's page. Its Content-Security-Policy lets it load the
// scripts and styles that it names, run the one script that is in it, and ask this
// server; GraphiQL writes styles of its own, and its fonts are in its style sheet.
func playgroundPage() *page {
	p := newPage(playground.Handler("Library Catalogue", graphQLPath), "")
	script := sha256.Sum256(inlineScript.FindSubmatch(p.body)[1])
	var sources []string
	for _, link := range linked.FindAllSubmatch(p.body, -1) {
		sources = append(sources, string(link[1]))
	}
	files := strings.Join(sources, " ")
	p.header.Set("Content-Security-Policy", "default-src 'none'; script-src "+files+" 'sha256-"+base64.StdEncoding.EncodeToString(script[:])+
		"'; style-src "+files+" 'unsafe-inline'; font-src data:; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	return p
}

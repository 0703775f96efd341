package web

import (
	"html"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var pinned = regexp.MustCompile(`^https://cdn\.jsdelivr\.net/npm/[a-z-]+@\d+\.\d+\.\d+/[a-z./-]+ sha384-[\w+/]{64}$`)

// TestPlayground opens the playground of a build with and without GraphiQL. From another host it takes the pinned files
// alone, and connects to no other.
func TestPlayground(t *testing.T) {
	t.Parallel()
	serve := func(builtIn, mayUseCDN bool, path string) (policy, page string) {
		t.Helper()
		a, err := readAssets()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"graphiql.min.css", "graphiql.min.js", "react.production.min.js", "react-dom.production.min.js"} {
			if delete(a.files, name); builtIn {
				a.files[name] = []byte("x")
			}
		}
		p := &Pages{assets: a}
		p.templates = templatesByLanguage(a, false, Covers{})
		if err := p.routePlayground(mayUseCDN); err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		p.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		return w.Header().Get("Content-Security-Policy"), w.Body.String()
	}
	const query = `?query=%7D%22%3E%3Cscript%3E`
	for _, path := range []string{"/playground", "/playground/form"} {
		if policy, page := serve(false, false, path+query); policy != contentPolicy || !strings.Contains(page, "CATALOGUE_PLAYGROUND_CDN=false") || strings.Contains(page, "Try again") {
			t.Errorf("off, %s: %s\n%s", path, policy, page)
		}
	}
	if policy, page := serve(false, true, "/playground/form"+query); policy != contentPolicy || !strings.Contains(page, "from cdn.jsdelivr.net within 4 seconds") ||
		!strings.Contains(page, `<a href="/playground?query=%7D%22%3E%3Cscript%3E">Try again</a>`) {
		t.Errorf("the form: %s\n%s", policy, page)
	}
	if policy, page := serve(true, true, "/playground"); policy != toolPolicy || strings.Contains(page, "https:") || !strings.Contains(page, "graphiql.min.js&#34;,&#34;Integrity&#34;:&#34;sha384-") {
		t.Errorf("built in: %s\n%s", policy, page)
	}
	policy, page := serve(false, true, "/playground"+query)
	files, _, err := graphiQLFiles(assets{})
	if err != nil {
		t.Fatal(err)
	}
	var outside []string
	for _, directive := range strings.Split(policy, "; ") {
		sources := strings.Fields(directive)
		for _, source := range sources[1:] {
			if strings.Contains(source, "/") {
				outside = append(outside, sources[0]+" "+source)
			}
		}
	}
	var want []string
	for _, f := range files {
		want = append(want, "script-src "+f.URL, "style-src "+f.URL)
		if !pinned.MatchString(f.URL+" "+f.Integrity) || !strings.Contains(page, f.URL) || !strings.Contains(html.UnescapeString(page), f.Integrity) {
			t.Errorf("the page lacks %s, or it is not pinned:\n%s", f, page)
		}
	}
	slices.Sort(want)
	slices.Sort(outside)
	if !slices.Equal(outside, want) || !strings.Contains(policy, "connect-src 'self'; form-action 'self'; base-uri 'none';") || strings.Contains(page, "Cscript") {
		t.Errorf("%s\n%s", policy, page)
	}
}

package server_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

func TestParsePublicURL(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"": "", "https://Books.example/": "https://books.example", "http://[::1]:8080": "http://[::1]:8080"} {
		if got, err := server.ParsePublicURL(text); err != nil || got != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, bad := range []string{"books.example", "https://books.example/catalogue", "https://a:b@books.example", "https://books.example?q", "ftp://books.example", "*", "https://a&b", "/"} {
		if got, err := server.ParsePublicURL(bad); err == nil || !strings.Contains(err.Error(), "https://books.example, without a path") {
			t.Errorf("%q: %q, %v", bad, got, err)
		}
	}
}

func TestParseOrigins(t *testing.T) {
	t.Parallel()
	got, err := server.ParseOrigins([]string{"https://App.example", " http://localhost:3000/ ", "http://[::1]:80", "*"})
	if diff := cmp.Diff([]string{"https://app.example", "http://localhost:3000", "http://[::1]:80", "*"}, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for _, bad := range []string{
		"", "app.example", "https://", "https://app.example/path", "https://app.example?q", "https://*.app.example", "https://user@app.example",
		"null", "file:///x", "ftp://app.example", "https://app.example https://b.example", "https://app.example:port", "**",
	} {
		if got, err := server.ParseOrigins([]string{bad}); err == nil || !strings.Contains(err.Error(), "https://app.example, or * for all") {
			t.Errorf("%q: %q, %v", bad, got, err)
		}
	}
}

const (
	friend = "https://app.example"
	foe    = "https://evil.example"
)

// TestCORS asks as browsers do for pages of other origins.
// TestPublicURL sends writes and WebSockets from pages behind a proxy that changes Host.
func TestPublicURL(t *testing.T) {
	t.Parallel()
	c := servertest.ServeWith(t, func(cfg *server.Config) { cfg.PublicURL = "https://books.example" })
	for origin, allowed := range map[string]bool{"https://books.example": true, "http://books.example": false, "https://evil.example": false} {
		w := c.Do("POST", "http://10.0.0.1:8080/api/categories", `{"name":"N"}`, "Origin: "+origin)
		if (w.Code == http.StatusCreated) != allowed {
			t.Errorf("a write from %s: status %d", origin, w.Code)
		}
		w = c.Do("GET", "http://10.0.0.1:8080/graphql", "", "Origin: "+origin, "Connection: Upgrade", "Upgrade: websocket")
		if (w.Code != http.StatusForbidden) != allowed {
			t.Errorf("a WebSocket from %s: status %d", origin, w.Code)
		}
		if header := w.Header().Get("Access-Control-Allow-Origin"); header != "" {
			t.Errorf("CORS allows %s", header)
		}
	}
}

func TestCORS(t *testing.T) {
	t.Parallel()
	none := servertest.ServeWith(t, func(*server.Config) {})
	some := servertest.ServeWith(t, func(cfg *server.Config) { cfg.Origins = []string{friend, "http://localhost:3000"} })
	all := servertest.ServeWith(t, func(cfg *server.Config) { cfg.Origins = []string{"*"} })
	known := servertest.ServeWith(t, func(cfg *server.Config) { cfg.Origins, cfg.Credentials = []string{friend}, true })
	some.Shelves(t)
	for name, tt := range map[string]struct {
		c       *servertest.Client
		origin  string
		allowed string
	}{
		"none":        {none, friend, ""},
		"a friend":    {some, friend, friend},
		"another one": {some, "http://localhost:3000", "http://localhost:3000"},
		"a foe":       {some, foe, ""},
		"no scheme":   {some, "app.example", ""},
		"longer":      {some, friend + ".evil.example", ""},
		"another":     {some, "http://app.example", ""},
		"null":        {some, "null", ""},
		"everyone":    {all, foe, "*"},
		"credentials": {known, friend, friend},
		"a foe's":     {known, foe, ""},
	} {
		for _, target := range []string{"/api/books/1", "/api/nothing", "/graphql"} {
			for _, method := range []string{"GET", "QUERY", "POST", "DELETE"} {
				w := tt.c.Do("OPTIONS", target, "", "Origin: "+tt.origin, "Authorization:", "Content-Type:",
					"Access-Control-Request-Method: "+method, "Access-Control-Request-Headers: authorization,content-type,idempotency-key,x-anything")
				h := w.Header()
				if h.Get("Access-Control-Allow-Origin") != tt.allowed {
					t.Errorf("%s: preflight of %s %s: %v", name, method, target, h)
				}
				if tt.allowed != "" && (w.Code != http.StatusNoContent || h.Get("Access-Control-Allow-Methods") != method ||
					h.Get("Access-Control-Allow-Headers") != "authorization,content-type,idempotency-key,x-anything" || h.Get("Access-Control-Max-Age") == "") {
					t.Errorf("%s: preflight of %s %s: status %d, %v", name, method, target, w.Code, h)
				}
				if got := h.Get("Access-Control-Allow-Credentials"); (got == "true") != (tt.c == known && tt.allowed != "") {
					t.Errorf("%s: Access-Control-Allow-Credentials %q", name, got)
				}
				if refused := `origin=` + tt.origin + ` path=` + target; tt.c.Log.Has(refused) != (tt.allowed == "") || tt.allowed == "" && !tt.c.Log.Has("CATALOGUE_CORS_ORIGINS") {
					t.Errorf("%s: the log says\n%s", name, tt.c.Log)
				}
			}
			w := tt.c.Do("GET", target, "", "Origin: "+tt.origin, "Sec-Fetch-Site: cross-site")
			if got := w.Header().Get("Access-Control-Allow-Origin"); got != tt.allowed {
				t.Errorf("%s: GET %s: Access-Control-Allow-Origin %q, want %q", name, target, got, tt.allowed)
			}
			if got := w.Header().Get("Access-Control-Allow-Credentials"); (got == "true") != (tt.c == known && tt.allowed != "") {
				t.Errorf("%s: GET %s: Access-Control-Allow-Credentials %q", name, target, got)
			}
			if tt.c == some && !slices.Contains(w.Header().Values("Vary"), "Origin") {
				t.Errorf("%s: GET %s: Vary %q, without Origin", name, target, w.Header().Values("Vary"))
			}
			got := w.Header().Get("Access-Control-Expose-Headers")
			for _, name := range []string{"ETag", "Link", "X-Total-Count", "Retry-After", "X-Request-Id", "Location", "Idempotency-Replayed", "Accept-Query", "RateLimit", "RateLimit-Policy", "WWW-Authenticate"} {
				if exposed := strings.Contains(strings.ToLower(got), strings.ToLower(name)); exposed != (tt.allowed != "") {
					t.Errorf("%s: GET %s: %s is exposed: %t, in %q", name, target, name, exposed, got)
				}
			}
		}
	}
	if w := some.Do("PATCH", "/api/books", "", "Origin: "+friend); w.Code != 405 || w.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("PATCH: status %d, %v", w.Code, w.Header())
	}
}

// TestCSRF lets pages of other origins write, in all the ways that a browser
// allows them without asking first.
func TestCSRF(t *testing.T) {
	t.Parallel()
	none := servertest.ServeWith(t, func(*server.Config) {})
	some := servertest.ServeWith(t, func(cfg *server.Config) { cfg.Origins = []string{friend} })
	all := servertest.ServeWith(t, func(cfg *server.Config) { cfg.Origins = []string{"*"} })
	mutation := servertest.Encode(t, map[string]string{"query": `mutation { createCategory(input: {name: "N"}) { category { id } } }`})
	for name, tt := range map[string]struct {
		c       *servertest.Client
		headers []string
		refused bool
	}{
		"no browser":              {none, nil, false},
		"same origin":             {none, []string{"Sec-Fetch-Site: same-origin", "Origin: http://example.com"}, false},
		"typed by hand":           {none, []string{"Sec-Fetch-Site: none"}, false},
		"same host, old browser":  {none, []string{"Origin: http://example.com"}, false},
		"cross-site":              {none, []string{"Sec-Fetch-Site: cross-site", "Origin: " + foe}, true},
		"cross-site, no origin":   {none, []string{"Sec-Fetch-Site: cross-site"}, true},
		"same-site":               {none, []string{"Sec-Fetch-Site: same-site", "Origin: http://other.example.com"}, true},
		"null":                    {none, []string{"Origin: null"}, true},
		"old browser":             {none, []string{"Origin: " + foe}, true},
		"a friend, none allowed":  {none, []string{"Sec-Fetch-Site: cross-site", "Origin: " + friend}, true},
		"a friend":                {some, []string{"Sec-Fetch-Site: cross-site", "Origin: " + friend}, false},
		"a friend, old browser":   {some, []string{"Origin: " + friend}, false},
		"a foe, friends allowed":  {some, []string{"Sec-Fetch-Site: cross-site", "Origin: " + foe}, true},
		"a foe, everyone allowed": {all, []string{"Sec-Fetch-Site: cross-site", "Origin: " + foe}, false},
	} {
		for _, request := range []struct{ method, target, body string }{
			{"POST", "/graphql", mutation}, {"QUERY", "/graphql", `{"query":"{ __typename }"}`}, {"POST", "/api/categories", `{"name":"N"}`},
			{"PUT", "/api/categories/1", `{"name":"N"}`}, {"DELETE", "/api/books/1", ""},
		} {
			before := servertest.Revision(t, tt.c.Store)
			w := tt.c.Do(request.method, request.target, request.body, tt.headers...)
			if refused := w.Code == http.StatusForbidden; refused != tt.refused {
				t.Errorf("%s: %s %s: status %d: %s", name, request.method, request.target, w.Code, w.Body)
			}
			if !tt.refused {
				continue
			}
			if servertest.Revision(t, tt.c.Store) != before {
				t.Errorf("%s: %s %s wrote", name, request.method, request.target)
			}
			const message = `"message":"This request comes from another origin. Behind a proxy set CATALOGUE_PUBLIC_URL to the address of the pages. CATALOGUE_CORS_ORIGINS allows pages of other origins."`
			want := `{"success":false,` + message + `,"data":null}`
			if request.target == "/graphql" {
				want = `{"errors":[{` + message + `,"extensions":{"code":"FORBIDDEN","requestId":"test"}}]}`
			}
			if got := w.Body.String(); got != want {
				t.Errorf("%s: %s", name, got)
			}
			if !tt.c.Log.Has("CATALOGUE_PUBLIC_URL") {
				t.Errorf("%s: the log does not name CATALOGUE_PUBLIC_URL", name)
			}
		}
		if w := tt.c.Do("GET", "/graphql?query={__typename}", "", tt.headers...); w.Code != http.StatusOK {
			t.Errorf("%s: a read: status %d", name, w.Code)
		}
	}

	// What a form, or a script without a preflight, can send is not taken as JSON from
	// any client.
	before := servertest.Revision(t, none.Store)
	for _, media := range []string{"", "text/plain", "text/plain; application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"} {
		for target, body := range map[string]string{"/graphql": mutation, "/api/categories": `{"name":"N"}`} {
			if w := none.Do("POST", target, body, "Content-Type: "+media); w.Code != http.StatusUnsupportedMediaType {
				t.Errorf("POST %s of %q: status %d: %s", target, media, w.Code, w.Body)
			}
		}
	}
	if servertest.Revision(t, none.Store) != before {
		t.Error("something was written")
	}
}

// TestCompressedBodies sends what could become a hundred times as long.
func TestCompressedBodies(t *testing.T) {
	c := servertest.Shelved(t)
	query := `{"query":"{ book(id: 1) { name } }"}`
	for coding, refused := range map[string]bool{
		"identity": false, "Identity": false, "gzip": true, "deflate": true, "br": true, "zstd": true, ",": true, "identity, gzip": true, "x": true,
	} {
		for target, body := range map[string]string{"/graphql": query, "/api/categories": `{"name":"N"}`} {
			w := c.Do("POST", target, body, "Content-Encoding: "+coding)
			if got := w.Code == http.StatusUnsupportedMediaType; got != refused {
				t.Errorf("%s, %s: status %d: %s", target, coding, w.Code, w.Body)
			}
			if refused && !strings.Contains(w.Body.String(), `"The request body must not be compressed."`) {
				t.Errorf("%s, %s: %s", target, coding, w.Body)
			}
		}
	}
}

// TestHeadersOfEveryAnswer holds that no shared cache keeps what is not meant for
// it, and no browser takes JSON for a page.
func TestHeadersOfEveryAnswer(t *testing.T) {
	c := servertest.Shelved(t)
	tag := c.Do("GET", "/api/books/1", "").Header().Get("ETag")
	const query = `{"query":"{ book(id: 1) { name } }"}`
	for _, tt := range []struct {
		method, target, body string
		headers              []string
		status               int
		cacheControl         string
	}{
		{"GET", "/api/books/1", "", nil, 200, "no-cache"},
		{"GET", "/api/books", "", nil, 200, "no-cache"},
		{"HEAD", "/api/books/1", "", nil, 200, "no-cache"},
		{"GET", "/api/books/1", "", []string{"If-None-Match: " + tag}, 304, "no-cache"},
		{"GET", "/api/books/99", "", nil, 404, "no-store"},
		{"GET", "/api/books?per_page=x", "", nil, 422, "no-store"},
		{"GET", "/api/x", "", nil, 404, "no-store"},
		{"PATCH", "/api/books/1", "", nil, 405, "no-store"},
		{"POST", "/api/categories", `{"name":"N"}`, nil, 201, "no-store"},
		{"POST", "/api/categories", `{"name":"N"}`, []string{"Authorization:"}, 401, "no-store"},
		{"PUT", "/api/categories/1", `{"name":"N"}`, nil, 200, "no-store"},
		{"DELETE", "/api/books/4", "", nil, 200, "no-store"},
		{"POST", "/graphql", query, nil, 200, "no-store"},
		{"POST", "/graphql", "x", nil, 400, "no-store"},
		{"GET", "/graphql?query={__typename}", "", nil, 200, "no-cache"},
		{"GET", "/graphql?query={isbn}", "", nil, 200, "no-store"},
		{"QUERY", "/graphql", query, nil, 200, "no-cache"},
		{"QUERY", "/graphql", "x", nil, 400, "no-store"},
		{"GET", "/graphql", "", nil, 400, "no-store"},
		{"GET", "/graphql", "", []string{"Accept: text/html"}, 302, "no-store"},
		{"GET", "/api", "", []string{"Accept: text/html"}, 302, "no-store"},
		{"GET", "/api", "", nil, 404, "no-store"},
		{"GET", "/", "", []string{"Accept: text/html"}, 200, "no-store"},
		{"GET", "/", "", []string{"Accept: application/json"}, 200, "no-store"},
		{"DELETE", "/graphql", "", nil, 405, "no-store"},
		{"GET", "/nothing", "", nil, 404, "no-store"},
		{"GET", "/healthz", "", nil, 200, "no-store"},
	} {
		w := c.Do(tt.method, tt.target, tt.body, tt.headers...)
		h := w.Header()
		if w.Code != tt.status || h.Get("Cache-Control") != tt.cacheControl || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("X-Request-Id") != "test" {
			t.Errorf("%s %s: status %d, want %d; Cache-Control %q, want %q; %v", tt.method, tt.target, w.Code, tt.status, h.Get("Cache-Control"), tt.cacheControl, h)
		}
		negotiated := strings.HasPrefix(tt.target, "/graphql") || tt.target == "/api" || tt.target == "/"
		if negotiated && !slices.Contains(h.Values("Vary"), "Accept") {
			t.Errorf("%s %s: Vary %q", tt.method, tt.target, h.Values("Vary"))
		}
		if !slices.Contains(h.Values("Vary"), "Accept-Encoding") {
			t.Errorf("%s %s: Vary %q", tt.method, tt.target, h.Values("Vary"))
		}
	}
}

// endless reads until the time is over.
type endless struct{ *resolvers.Resolver }

func (endless) Read(ctx context.Context, _ model.Revision, _ model.Replicas, _ func(context.Context) (bool, error)) (int64, error) {
	<-ctx.Done()
	return -1, model.Errorf(model.Unavailable, "The database is away.")
}

func (endless) Revision(context.Context) (model.Revision, error) { return model.Revision{}, nil }

func (endless) Sizes() model.Sizes { return model.Sizes{Books: 100_000, Genres: 200, Categories: 20} }

// TestTimeLimit asks for reading that does not end. Medium and heavy work ends after 10 s,
// and the answer says what to do. Light work ends with the request, also where that has a body.
func TestTimeLimit(t *testing.T) {
	t.Parallel()
	h := servertest.NewHandler(t, &servertest.Log{}, server.Config{
		Catalogue:    endless{resolvers.New(catalogtest.Open(t, catalogtest.SQLite(t)))},
		Authenticate: func(next http.Handler) http.Handler { return next },
	})
	query := func(document string) string { return "/graphql?query=" + url.QueryEscape(document) }
	for _, tt := range []struct {
		target, body string
		want         time.Duration
		says         string
	}{
		{query(`{ books(filter: {pages: {gt: 1}}) { nodes { id } } }`), "", 10 * time.Second, "Request less"},
		{query(`{ books(filter: {or: [{name: {icontains: "a"}}, {name: {icontains: "b"}}]}) { totalCount } }`), "", 10 * time.Second, "Request less"},
		{"/api/books?per_page=10&price_min=1", "", 10 * time.Second, "Request less"},
		{query(`{ books { nodes { id } } }`), "", 30 * time.Second, "too long"},
		{"/api/books?per_page=10", "", 30 * time.Second, "database"},
		{"/api/books?per_page=10", "x", 30 * time.Second, "database"},
		{"/api/books/1", "x", 30 * time.Second, "database"},
	} {
		synctest.Test(t, func(t *testing.T) {
			begun := time.Now()
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, tt.target, strings.NewReader(tt.body)))
			if took := time.Since(begun); took != tt.want || !strings.Contains(w.Body.String(), tt.says) {
				t.Errorf("%s, body %q: status %d after %v: %s", tt.target, tt.body, w.Code, took, w.Body)
			}
		})
	}
}

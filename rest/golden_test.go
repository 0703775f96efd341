package rest_test

import (
	"crypto/rand"
	"fmt"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/rest"
	"library-catalogue/server"
)

// step is one request of a golden file.
type step struct {
	method, target, body string
	headers              []header
	shown                string // in place of the body, where that is long
}

const (
	hobbit = `{"name":"The Hobbit","description":"There and back again.","pages":310,"published_at":"1937-09-21","author":"J. R. R. Tolkien","price":19.99,"genre_id":1}`
	noAuth = "Authorization:"
)

// goldens are the conversations that testdata/golden holds, each on the shelf
// of three books.
var goldens = map[string][]step{
	"books-list": {
		{method: "GET", target: "/api/books"},
		{method: "GET", target: "/api/books", headers: []header{noAuth}},
		{method: "HEAD", target: "/api/books"},
		{method: "GET", target: "/api/books?per_page=2"},
		{method: "GET", target: "/api/books?per_page=1&page=2"},
		{method: "GET", target: "/api/books?page=9"},
		{method: "GET", target: "/api/books?sort=-price,name&price_max=19.99&published_from=1900-01-01"},
		{method: "GET", target: "/api/books?author=stephen+hawking&genre_id=1,2&category_id=2&page=1&per_page=5"},
		{method: "GET", target: "/api/books?q=hobit"},
		{method: "GET", target: "/api/books", headers: []header{"Accept: text/csv"}},
		{method: "GET", target: "/api/books?format=spreadsheet&sort=-price&per_page=1"},
		{method: "GET", target: "/api/books?format=bibtex&ids=1,3"},
		{method: "GET", target: "/api/books?format=csl&per_page=2"},
	},
	"books-get": {
		{method: "GET", target: "/api/books/1"},
		{method: "GET", target: "/api/books/2", headers: []header{noAuth}},
		{method: "GET", target: "/api/b%6Foks/%32/"},
		{method: "HEAD", target: "/api/books/1"},
		{method: "GET", target: "/api/books/1", headers: []header{`If-None-Match: "1.1.1"`}},
		{method: "GET", target: "/api/books/1?format=bibtex"},
		{method: "GET", target: "/api/books/1", headers: []header{"Accept: application/vnd.citationstyles.csl+json"}},
		{method: "GET", target: "/api/books/1?format=csv"},
	},
	"books-create": {
		{method: "POST", target: "/api/books", body: hobbit},
		{method: "POST", target: "/api/books", body: `{"name":" Dune ","pages":"412","published_at":"1965-08-01T23:30:00-08:00","author":"Frank Herbert","price":"1.005","genre_id":"2"}`, headers: []header{"Idempotency-Key: dune"}},
		{method: "POST", target: "/api/books", body: `{"name":" Dune ","pages":"412","published_at":"1965-08-01T23:30:00-08:00","author":"Frank Herbert","price":"1.005","genre_id":"2"}`, headers: []header{"Idempotency-Key: dune"}},
	},
	"books-update": {
		{method: "PUT", target: "/api/books/1", body: `{"name":"The Hobbit, or There and Back Again","pages":320,"published_at":"1937-09-21","author":"J. R. R. Tolkien","price":"24","genre_id":3}`},
		{method: "PUT", target: "/api/books/1", body: `{"name":"The Hobbit","description":null,"pages":320,"published_at":"1937-09-21","author":"J. R. R. Tolkien","price":24.5,"genre_id":"1"}`, headers: []header{`If-Match: "2.1.1"`}},
	},
	"books-delete": {
		{method: "DELETE", target: "/api/books/1"},
		{method: "GET", target: "/api/books/1"},
	},
	"genres-list": {
		{method: "GET", target: "/api/genres"},
		{method: "HEAD", target: "/api/genres"},
		{method: "GET", target: "/api/genres?per_page=1&page=3"},
		{method: "GET", target: "/api/genres?category_id=1&sort=-name"},
	},
	"genres-get": {
		{method: "GET", target: "/api/genres/1"},
		{method: "HEAD", target: "/api/genres/2"},
		{method: "GET", target: "/api/genres/1", headers: []header{`If-None-Match: W/"1.1"`}},
	},
	"genres-create": {
		{method: "POST", target: "/api/genres", body: `{"name":"Space opera","description":"Far away.","category_id":"1"}`},
		{method: "POST", target: "/api/genres", body: `{"name":"Chemistry","category_id":2}`},
	},
	"genres-update": {
		{method: "PUT", target: "/api/genres/1", body: `{"name":"High fantasy"}`},
		{method: "PUT", target: "/api/genres/1", body: `{"name":"High fantasy","description":"","category_id":"2"}`},
	},
	"genres-delete": {
		{method: "DELETE", target: "/api/genres/3"},
		{method: "DELETE", target: "/api/genres/1?cascade=true"},
		{method: "GET", target: "/api/books"},
	},
	"categories-list": {
		{method: "GET", target: "/api/categories"},
		{method: "HEAD", target: "/api/categories"},
		{method: "GET", target: "/api/categories?per_page=1"},
		{method: "GET", target: "/api/categories?sort=-name"},
	},
	"categories-get": {
		{method: "GET", target: "/api/categories/1"},
		{method: "HEAD", target: "/api/categories/1"},
		{method: "GET", target: "/api/categories/2", headers: []header{`If-None-Match: *`}},
	},
	"categories-create": {
		{method: "POST", target: "/api/categories", body: `{"name":"Poetry","description":"Lines & <stanzas>."}`},
		{method: "POST", target: "/api/categories", body: `{"name":"Poetry"}`},
	},
	"categories-update": {
		{method: "PUT", target: "/api/categories/1", body: `{"name":"Tales"}`},
		{method: "PUT", target: "/api/categories/1", body: `{"name":"Tales","description":null}`},
	},
	"categories-delete": {
		{method: "POST", target: "/api/categories", body: `{"name":"Empty"}`},
		{method: "DELETE", target: "/api/categories/3"},
		{method: "DELETE", target: "/api/categories/1?cascade=true"},
		{method: "GET", target: "/api/genres"},
	},
	"error-400": {
		{method: "POST", target: "/api/books", body: `{"name":`},
		{method: "POST", target: "/api/books", body: `{"name":"a"} {}`},
		{method: "POST", target: "/api/books", body: `["name"]`},
		{method: "POST", target: "/api/books", body: `null`},
		{method: "PUT", target: "/api/genres/1", body: `"name"`},
		{method: "PUT", target: "/api/categories/9", body: `{"name":"\ud800"}`},
		{method: "POST", target: "/api/categories", headers: []header{"Content-Type: application/json"}},
	},
	"error-401": {
		{method: "POST", target: "/api/books", body: hobbit, headers: []header{noAuth}},
		{method: "POST", target: "/api/genres", body: `{`, headers: []header{"Authorization: Bearer forged"}},
		{method: "POST", target: "/api/categories", body: `{}`, headers: []header{"Authorization: Basic YTpi"}},
		{method: "PUT", target: "/api/books/1", body: hobbit, headers: []header{noAuth}},
		{method: "PUT", target: "/api/genres/9", body: `{}`, headers: []header{noAuth}},
		{method: "PUT", target: "/api/categories/x", headers: []header{noAuth}},
		{method: "DELETE", target: "/api/books/1", headers: []header{noAuth}},
		{method: "DELETE", target: "/api/genres/1?cascade=maybe", headers: []header{noAuth}},
		{method: "DELETE", target: "/api/categories/9", headers: []header{"Authorization: Bearer"}},
	},
	"error-404": {
		{method: "GET", target: "/api/books/4"},
		{method: "GET", target: "/api/genres/4"},
		{method: "GET", target: "/api/categories/3"},
		{method: "PUT", target: "/api/books/4", body: hobbit},
		{method: "PUT", target: "/api/genres/4", body: `{"name":"a"}`},
		{method: "PUT", target: "/api/categories/3", body: `{"name":"a"}`},
		{method: "DELETE", target: "/api/books/4"},
		{method: "DELETE", target: "/api/genres/4"},
		{method: "DELETE", target: "/api/categories/3"},
		{method: "GET", target: "/api/books/one"},
		{method: "GET", target: "/api/books/0"},
		{method: "GET", target: "/api/books/-1"},
		{method: "GET", target: "/api/books/01"},
		{method: "GET", target: "/api/books/1.0"},
		{method: "GET", target: "/api/books/1e0"},
		{method: "GET", target: "/api/books/+1"},
		{method: "GET", target: "/api/books/1%20"},
		{method: "GET", target: "/api/books/1%2F"},
		{method: "GET", target: "/api/books/%D9%A1"},
		{method: "GET", target: "/api/books/9223372036854775807"},
		{method: "GET", target: "/api/books/9223372036854775808"},
		{method: "PUT", target: "/api/genres/99999999999999999999", body: `{"name":"a"}`},
		{method: "DELETE", target: "/api/categories/18446744073709551617"},
		{method: "HEAD", target: "/api/books/4"},
		{method: "GET", target: "/api"},
		{method: "GET", target: "/api/"},
		{method: "GET", target: "/api/authors"},
		{method: "GET", target: "/api/Books"},
		{method: "GET", target: "/api/api/books"},
		{method: "GET", target: "/api//books"},
		{method: "GET", target: "/api/books/1/genre"},
		{method: "GET", target: "/api/books//1"},
		{method: "GET", target: "/api/books%2F1"},
		{method: "GET", target: "/api/books/../genres"},
		{method: "POST", target: "/api/shelf", body: `{`, headers: []header{noAuth}},
	},
	"error-405": {
		{method: "PATCH", target: "/api/books"},
		{method: "PUT", target: "/api/books", body: `{}`},
		{method: "DELETE", target: "/api/books"},
		{method: "PATCH", target: "/api/books/1"},
		{method: "POST", target: "/api/books/1", body: `{}`},
		{method: "PATCH", target: "/api/genres"},
		{method: "POST", target: "/api/genres/1", body: `{}`},
		{method: "DELETE", target: "/api/categories", headers: []header{noAuth}},
		{method: "OPTIONS", target: "/api/categories/1", headers: []header{noAuth}},
	},
	"error-409": {
		{method: "DELETE", target: "/api/genres/2"},
		{method: "DELETE", target: "/api/genres/1"},
		{method: "DELETE", target: "/api/categories/2"},
		{method: "DELETE", target: "/api/categories/1"},
		{method: "DELETE", target: "/api/categories/1?cascade=false"},
	},
	"error-412": {
		{method: "PUT", target: "/api/books/1", body: hobbit, headers: []header{`If-Match: "2.1.1"`}},
		{method: "PUT", target: "/api/genres/1", body: `{"name":"a"}`, headers: []header{`If-Match: "1.1.1"`}},
		{method: "PUT", target: "/api/categories/1", body: `{"name":"a"}`, headers: []header{`If-Match: W/"1"`}},
		{method: "PUT", target: "/api/categories/1", body: `{"name":"a"}`, headers: []header{`If-None-Match: *`}},
		{method: "DELETE", target: "/api/books/1", headers: []header{`If-Match: "0"`}},
		{method: "DELETE", target: "/api/genres/1", headers: []header{`If-Match: "2.1"`}},
		{method: "DELETE", target: "/api/categories/1", headers: []header{`If-Match: "2"`}},
	},
	"error-413": {
		{method: "POST", target: "/api/books", body: `{"name":"` + strings.Repeat("a", 1<<20) + `"}`, shown: `{"name":"… 1 MiB …"}`},
		{method: "PUT", target: "/api/books/1", body: `{"name":"` + strings.Repeat("a", 1<<20) + `"}`, shown: `{"name":"… 1 MiB …"}`},
	},
	"error-415": {
		{method: "POST", target: "/api/books", body: `name=a`, headers: []header{"Content-Type: application/x-www-form-urlencoded"}},
		{method: "POST", target: "/api/genres", body: `{"name":"a"}`, headers: []header{"Content-Type:"}},
		{method: "PUT", target: "/api/books/1", body: `{"name":"a"}`, headers: []header{"Content-Type: text/plain"}},
		{method: "PUT", target: "/api/books/1", body: `{"name":"a"}`, headers: []header{"Content-Type: application/json; charset=iso-8859-1"}},
		{method: "PUT", target: "/api/books/1", body: `{"name":"a"}`, headers: []header{"Content-Encoding: gzip"}},
	},
	"error-422": {
		{method: "POST", target: "/api/books", body: `{}`},
		{method: "POST", target: "/api/genres", body: `{}`},
		{method: "POST", target: "/api/categories", body: `{}`},
		{method: "PUT", target: "/api/books/1", body: `{"name":"The Hobbit"}`},
		{method: "PUT", target: "/api/genres/1", body: `{"category_id":9}`},
		{method: "PUT", target: "/api/categories/1", body: `{"description":"There is no name."}`},
		{method: "POST", target: "/api/books", body: `{"name":"` + strings.Repeat("a", 1001) + `","description":7,"pages":"many","published_at":"2023-02-29","author":[],"price":-1,"genre_id":9}`, shown: `{"name":"… 1,001 characters …","description":7,"pages":"many","published_at":"2023-02-29","author":[],"price":-1,"genre_id":9}`},
		{method: "GET", target: "/api/books?per_page=0"},
		{method: "GET", target: "/api/books?per_page=1001&page=x"},
		{method: "GET", target: "/api/books?after=x"},
		{method: "GET", target: "/api/books?page=1&after=x"},
		{method: "GET", target: "/api/books?genre_id=one&price_min=cheap&published_to=soon"},
		{method: "GET", target: "/api/books?sort=weight"},
		{method: "GET", target: "/api/books?format=ods", headers: []header{"Accept: text/csv"}},
		{method: "DELETE", target: "/api/genres/1?cascade=maybe"},
		{method: "POST", target: "/api/books", body: hobbit, headers: []header{"Idempotency-Key: Ž"}},
	},
}

// TestGolden holds every operation and every kind of error to its golden file,
// the same one for both engines.
func TestGolden(t *testing.T) {
	t.Parallel()
	for name, steps := range goldens {
		t.Run(name, func(t *testing.T) {
			catalogtest.Each(t, func(t *testing.T, url string) {
				golden(t, name, serve(t, url, rest.Options{}).shelf().converse(steps))
			})
		})
	}
}

// TestGoldenFiles finds golden files that no test writes any more.
func TestGoldenFiles(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "golden", "*.txt"))
	must(t, err)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		if _, known := goldens[name]; !known && name != "error-500" && name != "error-503" {
			t.Errorf("%s belongs to no test", file)
		}
	}
}

// TestInternalError takes tables away under the service. What the database says
// of it is in the log, and not in the answer.
func TestInternalError(t *testing.T) {
	onEach(t, func(t *testing.T, s *service) {
		s.exec(`DROP TABLE idempotency_keys`)
		s.exec(`DROP TABLE books`)
		id := rand.Text()
		golden(t, "error-500", s.converse([]step{
			{method: "POST", target: "/api/books", body: hobbit, headers: []header{"Idempotency-Key: a", "X-Request-Id: " + id}},
			{method: "GET", target: "/api/books"},
			{method: "GET", target: "/api/books?page=1"},
			{method: "GET", target: "/api/books/1"},
		}))
		lines := strings.Join(s.log.linesWith("request_id="+id), "")
		if !strings.Contains(lines, "level=ERROR") || !strings.Contains(lines, "idempotency_keys") {
			t.Errorf("the log says only: %s", lines)
		}
	})
}

// TestUnavailable lets a request wait for a row that another holds, for longer
// than the service waits.
func TestUnavailable(t *testing.T) {
	onEach(t, func(t *testing.T, s *service) {
		hasty := serveWith(t, s.database, server.Config{Timeout: 50 * time.Millisecond}, func(*http.Server) {})
		s.holding(1, func() {
			golden(t, "error-503", hasty.converse([]step{{method: "PUT", target: "/api/categories/1", body: `{"name":"Tales"}`}}))
		})
		if got := s.want(http.StatusOK, "PUT", "/api/categories/1", `{"name":"Tales"}`).header.Get("ETag"); got != `"2"` {
			t.Errorf("the next change makes version %s: the one that was given up had its effect", got)
		}
	})
}

// golden compares a conversation with its golden file.
func golden(t *testing.T, name, got string) {
	t.Helper()
	dbtest.Golden(t, "testdata/golden/"+name+".txt", got)
}

// converse sends the requests and writes down what is said, without what is
// different each time.
func (s *service) converse(steps []step) string {
	s.Helper()
	var b strings.Builder
	for _, step := range steps {
		fmt.Fprintf(&b, "> %s %s\n", step.method, step.target)
		for _, line := range step.headers {
			if name, _, _ := strings.Cut(line, ":"); name != "X-Request-Id" {
				fmt.Fprintf(&b, "> %s\n", line)
			}
		}
		if step.body != "" {
			shown := step.shown
			if shown == "" {
				shown = step.body
			}
			fmt.Fprintf(&b, "> %s\n", shown)
		}
		a := s.call(step.method, step.target, step.body, step.headers...)
		s.asDescribed(step, a)
		fmt.Fprintf(&b, "< %d %s\n", a.status, http.StatusText(a.status))
		for _, name := range []string{"Content-Type", "Content-Disposition", "Location", "ETag", "Allow", "WWW-Authenticate", "Link", "X-Total-Count", "Retry-After", "Idempotency-Replayed"} {
			for _, value := range a.header.Values(name) {
				fmt.Fprintf(&b, "< %s: %s\n", name, revision.ReplaceAllString(value, `"r<revision>$1"`))
			}
		}
		if strings.HasSuffix(a.body, "\n") && a.header.Get("Content-Type") == "application/json" {
			s.Errorf("%s %s: the body ends with a line break", step.method, step.target)
		}
		fmt.Fprintf(&b, "%s\n\n", s.withoutTimes(a.body))
	}
	return b.String()
}

var (
	revision  = regexp.MustCompile(`^"r\d+(-csv|-spreadsheet|-xlsx|-bibtex|-ris|-csl|-marcxml)?"$`)
	timestamp = regexp.MustCompile(`"(created_at|updated_at)":"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)"`)
	times     = regexp.MustCompile(`ed_at":"[^"]*[T:]`)
)

// withoutTimes puts a placeholder for the moments in a body, which must be
// written in the one documented way and lie in this test.
func (s *service) withoutTimes(body string) string {
	s.Helper()
	const layout = "2006-01-02T15:04:05.000000Z"
	body = timestamp.ReplaceAllStringFunc(body, func(field string) string {
		parts := timestamp.FindStringSubmatch(field)
		at, err := time.Parse(layout, parts[2])
		if err != nil || at.Before(s.started) || at.After(time.Now()) {
			s.Errorf("%s is not a moment of this test (%v)", field, err)
		}
		return fmt.Sprintf(`"%s":"<timestamp>"`, parts[1])
	})
	if rest := times.FindString(body); rest != "" {
		s.Errorf("a timestamp is not as documented: %s", rest)
	}
	return body
}

package rest_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/rest"
)

// tag gives the ETag of what target answers.
func (s *service) tag(target string) string {
	s.Helper()
	return s.want(http.StatusOK, "GET", target, "").header.Get("ETag")
}

// TestNotModified reads again what was read, with tags as clients, caches and
// proxies give them back.
func TestNotModified(t *testing.T) {
	onEach(t, func(t *testing.T, s *service) {
		for _, target := range []string{"/api/books", "/api/books?per_page=2", "/api/books/1", "/api/genres", "/api/genres/1", "/api/categories", "/api/categories/1"} {
			tag := s.tag(target)
			gzipped := strings.TrimSuffix(tag, `"`) + `-gzip"`
			for given, want := range map[string]string{ // the tag in the 304, or none for a 200
				tag:            tag,
				"W/" + tag:     tag,
				gzipped:        gzipped,
				"W/" + gzipped: gzipped,
				strings.ReplaceAll(gzipped, "gzip", "zstd"): strings.ReplaceAll(gzipped, "gzip", "zstd"),
				"*":                                   tag,
				`"x", ` + tag:                         tag,
				`"x",` + tag + `, "y"`:                tag,
				`"x"`:                                 "",
				`"x", W/"y"`:                          "",
				strings.Trim(tag, `"`):                "",
				tag + `x`:                             "",
				`"` + tag + `"`:                       "",
				strings.TrimSuffix(tag, `"`) + `-br"`: "",
			} {
				for _, method := range []string{"GET", "HEAD"} {
					a := s.call(method, target, "", "If-None-Match: "+given)
					switch {
					case want == "":
						if a.status != http.StatusOK || a.header.Get("ETag") != tag {
							t.Errorf("%s %s, If-None-Match: %s: status %d, ETag %s", method, target, given, a.status, a.header.Get("ETag"))
						}
					case a.status != http.StatusNotModified || a.body != "" || a.header.Get("ETag") != want ||
						a.header.Get("Vary") != "Accept-Encoding" || a.header.Get("Cache-Control") != "no-cache" || a.header.Get("Content-Type") != "":
						t.Errorf("%s %s, If-None-Match: %s: status %d, want ETag %s: %v %q", method, target, given, a.status, want, a.header, a.body)
					}
				}
			}
			s.want(http.StatusNotModified, "GET", target, "", `If-None-Match: "x"`, "If-None-Match: "+tag)
			s.want(http.StatusOK, "GET", target, "", `If-None-Match: "x"`, `If-None-Match: "y"`)
		}
		// What would not be answered with 200 is no different for a condition.
		s.want(http.StatusNotFound, "GET", "/api/books/99", "", "If-None-Match: *")
		s.want(http.StatusUnprocessableEntity, "GET", "/api/books?after=x", "", "If-None-Match: *")
		s.want(http.StatusUnprocessableEntity, "GET", "/api/books?per_page=0", "", "If-None-Match: *")
		if a := s.call("GET", "/api/books?after=x", ""); a.header.Get("ETag") != "" {
			t.Errorf("an error has the ETag %s", a.header.Get("ETag"))
		}
	})
}

// TestTagsChange changes rows, by the service and by another program: each tag
// changes with its representation, and with it alone.
func TestTagsChange(t *testing.T) {
	t.Parallel()
	items := []string{"/api/books/1", "/api/books/2", "/api/genres/1", "/api/genres/2", "/api/categories/1", "/api/categories/2"}
	lists := []string{"/api/books", "/api/genres", "/api/categories", "/api/books?per_page=1"}
	byAPI := func(method, target, body string) func(*service) {
		return func(s *service) { s.want(http.StatusOK, method, target, body) }
	}
	bySQL := func(text string) func(*service) { return func(s *service) { s.exec(text) } }
	changes := []struct {
		change func(*service)
		items  []string // whose tags change
	}{
		{byAPI("PUT", "/api/books/1", hobbit), []string{"/api/books/1"}},
		{byAPI("PUT", "/api/genres/1", `{"name":"Myths"}`), []string{"/api/books/1", "/api/genres/1"}},
		{byAPI("PUT", "/api/categories/1", `{"name":"Tales"}`), []string{"/api/books/1", "/api/genres/1", "/api/categories/1"}},
		{bySQL(`UPDATE books SET pages = 7 WHERE id = 2`), []string{"/api/books/2"}},
		{bySQL(`UPDATE genres SET description = NULL WHERE id = 1`), []string{"/api/books/1", "/api/genres/1"}},
		{bySQL(`UPDATE categories SET name = 'Nature' WHERE id = 2`), []string{"/api/books/2", "/api/genres/2", "/api/categories/2"}},
		{bySQL(`UPDATE books SET genre_id = 3 WHERE id = 1`), []string{"/api/books/1"}},
		{bySQL(`UPDATE genres SET category_id = 1 WHERE id = 2`), []string{"/api/books/2", "/api/genres/2"}},
		{bySQL(`INSERT INTO categories (name) VALUES ('New')`), nil},
		{bySQL(`DELETE FROM categories WHERE name = 'New'`), nil},
		{bySQL(`DELETE FROM books WHERE id = 3`), nil},
	}
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := serve(t, url, rest.Options{}).shelf()
		tags := func(targets []string) map[string]string {
			out := map[string]string{}
			for _, target := range targets {
				out[target] = s.tag(target)
			}
			return out
		}
		seen := map[string]bool{}
		for _, tag := range tags(lists) {
			seen[tag] = true
		}
		for i, c := range changes {
			before := tags(items)
			c.change(s)
			var changed []string
			for target, tag := range tags(items) {
				if tag != before[target] {
					changed = append(changed, target)
				}
			}
			slices.Sort(changed)
			slices.Sort(c.items)
			if diff := gocmp.Diff(c.items, changed); diff != "" {
				t.Errorf("change %d: other tags change (-want +got):\n%s", i, diff)
			}
			now := tags(lists)
			for target, tag := range now {
				if seen[tag] {
					t.Errorf("change %d: %s has the tag %s as before", i, target, tag)
				}
			}
			for tag := range maps.Values(now) {
				seen[tag] = true
			}
		}
		for target, tag := range tags(append(items, lists...)) {
			if s.tag(target) != tag {
				t.Errorf("%s has another tag without a change", target)
			}
		}
	})
}

// TestIfMatch writes under conditions: those that hold, and those that do not,
// after which everything is as before.
func TestIfMatch(t *testing.T) {
	t.Parallel()
	bodies := map[string]string{"/api/books/1": hobbit, "/api/genres/1": `{"name":"a"}`, "/api/categories/1": `{"name":"a"}`}
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := serve(t, url, rest.Options{}).shelf()
		for target, body := range bodies {
			old := s.tag(target)
			for _, condition := range []string{"*", "TAG", `"x", TAG`, `TAG,"x"`, `"x","y" ,TAG`, "GZIP", "ZSTD"} {
				tag := s.tag(target)
				condition = strings.NewReplacer("TAG", tag, "GZIP", strings.TrimSuffix(tag, `"`)+`-gzip"`, "ZSTD", strings.TrimSuffix(tag, `"`)+`-zstd"`).Replace(condition)
				a := s.want(http.StatusOK, "PUT", target, body, "If-Match: "+condition)
				if now := s.tag(target); now == tag || a.header.Get("ETag") != now {
					t.Errorf("PUT %s answers the tag %s; before it was %s, now it is %s", target, a.header.Get("ETag"), tag, now)
				}
			}
			s.want(http.StatusOK, "PUT", target, body, `If-Match: "x"`, "If-Match: "+s.tag(target))
			s.want(http.StatusOK, "PUT", target, body, `If-None-Match: "x"`)

			tag := s.tag(target)
			for _, condition := range []header{
				"If-Match: " + old, "If-Match: W/" + tag, "If-Match: " + strings.Trim(tag, `"`), `If-Match: "x", W/` + tag, `If-Match: ""`, "If-Match: ,",
				"If-None-Match: *", "If-None-Match: " + tag, "If-None-Match: W/" + tag,
			} {
				for _, method := range []string{"PUT", "DELETE"} {
					body := map[string]string{"PUT": body}[method]
					if a := s.call(method, target+"?cascade=true", body, condition); a.status != http.StatusPreconditionFailed {
						t.Errorf("%s %s, %s: %d %s", method, target, condition, a.status, a.body)
					}
				}
			}
			if now := s.tag(target); now != tag {
				t.Errorf("%s: a write that was refused had its effect: %s, %s", target, tag, now)
			}
		}

		// The tag speaks of what is nested, too.
		tag := s.tag("/api/books/1")
		s.exec(`UPDATE categories SET name = 'other' WHERE id = 1`)
		s.want(http.StatusPreconditionFailed, "PUT", "/api/books/1", hobbit, "If-Match: "+tag)
		s.want(http.StatusPreconditionFailed, "DELETE", "/api/books/1", "", "If-Match: "+tag)
		s.want(http.StatusOK, "DELETE", "/api/books/1", "", "If-Match: "+s.tag("/api/books/1"))
		created := s.want(http.StatusCreated, "POST", "/api/books", hobbit)
		s.want(http.StatusOK, "PUT", created.header.Get("Location"), hobbit, "If-Match: "+created.header.Get("ETag"))
	})
}

// TestIfMatchAtOnce lets many change the same version of a book: one does.
func TestIfMatchAtOnce(t *testing.T) {
	onEach(t, func(t *testing.T, s *service) {
		tag := s.tag("/api/books/1")
		got := s.together(20, func(i int) int {
			return s.call("PUT", "/api/books/1", strings.Replace(hobbit, "310", fmt.Sprint(i+1), 1), "If-Match: "+tag).status
		})
		slices.Sort(got)
		want := slices.Concat([]int{http.StatusOK}, slices.Repeat([]int{http.StatusPreconditionFailed}, 19))
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestHead compares HEAD with GET: it is the same but for the body.
func TestHead(t *testing.T) {
	onEach(t, func(t *testing.T, s *service) {
		s.fill(2000)
		for _, target := range []string{
			"/api/books", "/api/genres", "/api/categories", "/api/books?per_page=3", "/api/books?per_page=1000&page=2", "/api/books/1", "/api/genres/1", "/api/categories/1",
			"/api/books/99999", "/api/books?per_page=0", "/api/authors",
		} {
			get, head := s.call("GET", target, ""), s.call("HEAD", target, "")
			for _, a := range []answer{get, head} {
				for _, volatile := range []string{"Date", "X-Request-Id", "Server-Timing"} {
					a.header.Del(volatile)
				}
			}
			if diff := gocmp.Diff(get.header, head.header); diff != "" || head.status != get.status {
				t.Errorf("%s: status %d and %d (-GET +HEAD):\n%s", target, get.status, head.status, diff)
			}
			if head.body != "" || get.body == "" {
				t.Errorf("%s: bodies of %d and %d bytes", target, len(get.body), len(head.body))
			}
		}
	})
}

// TestCompression asks for gzip and for zstd: what they decode to is what is
// sent without them.
func TestCompression(t *testing.T) {
	t.Parallel()
	decoders := map[string]func(io.Reader) (io.Reader, error){
		"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"zstd": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
	}
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := serve(t, url, rest.Options{}).shelf()
		s.fill(1500)
		for _, target := range []string{"/api/books", "/api/books?per_page=100"} {
			plain := s.want(http.StatusOK, "GET", target, "", "Accept-Encoding: identity")
			if plain.header.Get("Content-Encoding") != "" || plain.header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s: %v", target, plain.header)
			}
			for coding, decoder := range decoders {
				a := s.want(http.StatusOK, "GET", target, "", "Accept-Encoding: "+coding)
				if a.header.Get("Content-Encoding") != coding || a.header.Get("Vary") != "Accept-Encoding" || len(a.body) >= len(plain.body) {
					t.Errorf("%s: %d of %d bytes, %v", target, len(a.body), len(plain.body), a.header)
				}
				reader, err := decoder(strings.NewReader(a.body))
				if err != nil {
					t.Fatalf("%s: %v", target, err)
				}
				decoded, err := io.ReadAll(reader)
				if err != nil || !bytes.Equal(decoded, []byte(plain.body)) {
					t.Errorf("%s: %s decodes to %d bytes, want %d (%v)", target, coding, len(decoded), len(plain.body), err)
				}
				tag := a.header.Get("ETag")
				if want := strings.TrimSuffix(plain.header.Get("ETag"), `"`) + "-" + coding + `"`; tag != want {
					t.Errorf("%s: the tag is %s, want %s", target, tag, want)
				}
				again := s.want(http.StatusNotModified, "GET", target, "", "Accept-Encoding: "+coding, "If-None-Match: "+tag)
				if again.header.Get("ETag") != tag {
					t.Errorf("%s: the 304 names the tag %s, want %s", target, again.header.Get("ETag"), tag)
				}
			}
		}
	})
}

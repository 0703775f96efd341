package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/edge/admission"
	"library-catalogue/edge/pipeline"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/rest"
	"library-catalogue/server"
)

// ids gives the ids of a list.
func (a answer) ids(t *testing.T) (ids []string) {
	t.Helper()
	for _, r := range a.rows(t) {
		ids = append(ids, string(r["id"]))
	}
	return ids
}

var linkPattern = regexp.MustCompile(`^<(/api/[a-z]+\?[^<>" ]+)>; rel="(first|prev|next|last)"$`)

// links gives the targets of a Link header by their relations.
func (a answer) links(t *testing.T) map[string]string {
	t.Helper()
	links := map[string]string{}
	if a.header.Get("Link") == "" {
		return links
	}
	for link := range strings.SplitSeq(a.header.Get("Link"), ", ") {
		parts := linkPattern.FindStringSubmatch(link)
		if parts == nil || links[parts[2]] != "" {
			t.Fatalf("the link is %s", a.header.Get("Link"))
		}
		links[parts[2]] = parts[1]
	}
	return links
}

// TestWalk follows the links through a whole list, forwards and backwards, with
// rows added and deleted on the way.
func TestWalk(t *testing.T) {
	onEach(t, func(t *testing.T, s *service) {
		s.fill(23)
		whole := s.want(http.StatusOK, "GET", "/api/books", "").ids(t)
		for start, pages := range map[string]int{
			"per_page=1": 23, "per_page=5": 5, "per_page=23": 1, "per_page=24": 1, "per_page=1000": 1,
			"per_page=5&page=1": 5, "page=1": 2, "page=1&per_page=23": 1, "page=1&per_page=7&unknown=1&x=%26%3C%3E": 4,
		} {
			var walked []string
			target, last := "/api/books?"+start, ""
			for n := 1; target != ""; n++ {
				a := s.want(http.StatusOK, "GET", target, "")
				if got := a.header.Get("X-Total-Count"); got != "23" {
					t.Errorf("%s: X-Total-Count is %s", target, got)
				}
				walked = append(walked, a.ids(t)...)
				links := a.links(t)
				if (links["next"] == "") != (n == pages) || n > pages {
					t.Fatalf("%s: on page %d of %d the links are %v", start, n, pages, links)
				}
				target, last = links["next"], target
			}
			if diff := gocmp.Diff(whole, walked); diff != "" {
				t.Errorf("%s: (-whole +walked):\n%s", start, diff)
			}
			if !strings.Contains(start, "page=1&") && start != "page=1" {
				continue
			}
			var back []string
			for target = last; target != ""; {
				a := s.want(http.StatusOK, "GET", target, "")
				back = append(a.ids(t), back...)
				links := a.links(t)
				if !strings.Contains(links["first"], "page=1") || s.want(http.StatusOK, "GET", links["last"], "").body != s.want(http.StatusOK, "GET", last, "").body {
					t.Errorf("%s: the links are %v", target, links)
				}
				target = links["prev"]
			}
			if diff := gocmp.Diff(whole, back); diff != "" {
				t.Errorf("%s: (-whole +back):\n%s", start, diff)
			}
		}

		// By cursor nothing is given twice or passed over while others write.
		a := s.want(http.StatusOK, "GET", "/api/books?per_page=10", "")
		walked := a.ids(t)
		s.exec(`DELETE FROM books WHERE id IN (1, 2, 10, 11)`)
		s.fill(5)
		for next := a.links(t)["next"]; next != ""; next = a.links(t)["next"] {
			a = s.want(http.StatusOK, "GET", next, "")
			walked = append(walked, a.ids(t)...)
		}
		var want []string
		for id := 1; id <= 25; id++ {
			if id != 11 {
				want = append(want, fmt.Sprint(id))
			}
		}
		if diff := gocmp.Diff(want, walked); diff != "" {
			t.Errorf("(-want +walked):\n%s", diff)
		}
	})
}

// TestPages asks for pages at the edges, beyond them, and wrongly.
func TestPages(t *testing.T) {
	onEach(t, func(t *testing.T, s *service) {
		s.fill(25)
		cursor := s.want(http.StatusOK, "GET", "/api/books?per_page=24", "").links(t)["next"]
		after, err := url.Parse(cursor)
		must(t, err)
		genreCursor := s.want(http.StatusOK, "GET", "/api/genres?per_page=1", "").links(t)["next"]
		for query, want := range map[string]string{ // the ids, as a range
			"":                                 "1-25",
			"x=y":                              "1-25",
			"order=name&search=hobbit&limit=1": "1-25",
			"sort=name&q=hobbit&limit=1":       "1-1",
			"per_page=":                        "1-25",
			"page=&per_page=&after=":           "1-25",
			"Page=2&PER_PAGE=2":                "1-25",
			"page=1":                           "1-20",
			"page=2":                           "21-25",
			"per_page=20":                      "1-20",
			"per_page=1000":                    "1-25",
			"page=25&per_page=1":               "25-25",
			"page=26&per_page=1":               "",
			"page=1000000000&per_page=1000":    "",
			after.RawQuery:                     "25-25",
			"after=" + after.Query().Get("after") + "&per_page=1000": "25-25",
			"after=" + after.Query().Get("after"):                    "25-25",
		} {
			got := ""
			if ids := s.want(http.StatusOK, "GET", "/api/books?"+query, "").ids(t); len(ids) > 0 {
				got = ids[0] + "-" + ids[len(ids)-1]
			}
			if got != want {
				t.Errorf("?%s gives %s, want %s", query, got, want)
			}
		}
		if a := s.want(http.StatusOK, "GET", "/api/books", ""); a.header.Get("Link") != "" || a.header.Get("X-Total-Count") != "" {
			t.Errorf("the whole list has %v", a.header)
		}
		if a := s.want(http.StatusOK, "GET", "/api/books?page=3", ""); !strings.HasSuffix(a.body, `"data":[]}`) {
			t.Errorf("an empty page is %s", a.body)
		}

		const perPage, page, cursorSays = "The per page field must be an integer between 1 and 1000.", "The page field must be an integer between 1 and 1000000000.", "The after argument must be a cursor that this list gave."
		for query, want := range map[string]refusal{
			"per_page=0":                    {"per_page", perPage},
			"per_page=1001":                 {"per_page", perPage},
			"per_page=-1":                   {"per_page", perPage},
			"per_page=1.5":                  {"per_page", perPage},
			"per_page=ten":                  {"per_page", perPage},
			"per_page=99999999999999999999": {"per_page", perPage},
			"per_page=%20":                  {"per_page", perPage},
			"page=0":                        {"page", page},
			"page=-1":                       {"page", page},
			"page=1000000001":               {"page", page},
			"page=one":                      {"page", page},
			"after=x":                       {"after", cursorSays},
			"after=" + after.Query().Get("after") + "A": {"after", cursorSays},
			"after=%FF":                            {"after", cursorSays},
			"after=25":                             {"after", cursorSays},
			strings.SplitN(genreCursor, "?", 2)[1]: {"after", cursorSays},
			"page=1&" + after.RawQuery:             {"after", "The after field must not be given together with page."},
		} {
			a := s.want(http.StatusUnprocessableEntity, "GET", "/api/books?"+query, "")
			if got := refusalOf(t, a); got != want {
				t.Errorf("?%s: %v, want %v", query, got, want)
			}
			if a.header.Get("ETag") != "" || a.header.Get("Link") != "" {
				t.Errorf("?%s: %v", query, a.header)
			}
		}
	})
}

// TestEmptyLists asks an empty catalogue.
func TestEmptyLists(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := serve(t, url, rest.Options{})
		for name, plural := range map[string]string{"books": "Books", "genres": "Genres", "categories": "Categories"} {
			want := `{"success":true,"message":"` + plural + ` retrieved successfully","data":[]}`
			for _, query := range []string{"", "?per_page=5", "?page=1", "?page=7"} {
				a := s.want(http.StatusOK, "GET", "/api/"+name+query, "")
				if a.body != want {
					t.Errorf("%s%s: %s", name, query, a.body)
				}
				if query != "" && (a.header.Get("X-Total-Count") != "0" || a.links(t)["next"] != "") {
					t.Errorf("%s%s: %v", name, query, a.header)
				}
			}
		}
	})
}

// readTwice runs what is to be read consistently twice, with change between.
type readTwice struct {
	*resolvers.Resolver
	change func()
}

func (c readTwice) Read(ctx context.Context, known model.Revision, replicas model.Replicas, fn func(context.Context) (bool, error)) (int64, error) {
	_, _ = c.Resolver.Read(ctx, known, replicas, fn)
	c.change()
	at, err := c.Revision(ctx)
	if err != nil {
		return -1, err
	}
	return c.Resolver.Read(ctx, at, replicas, fn)
}

// statusCounter counts how often a status is written.
type statusCounter struct {
	*httptest.ResponseRecorder
	written int
}

func (w *statusCounter) WriteHeader(status int) {
	w.written++
	w.ResponseRecorder.WriteHeader(status)
}

// TestReadTwice changes the catalogue while a page is read, so that it is read again: the
// response is that of the last reading.
func TestReadTwice(t *testing.T) {
	onEach(t, func(t *testing.T, s *service) {
		for _, target := range []string{"/api/books?per_page=1", "/api/books/1"} {
			get := func(tag string, change func()) *statusCounter {
				w := &statusCounter{ResponseRecorder: httptest.NewRecorder()}
				r := httptest.NewRequestWithContext(s.Context(), "GET", target, nil)
				r.Header.Set("If-None-Match", tag)
				catalogue := readTwice{resolvers.New(s.store), change}
				operations := &pipeline.Pipeline{Catalogue: catalogue, Admission: admission.New(4), Timeout: time.Minute}
				rest.New(catalogue, rest.Options{Pipeline: operations}).ServeHTTP(w, r)
				return w
			}
			tag := s.tag(target)
			w := get(tag, func() {})
			if w.Code != http.StatusNotModified || w.written != 1 || w.Body.Len() > 0 {
				t.Errorf("%s, unchanged: status %d, written %d times: %v %s", target, w.Code, w.written, w.Header(), w.Body)
			}
			if strings.Contains(target, "?") {
				tag = `"another"` // that of a list is looked at before it is read
			}
			w = get(tag, func() { s.exec(`UPDATE books SET pages = pages + 1 WHERE id = 1`) })
			if w.Code != http.StatusOK || w.written != 1 || w.Body.Len() == 0 || w.Header().Get("ETag") != s.tag(target) {
				t.Errorf("%s, changed: status %d, written %d times: %v %s", target, w.Code, w.written, w.Header(), w.Body)
			}
		}
	})
}

// TestSlowPages lets clients read pages slowly, more than there are connections
// to the database: none waits for another.
func TestSlowPages(t *testing.T) {
	t.Parallel()
	longList.Each(t, func(t *testing.T, url string) {
		s := serveLong(t, url, server.Config{Timeout: 20 * time.Second})
		for range 20 {
			if client := s.readSlowly("/api/books?per_page=1000"); client.StatusCode != http.StatusOK {
				t.Fatal(client.Status)
			}
		}
	})
}

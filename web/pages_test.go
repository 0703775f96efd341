package web_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/edge/ratelimit"
	"library-catalogue/graph/model"
	"library-catalogue/server"
	"library-catalogue/server/graphqlhttp"
	"library-catalogue/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

var links = regexp.MustCompile(`(?:href|src|"search" action|form class="[^"]*" action)="(/[^"#]*)`)

// TestPages opens the pages and all that they lead to in turn, on both engines: each
// is there, loads nothing from elsewhere and has no script or style within.
func TestPages(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		fillShelf(t, c)
		queue := []string{"/", "/?q=stars", "/?genre=1&from=1950&sort=price", "/genres", "/books/1/edit", "/robots.txt", "/favicon.ico"}
		seen := map[string]bool{}
		for len(queue) > 0 && len(seen) < 300 {
			target := html.UnescapeString(queue[0])
			queue = queue[1:]
			if seen[target] {
				continue
			}
			seen[target] = true
			w := c.Do(http.MethodGet, target, "", "Accept: text/html")
			if location := w.Header().Get("Location"); w.Code == http.StatusFound || w.Code == http.StatusSeeOther {
				queue = append(queue, location)
				continue
			}
			if w.Code != http.StatusOK {
				t.Errorf("%s: status %d: %.200s", target, w.Code, w.Body)
			}
			if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") || strings.HasPrefix(target, "/api/docs") {
				continue
			}
			page := strings.ReplaceAll(w.Body.String(), `"@context":"https://schema.org"`, "")
			if policy := w.Header().Get("Content-Security-Policy"); !strings.Contains(policy, "default-src 'none'; script-src 'self'; style-src 'self'") || !strings.Contains(policy, "frame-ancestors 'none'") || strings.Contains(policy, "eval") {
				t.Errorf("%s: policy %q", target, policy)
			}
			for _, never := range []string{" style=", " onclick=", "<style", "<script>", "https://", "ZgotmplZ", "<b>bold</b>"} {
				if strings.Contains(page, never) {
					t.Errorf("%s has %q", target, never)
				}
			}
			for _, link := range links.FindAllStringSubmatch(page, -1) {
				queue = append(queue, link[1])
			}
		}
		for _, target := range []string{"/books/1", "/genres", "/books/new", "/developers", "/playground", "/api/docs"} {
			if !seen[target] {
				t.Errorf("nothing leads to %s", target)
			}
		}
	})
}

// TestPageOfOneRequest wants a page to be drawn from its GraphQL request, and its
// one address to be found.
func TestPageOfOneRequest(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	fillShelf(t, c)
	page := func(target string) string { return c.Do(http.MethodGet, target, "").Body.String() }
	for target, want := range map[string][]string{
		"/":                                {"<h1>3 books</h1>", "Newest first", "&lt;b&gt;bold&lt;/b&gt;"},
		"/?q=star":                         {"1 book for “star”", "The <mark>Stars</mark> My Destination"},
		"/?q=starz":                        {"No book has “starz”. Showing results for <strong>“stars”</strong>", "The <mark>Stars</mark> My Destination"},
		"/?q=star&genre=2":                 {"Nothing found for “star”", `href="/?q=star">Without Genre: Poems</a> <span class="soft">1 book<`, `href="/?genre=2">Without the search “star”</a> <span class="soft">1 book<`, `href="/">All books</a> <span class="soft">3 books<`},
		"/?q=star&genre=2&from=1":          {`href="/?genre=2&amp;from=1">Without the search “star”`, `href="/?q=star&amp;from=1">Without Genre`},
		"/?from=2010&to=1990":              {"Nothing found", "2010 is after 1990", `href="/">Without Published: 2010 to 1990</a>`},
		"/?price_min=5.5&price_max=3":      {"Nothing found", "the price 5.5 is above 3"},
		"/?genre=9":                        {"Nothing found", "There is no genre 9."},
		"/?category=9&genre=1":             {"Nothing found", "There is no category 9."},
		"/?genre=x":                        {"<h1>3 books</h1>", "“x” is not the id of a genre"},
		"/?category=-1":                    {"<h1>3 books</h1>", "“-1” is not the id of a category"},
		"/?sort=colour":                    {"<h1>3 books</h1>", "“colour” is not an order"},
		"/?autor=Bester":                   {"<h1>3 books</h1>", "The list has no filter “autor”"},
		"/?from=1950&to=1959":              {"<h1>1 book</h1>", "1950 to 1959"},
		"/?from=190x":                      {"<h1>3 books</h1>", "“190x” is not a year"},
		"/?from=%2B5":                      {"<h1>3 books</h1>", "“&#43;5” is not a year"},
		"/?to=000001984":                   {"<h1>3 books</h1>", "“000001984” is not a year"},
		"/?since=2100-01-01T00%3A00%3A00Z": {"Nothing found", "Changed since", "2100-01-01 00:00 UTC"},
		"/?since=2000-01-01T00%3A00%3A00Z": {"<h1>3 books</h1>", "Changed since"},
		"/?since=yesterday":                {"<h1>3 books</h1>", "“yesterday” is not a time"},
		"/?price_min=0x1p4":                {"<h1>3 books</h1>", "“0x1p4” is not a price"},
		"/?price_max=1_0":                  {"<h1>3 books</h1>", "“1_0” is not a price"},
		"/?price_max=-1":                   {"<h1>3 books</h1>", "“-1” is not a price"},
		"/?price_max=1e9":                  {"<h1>3 books</h1>", "“1e9” is not a price"},
		"/?price_max=5&sort=name":          {"<h1>1 book</h1>", "up to 5"},
		"/books/1":                         {"The Stars My Destination", "<dd>1956</dd>", "Space"},
		"/books/1/edit":                    {`value="The Stars My Destination"`, `data-version="1"`, `value="1956"`},
		"/genres":                          {"3 books in 2 categories", "Poems"},
		"/books/999":                       {"There is no book 999."},
		"/books/x":                         {"There is no book x."},
		"/nothing":                         {"There is no page at this address."},
		"/?genre=2&after=broken":           {"<h1>1 book</h1>", "This address has an invalid position"},
		"/?find_genre=poe":                 {`value="poe"`, `id="genre-2"`},
		"/?find_author=bes":                {`value="bes"`, `id="author-Alfred Bester"`},
		"/?find_author=none":               {`value="none"`, "None found."},
		"/?author=Alfred+Bester":           {"<h1>1 book</h1>"},
		"/?category=1&sort=year":           {"<h1>2 books</h1>"},
	} {
		got := page(target)
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("%s has no %q:\n%.3000s", target, text, got)
			}
		}
	}
	var read struct {
		Values   map[string]string
		Problems map[string]model.Parts
	}
	w := c.Do(http.MethodGet, "/books/values?publishedAt=1.1.1957&pages=127+S.&price=1.250&x=y", "", "Authorization:")
	servertest.Must(t, json.Unmarshal(w.Body.Bytes(), &read))
	if diff := cmp.Diff(map[string]string{"publishedAt": "1957", "pages": "127"}, read.Values); diff != "" || len(read.Problems) != 1 || w.Header().Get("Cache-Control") != "no-store" {
		t.Errorf("%s %v %v", diff, read.Problems, w.Header())
	}
	for query, want := range map[string]string{
		"author=Ende,+Michael":                    `[] [{One person: Michael Ende Michael Ende} {Two persons: Ende; Michael Ende; Michael}]`,
		"author=King,+Martin+Luther,+Jr.":         `[] [{Write “Martin Luther King Jr.” Martin Luther King Jr.}]`,
		"author=Ann+One,+Bob+Two":                 `[] []`,
		"author=Kurt+Vonnegut,+Jr.":               `[] []`,
		"isbn=12&pages=0&language=qq+qq&price=x":  `[isbn language pages price] []`,
		"isbn=9780439023481&pages=12&language=en": `[] []`,
	} {
		var read struct {
			Problems map[string]model.Parts
			Offers   []struct{ Label, Value string }
		}
		servertest.Must(t, json.Unmarshal(c.Do(http.MethodGet, "/books/values?"+query, "", "Authorization:").Body.Bytes(), &read))
		if got := fmt.Sprint(slices.Sorted(maps.Keys(read.Problems)), read.Offers); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	for from, to := range map[string]string{
		"/?from=&to=&q=+stars++":                  "/?q=stars",
		"/?sort=added&dir=desc":                   "/",
		"/?genre=2&category=1&at=5":               "/?category=1&genre=2",
		"/?sort=price&since=2000-01-01T00:00:00Z": "/?since=2000-01-01T00%3A00%3A00Z&sort=price",
		"/?sort=price&dir=asc&price_min=1,5":      "/?price_min=1.5&sort=price",
		"/graphql":                                "/playground",
		"/api/":                                   "/api/docs",
	} {
		if w := c.Do(http.MethodGet, from, "", "Accept: text/html"); w.Code/100 != 3 || w.Header().Get("Location") != to {
			t.Errorf("%s: status %d to %q, want %q", from, w.Code, w.Header().Get("Location"), to)
		}
	}
}

// TestWaysOut looks for nothing: charts without bars and values that do not match are not there.
func TestWaysOut(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	fillShelf(t, c)
	for target, charts := range map[string]int{"/": 2, "/?q=star&genre=2": 0, "/?from=2010&to=1990": 1} {
		if got := strings.Count(c.Do(http.MethodGet, target, "").Body.String(), `<svg class="chart"`); got != charts {
			t.Errorf("%s has %d charts, want %d", target, got, charts)
		}
	}
	page := c.Do(http.MethodGet, "/?find_author=bes", "").Body.String()
	if strings.Contains(page, `id="author-Walt Whitman"`) {
		t.Error("authors that do not match are offered")
	}
	page = c.Do(http.MethodGet, "/?q=star&genre=2", "").Body.String()
	if ways, rows := strings.Index(page, "ways-out"), strings.Index(page, `class="columns"`); ways < 0 || ways > rows {
		t.Error("the ways out do not stand above the list")
	}
}

// TestRange turns the pages of a list forward and back: each says where it is. A position in the URL that cannot be is
// not shown.
func TestRange(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	fillShelf(t, c)
	for range 82 {
		create(t, c, "/api/books", `{"name": "Again", "author": "Anon", "pages": 9, "published_at": "1956-01-01", "price": 1, "genre_id": 1}`)
	}
	at := "/"
	var page string
	turn := func(rel, want string) {
		t.Helper()
		if rel != "" {
			link := regexp.MustCompile(`rel="` + rel + `" href="([^"]*)"`).FindStringSubmatch(page)
			if link == nil {
				t.Fatalf("%s has no link %s", at, rel)
			}
			at = html.UnescapeString(link[1])
		}
		page = c.Do(http.MethodGet, at, "").Body.String()
		if !strings.Contains(page, `<span class="soft">`+want+`</span>`) {
			t.Errorf("%s does not say %q", at, want)
		}
	}
	turn("", "1–30 of 85")
	turn("next", "31–60 of 85")
	for _, position := range []string{"", "at=0", "at=80", "at=-5", "at=x"} {
		if page := c.Do(http.MethodGet, strings.Replace(at, "at=31", position, 1), "").Body.String(); strings.Contains(page, " of 85") {
			t.Errorf("%q is shown", position)
		}
	}
	turn("next", "61–85 of 85")
	turn("prev", "31–60 of 85")
	turn("prev", "1–30 of 85")
}

// TestPageAsCSV follows the link to a list as CSV, which has the books of the page in its
// order.
func TestPageAsCSV(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	fillShelf(t, c)
	shown := regexp.MustCompile(`<h2 dir="auto"><a href="/books/\d+" id="b\d+">(.*?)</a></h2>`)
	for target, books := range map[string]int{
		"/": 3, "/?sort=name": 3, "/?sort=name&dir=desc": 3, "/?q=star": 1, "/?q=starz": 1, "/?from=1950&to=1959": 1, "/?price_max=5&sort=price": 1, "/?category=1&sort=year": 2,
		"/?genre=1&genre=2&sort=genre": 3, "/?author=Alfred+Bester": 1, "/?author=Alfred+Bester&author=x": -1, "/?q=star&genre=2": -1,
	} {
		page := c.Do(http.MethodGet, target, "").Body.String()
		link := regexp.MustCompile(`<a href="([^"]*)">CSV</a>`).FindStringSubmatch(page)
		if books < 0 {
			if link != nil {
				t.Errorf("%s leads to %s", target, link[1])
			}
			continue
		}
		if link == nil {
			t.Errorf("%s leads to no CSV", target)
			continue
		}
		w := c.Do(http.MethodGet, html.UnescapeString(link[1]), "", "Accept: text/html")
		records, err := csv.NewReader(w.Body).ReadAll()
		var names, want []string
		for _, record := range records[min(1, len(records)):] {
			names = append(names, record[0])
		}
		for _, match := range shown.FindAllStringSubmatch(page, -1) {
			want = append(want, html.UnescapeString(strings.NewReplacer("<mark>", "", "</mark>", "").Replace(match[1])))
		}
		if err != nil || len(want) != books || !slices.Equal(names, want) || w.Header().Get("Content-Disposition") == "" {
			t.Errorf("%s: the page has %q, %s has %q, %v", target, want, link[1], names, err)
		}
	}
}

// TestCorrectionOnThePage mistypes what may stand for three words: the two that most books
// have are named.
func TestCorrectionOnThePage(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	fillShelf(t, c)
	for _, name := range []string{"The Stare", "A Start", "False Starts; a Start"} {
		create(t, c, "/api/books", `{"name": "`+name+`", "author": "Anon", "pages": 9, "published_at": "1956-01-01", "price": 1, "genre_id": 1}`)
	}
	if page := c.Do(http.MethodGet, "/?q=starz", "").Body.String(); !strings.Contains(page, "“start or stare”") {
		t.Errorf("%.3000s", page)
	}
}

// TestPagesAreCheap asks for each page twice, from as few requests as a hundred.
func TestPagesAreCheap(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/", "/?q=star&sort=price", "/?q=star&genre=1&genre=2&from=2000&price_min=90", "/?find_author=a", "/books/1", "/books/1/edit", "/books/new", "/genres"} {
		c := servertest.ServeWith(t, func(cfg *server.Config) { cfg.Rate = ratelimit.Rate{PerSecond: 1.0 / (1 << 20), Burst: 100} })
		for range 2 {
			if w := c.Do(http.MethodGet, target, ""); w.Code == http.StatusTooManyRequests {
				t.Errorf("%s: status %d", target, w.Code)
			}
		}
	}
}

// TestPagesWithTrustedDocuments reads pages of a server that answers only the documents of a manifest.
func TestPagesWithTrustedDocuments(t *testing.T) {
	t.Parallel()
	c := servertest.ServeWith(t, func(cfg *server.Config) {
		cfg.GraphQL.Trusted = graphqlhttp.TrustedDocuments{"one": "{ books { totalCount } }"}
	})
	for target, want := range map[string]int{"/": http.StatusOK, "/genres": http.StatusOK, "/books/new": http.StatusOK, "/books/1": http.StatusNotFound} {
		if w := c.Do(http.MethodGet, target, ""); w.Code != want {
			t.Errorf("%s: status %d: %s", target, w.Code, w.Body)
		}
	}
}

// TestNoPages switches the pages off, and asks for JSON where they are on.
func TestNoPages(t *testing.T) {
	t.Parallel()
	off := servertest.ServeWith(t, func(cfg *server.Config) { cfg.NoPages = true })
	on := servertest.ServeWith(t, func(*server.Config) {})
	for _, w := range []*http.Response{
		off.Do(http.MethodGet, "/", "", "Accept: text/html").Result(),
		on.Do(http.MethodGet, "/", "", "Accept: application/json").Result(),
	} {
		var links map[string]any
		if err := json.NewDecoder(w.Body).Decode(&links); err != nil || links["graphql"] != "/graphql" || w.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%v, %v: %v", w.Status, err, links)
		}
	}
	for _, target := range []string{"/genres", "/books/1"} {
		if w := off.Do(http.MethodGet, target, ""); w.Code != http.StatusNotFound {
			t.Errorf("%s: status %d", target, w.Code)
		}
	}
	for _, target := range []string{"/playground", "/api/docs"} {
		if w := off.Do(http.MethodGet, target, ""); w.Code != http.StatusOK {
			t.Errorf("%s: status %d", target, w.Code)
		}
	}
}

// TestPagesInTheCache asks again and again: what depends on more than the address is
// not answered from the cache.
func TestPagesInTheCache(t *testing.T) {
	t.Parallel()
	c := servertest.ServeWith(t, func(cfg *server.Config) { cfg.CacheBytes = 1 << 20 })
	for range 4 {
		if w := c.Do(http.MethodGet, "/", "", "Accept: application/json"); w.Header().Get("Content-Type") != "application/json" {
			t.Errorf("JSON: %v", w.Header())
		}
		if w := c.Do(http.MethodGet, "/", "", "Accept: text/html"); !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			t.Errorf("a page: %v", w.Header())
		}
		for host, want := range map[string]string{"one.example": "one.example", "[::1]:80": "[::1]:80", "a;reboot": "localhost", "$(reboot)": "localhost"} {
			r := httptest.NewRequest(http.MethodGet, "/developers", nil)
			r.Host = host
			w := httptest.NewRecorder()
			c.Handler.ServeHTTP(w, r)
			if !strings.Contains(w.Body.String(), "http://"+want+"/graphql") || w.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%s is answered with another's host, or may be cached: %v", host, w.Header())
			}
		}
	}
}

// TestFailureIsAPage makes requests fail before and within a page. A browser gets a page with a status, a reason and a
// link to try again; other clients get JSON from the middleware.
func TestFailureIsAPage(t *testing.T) {
	t.Parallel()
	const browser = "Accept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"
	away := func(bytes int) *servertest.Client {
		return servertest.ServeWith(t, func(cfg *server.Config) { cfg.CacheBytes, cfg.Catalogue = bytes, unavailable{cfg.Catalogue} })
	}
	limited := servertest.ServeWith(t, func(cfg *server.Config) { cfg.Rate = ratelimit.Rate{PerSecond: 1.0 / (1 << 20), Burst: 1} })
	limited.Do(http.MethodGet, "/developers", "")
	cheap := servertest.ServeWith(t, func(cfg *server.Config) { cfg.Rate = ratelimit.Rate{PerSecond: 1.0 / (1 << 20), Burst: 2} })
	cheap.Do(http.MethodGet, "/developers", "") // one unit remains, and the query of a list needs more
	for name, tt := range map[string]struct {
		c            *servertest.Client
		target       string
		status       int
		title, words string
	}{
		"database":            {away(0), "/?q=a&from=1950", http.StatusServiceUnavailable, "temporarily unavailable", "did not answer"},
		"database, cache":     {away(1 << 20), "/books/1", http.StatusServiceUnavailable, "temporarily unavailable", "did not answer"},
		"deadline":            {servertest.ServeWith(t, func(cfg *server.Config) { cfg.Timeout = 1 }), "/genres", http.StatusServiceUnavailable, "temporarily unavailable", "Try again"},
		"rate":                {limited, "/", http.StatusTooManyRequests, "Too many requests", "Try again in 1048"},
		"rate, no such page":  {limited, "/nothing", http.StatusTooManyRequests, "Too many requests", "Try again in"},
		"rate of the query":   {cheap, "/", http.StatusTooManyRequests, "Too many requests", "Try again in 2097"},
		"rate, the reference": {limited, "/api/docs", http.StatusTooManyRequests, "Too many requests", "Try again in"},
	} {
		w := tt.c.Do(http.MethodGet, tt.target, "", browser)
		page := w.Body.String()
		if w.Code != tt.status || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") || w.Header().Get("Retry-After") == "" {
			t.Errorf("%s: status %d, %v", name, w.Code, w.Header())
		}
		for _, text := range []string{"<h1>", tt.title, tt.words, `href="` + html.EscapeString(tt.target) + `">Try again</a>`} {
			if !strings.Contains(page, text) {
				t.Errorf("%s: the page has no %q:\n%s", name, text, page)
			}
		}
	}
	if w := limited.Do(http.MethodGet, "//evil.example/x", "", browser); !strings.Contains(w.Body.String(), `href="/evil.example/x">Try again</a>`) {
		t.Errorf("trying again leads to another site:\n%s", w.Body)
	}
	if w := limited.Do(http.MethodGet, "/", "", "Accept: */*"); w.Code != http.StatusTooManyRequests || !strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		t.Errorf("a program gets status %d, %v", w.Code, w.Header())
	}
	if w := limited.Do(http.MethodGet, "/api/books", "", browser); !strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") {
		t.Errorf("/api answers a browser with %v", w.Header())
	}
}

// TestHistoryIsGone asks for a part of a history that the log does not keep.
func TestHistoryIsGone(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	fillShelf(t, c)
	w := c.Do(http.MethodGet, "/books/1/history?after=1.2", "", "Accept: text/html")
	if w.Code != http.StatusGone || !strings.Contains(w.Body.String(), "does not keep") {
		t.Errorf("status %d:\n%s", w.Code, w.Body)
	}
}

// unavailable is a catalogue without a database.
type unavailable struct{ server.Catalogue }

var errAway = model.Errorf(model.Unavailable, "The database did not answer. Try again in a moment.")

func (unavailable) Revision(context.Context) (model.Revision, error) {
	return model.Revision{}, errAway
}

func (unavailable) Read(context.Context, model.Revision, model.Replicas, func(context.Context) (bool, error)) (int64, error) {
	return -1, errAway
}

func fillShelf(t *testing.T, c *servertest.Client) {
	t.Helper()
	for _, category := range []string{"Fiction", "Verse"} {
		create(t, c, "/api/categories", `{"name": "`+category+`"}`)
	}
	create(t, c, "/api/genres", `{"name": "Space", "category_id": 1}`)
	create(t, c, "/api/genres", `{"name": "Poems", "category_id": 2}`)
	create(t, c, "/api/books", `{"name": "The Stars My Destination", "author": "Alfred Bester", "pages": 258, "published_at": "1956-01-01", "price": 9.5, "genre_id": 1}`)
	create(t, c, "/api/books", `{"name": "<b>bold</b> & \"quoted\"", "author": "村上龍, O'Neil", "pages": 90, "published_at": "0900-12-31", "price": 2, "genre_id": 1}`)
	create(t, c, "/api/books", `{"name": "Leaves", "author": "Walt Whitman", "pages": 700, "published_at": "1855-07-04", "price": 100, "genre_id": 2}`)
}

func create(t *testing.T, c *servertest.Client, target, body string) {
	t.Helper()
	if w := c.Do(http.MethodPost, target, body); w.Code != http.StatusCreated {
		t.Fatalf("%s: status %d: %s", target, w.Code, w.Body)
	}
}

// TestAssets wants the files of the pages to be kept by browsers for as long as their
// address is the same, compressed, and found at the address of another version.
func TestAssets(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	script := regexp.MustCompile(`/assets/\w+/page\.js`).FindString(c.Do(http.MethodGet, "/genres", "").Body.String())
	plain := c.Do(http.MethodGet, script, "")
	if caching := plain.Header().Get("Cache-Control"); plain.Code != http.StatusOK || !strings.Contains(caching, "immutable") {
		t.Errorf("%s: status %d, Cache-Control %q", script, plain.Code, caching)
	}
	packed := c.Do(http.MethodGet, script, "", "Accept-Encoding: gzip")
	if coding := packed.Header().Get("Content-Encoding"); coding != "gzip" || packed.Body.Len() >= plain.Body.Len() {
		t.Errorf("%d bytes by %q, and %d plain", packed.Body.Len(), coding, plain.Body.Len())
	}
	if again := c.Do(http.MethodGet, script, "", "If-None-Match: "+plain.Header().Get("ETag")); again.Code != http.StatusNotModified {
		t.Errorf("what the browser has is status %d", again.Code)
	}
	if old := c.Do(http.MethodGet, "/assets/000000000000/page.js", ""); old.Code != http.StatusFound || old.Header().Get("Location") != script {
		t.Errorf("of another version: status %d, %q", old.Code, old.Header().Get("Location"))
	}
	if none := c.Do(http.MethodGet, "/assets/000000000000/none.js", ""); none.Code != http.StatusNotFound {
		t.Errorf("no such file: status %d", none.Code)
	}
}

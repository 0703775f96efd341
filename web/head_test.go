package web_test

import (
	"encoding/json"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model/citation"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
	"library-catalogue/web/language"
)

var (
	linkedData = regexp.MustCompile(`<script type="application/ld\+json">(.*?)</script>`)
	openURL    = regexp.MustCompile(`<span class="Z3988" title="([^"]*)"`)
	described  = regexp.MustCompile(`<(?:meta (?:name|property)|link rel)="([^"]*)"[^>]* (?:content|href)="([^"]*)"`)
)

// TestHead reads the page of a book as search engines and reference managers do, with and without a public URL.
func TestHead(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	fillShelf(t, c)
	create(t, c, "/api/books", `{"name": "</script><b>&amp; \"日本\" + 1%", "description": "<!-- é", "author": "Ludwig van Beethoven, Disney Book Group", "pages": 9, "published_at": "0900-12-31", "price": 1, "genre_id": 1}`)
	const name = `</script><b>&amp; "日本" + 1%`
	for _, publicURL := range []string{"", "https://books.example"} {
		c.Reconfigure(t, server.Config{PublicURL: publicURL, CacheBytes: 1 << 20})
		request := httptest.NewRequest(http.MethodGet, "/books/4", nil)
		request.Host = "evil.example"
		w := httptest.NewRecorder()
		c.Handler.ServeHTTP(w, request)
		if examples := c.Do(http.MethodGet, "/developers", "").Body.String(); publicURL != "" && !strings.Contains(examples, publicURL+"/graphql") {
			t.Errorf("%s", examples)
		}
		page := w.Body.String()
		if strings.Contains(page, "evil.example") || strings.Count(page, "</script>") != 2 || !strings.Contains(page, "</head>") {
			t.Errorf("%s", page)
		}
		var data map[string]any
		if err := json.Unmarshal([]byte(linkedData.FindStringSubmatch(page)[1]), &data); err != nil {
			t.Fatal(err, page)
		}
		want := map[string]any{
			"@context": "https://schema.org", "@type": "Book", "name": name, "description": "<!-- é", "datePublished": "0900-12-31", "numberOfPages": 9.0, "genre": "Space",
			"author": []any{
				map[string]any{"@type": "Person", "name": "Ludwig van Beethoven"}, map[string]any{"@type": "Organization", "name": "Disney Book Group"},
			},
		}
		head := map[string][]string{
			"canonical": {publicURL + "/books/4"}, "alternate": {"/api/books/4.bib", "/api/books/4.ris", "/api/books/4.csl.json", "/api/books/4.marcxml"},
			"og:type": {"book"}, "og:title": {name}, "og:site_name": {"Library Catalogue"}, "og:description": {"<!-- é"}, "book:release_date": {"0900-12-31"},
			"citation_title": {name}, "citation_author": {"van Beethoven, Ludwig", "Disney Book Group"}, "citation_publication_date": {"0900/12/31"},
		}
		if publicURL != "" {
			want["url"] = "https://books.example/books/4"
			head["og:url"] = []string{"https://books.example/books/4"}
			in := []string{"https://books.example/books/4"} // x-default
			for _, l := range language.All() {
				in = append(in, "https://books.example/books/4?lang="+l.Tag)
			}
			head["alternate"] = append(in, head["alternate"]...)
		}
		if !reflect.DeepEqual(data, want) {
			t.Errorf("%v, want %v", data, want)
		}
		got := map[string][]string{}
		for _, match := range described.FindAllStringSubmatch(page, -1) {
			if key := match[1]; head[key] != nil || strings.Contains(key, ":") {
				got[key] = append(got[key], html.UnescapeString(match[2]))
			}
		}
		if !reflect.DeepEqual(got, head) {
			t.Errorf("%v, want %v", got, head)
		}
		span := html.UnescapeString(openURL.FindStringSubmatch(page)[1])
		values, err := url.ParseQuery(span)
		if err != nil || strings.Contains(span, "+") || values.Get("rft.btitle") != name || !reflect.DeepEqual(values["rft.au"], head["citation_author"]) || values.Get("rft.date") != "0900-12-31" {
			t.Errorf("%s, %v", span, err)
		}
	}
}

// TestAuthorsOfThePage reads an inverted name and years in all places of a page.
func TestAuthorsOfThePage(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	fillShelf(t, c)
	create(t, c, "/api/books", `{"name": "A", "author": "Tolkien, J. R. R. (John Ronald Reuel), 1892-1973; Doe, Jane", "pages": 9, "published_at": "1937-09-21", "price": 1, "genre_id": 1}`)
	year := c.Do(http.MethodGet, "/books/1", "", "Accept: text/html").Body.String()
	for _, want := range []string{`release_date" content="1956"`, `publication_date" content="1956"`, `"datePublished":"1956"`, "rft.date=1956&amp;"} {
		if !strings.Contains(year, want) {
			t.Errorf("the page of a year has no %s", want)
		}
	}
	page := html.UnescapeString(c.Do(http.MethodGet, "/books/4", "", "Accept: text/html").Body.String())
	for _, want := range []string{
		`<meta name="citation_author" content="Tolkien, J. R. R.">`, `<meta name="citation_author" content="Doe, Jane">`,
		`"author":[{"@type":"Person","name":"J. R. R. Tolkien"},{"@type":"Person","name":"Jane Doe"}]`,
		"rft.au=Tolkien%2C%20J.%20R.%20R.&rft.au=Doe%2C%20Jane",
		`>J. R. R. Tolkien</a>, <a href="/?q=Jane+Doe">Jane Doe</a></p>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("%s is missing in %s", want, page)
		}
	}
}

// TestCitationsOfThePage requests the page of a book as a citation, also from the cache.
func TestCitationsOfThePage(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	fillShelf(t, c)
	c.Reconfigure(t, server.Config{CacheBytes: 1 << 20})
	for range 3 {
		for _, f := range citation.Formats {
			for target, accept := range map[string]string{"/books/1" + f.Suffix: "text/html", "/books/1": f.MediaType()} {
				w := c.Do(http.MethodGet, target, "", "Accept: "+accept)
				if location := w.Header().Get("Location"); w.Code != http.StatusSeeOther || location != "/api/books/1"+f.Suffix {
					t.Errorf("%s: status %d to %s", target, w.Code, location)
				}
			}
		}
		w := c.Do(http.MethodGet, "/books/1", "", "Accept: text/html,*/*")
		if page := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(strings.Join(w.Header().Values("Vary"), ","), "Accept") ||
			!strings.Contains(page, `<a href="/api/books/1.bib">BibTeX</a>`) {
			t.Errorf("status %d: %s", w.Code, page)
		}
	}
	for _, target := range []string{"/books/x.bib", "/books/.bib", "/books/1.csl"} {
		if w := c.Do(http.MethodGet, target, ""); w.Code != http.StatusNotFound {
			t.Errorf("%s: status %d", target, w.Code)
		}
	}
}

func TestRobots(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		cfg       server.Config
		has, lack string
	}{
		{server.Config{}, "Disallow: /api\nDisallow: /graphql\n", "Sitemap"},
		{server.Config{PublicURL: "https://books.example"}, "\nSitemap: https://books.example/sitemap.xml\n", "Disallow: /\n"},
		{server.Config{PublicURL: "https://books.example", NoPages: true}, "Disallow: /api\n", "Sitemap"},
		{server.Config{PublicURL: "https://books.example", NoRobots: true}, "User-agent: *\nDisallow: /\n", "Sitemap"},
	} {
		c := servertest.ServeWith(t, func(cfg *server.Config) {
			cfg.PublicURL, cfg.NoPages, cfg.NoRobots = test.cfg.PublicURL, test.cfg.NoPages, test.cfg.NoRobots
		})
		w := c.Do(http.MethodGet, "/robots.txt", "")
		if text := w.Body.String(); w.Code != http.StatusOK || !strings.Contains(text, test.has) || strings.Contains(text, test.lack) {
			t.Errorf("%+v: %s", test.cfg, text)
		}
	}
}

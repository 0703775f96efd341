package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

var pageLanguage = regexp.MustCompile(`<html lang="([^"]*)"`)

// TestLanguageOfThePage requests pages in turn in several languages, each three times, so that the cache has them.
func TestLanguageOfThePage(t *testing.T) {
	t.Parallel()
	c := servertest.ServeCached(t, catalogtest.SQLite(t), 1<<20)
	fillShelf(t, c)
	for range 3 {
		for _, target := range []string{"/", "/?q=stars", "/genres", "/books/1", "/print", "/books/new", "/import", "/developers", "/books/1/history", "/none", "/books/77"} {
			for _, test := range []struct{ lang, headers, want string }{
				{"", "", "en"},
				{"", "Accept-Language: de-AT,de;q=0.9,en;q=0.8", "de"},
				{"", "Accept-Language: de,xx;q=0.3", "de"},
				{"", "Accept-Language: pl, nl;q=0.5", "nl"},
				{"", "Accept-Language: pl", "en"},
				{"", "Accept-Language: " + strings.Repeat("de,", 100), "en"},
				{"", "Accept-Language: *;q=x", "en"},
				{"", "Accept-Language: de\nCookie: language=fr", "fr"},
				{"", "Accept-Language: de\nCookie: language=xx", "de"},
				{"it", "Accept-Language: de\nCookie: language=fr", "it"},
				{"xx", "Accept-Language: de\nCookie: language=fr", "fr"},
			} {
				address := target
				if test.lang != "" {
					address += map[bool]string{true: "&", false: "?"}[strings.Contains(target, "?")] + "lang=" + test.lang
				}
				var headers []string
				if test.headers != "" {
					headers = strings.Split(test.headers, "\n")
				}
				w := c.Do(http.MethodGet, address, "", append(headers, "Accept: text/html")...)
				if location := w.Header().Get("Location"); test.lang == "xx" && w.Code == http.StatusSeeOther && location == target {
					continue // an unknown language is removed
				}
				if match := pageLanguage.FindStringSubmatch(w.Body.String()); match == nil || match[1] != test.want {
					t.Errorf("%s with %q: status %d, %q, want %s", address, test.headers, w.Code, match, test.want)
				}
				vary := strings.Join(w.Header().Values("Vary"), ", ")
				if strings.Count(vary, "Accept-Language") != 1 || strings.Count(vary, "Cookie") != 1 {
					t.Errorf("%s: Vary: %s", address, vary)
				}
				if w.Header().Get("Set-Cookie") != "" {
					t.Errorf("%s sets a cookie", address)
				}
			}
		}
	}
	for _, target := range []string{"/api/books?lang=de", "/graphql?query=%7Bbooks%7BtotalCount%7D%7D&lang=de"} {
		w := c.Do(http.MethodGet, target, "", "Accept-Language: de", "Cookie: language=de")
		if vary := strings.Join(w.Header().Values("Vary"), ", "); w.Code != http.StatusOK || strings.Contains(vary, "Accept-Language") || strings.Contains(vary, "Cookie") {
			t.Errorf("%s: status %d, Vary: %s", target, w.Code, vary)
		}
	}
}

// TestLanguageOfALink opens an address with a language: the links of its page do not have it.
func TestLanguageOfALink(t *testing.T) {
	t.Parallel()
	c := servertest.ServeWith(t, func(cfg *server.Config) { cfg.PublicURL = "https://books.example" })
	fillShelf(t, c)
	for _, target := range []string{"/?lang=de", "/?q=stars&more=1&lang=de", "/?genre=1&price_max=5&lang=de", "/print?lang=de", "/books/1?lang=de", "/none?lang=de"} {
		w := c.Do(http.MethodGet, target, "", "Accept: text/html")
		_, body, ok := strings.Cut(w.Body.String(), "</head>")
		if !ok || pageLanguage.FindStringSubmatch(w.Body.String())[1] != "de" || strings.Contains(body, "lang=de") || strings.Contains(body, "lang%3Dde") || strings.Contains(body, `name="lang"`) {
			t.Errorf("%s: status %d: %s", target, w.Code, body)
		}
	}
	for target, canonical := range map[string]string{"/?q=stars": "/?q=stars", "/?q=stars&lang=de": "/?q=stars&amp;lang=de", "/genres?lang=xx": "/genres", "/developers?lang=fr": "/developers?lang=fr"} {
		if page := c.Do(http.MethodGet, target, "", "Accept: text/html").Body.String(); !strings.Contains(page, `<link rel="canonical" href="https://books.example`+canonical+`">`) {
			t.Errorf("%s: %s", target, page)
		}
	}
}

// TestChooser sends the form that chooses a language.
func TestChooser(t *testing.T) {
	t.Parallel()
	c := servertest.ServeWith(t, func(cfg *server.Config) { cfg.PublicURL = "https://books.example" })
	// With CORS, other origins pass the check of the server.
	c.Reconfigure(t, server.Config{PublicURL: "https://books.example", Origins: []string{"*"}})
	for _, test := range []struct {
		tag, next, site string
		status          int
		location        string
	}{
		{"de", "/books/1?x=1", "same-origin", http.StatusSeeOther, "/books/1?x=1"},
		{"de", "https://evil.example/", "same-origin", http.StatusSeeOther, "/"},
		{"de", "//evil.example/", "same-origin", http.StatusSeeOther, "/"},
		{"de", "/", "cross-site", http.StatusForbidden, ""},
		{"de", "/", "same-site", http.StatusForbidden, ""},
		{"xx", "/", "same-origin", http.StatusBadRequest, ""},
		{"", "/", "same-origin", http.StatusBadRequest, ""},
	} {
		form := url.Values{"language": {test.tag}, "next": {test.next}}.Encode()
		w := c.Do(http.MethodPost, "/language", form, "Authorization:", "Accept: text/html", "Content-Type: application/x-www-form-urlencoded", "Sec-Fetch-Site: "+test.site)
		cookie := w.Header().Get("Set-Cookie")
		if w.Code != test.status || w.Header().Get("Location") != test.location || (cookie != "") != (test.status == http.StatusSeeOther) {
			t.Errorf("%+v: status %d to %q, cookie %q", test, w.Code, w.Header().Get("Location"), cookie)
		}
		if cookie != "" && cookie != "language=de; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax" {
			t.Error(cookie)
		}
	}
	if w := c.Do(http.MethodGet, "/language?language=de&next=/", "", "Accept: text/html"); w.Code != http.StatusNotFound || w.Header().Get("Set-Cookie") != "" {
		t.Errorf("GET: status %d", w.Code)
	}
}

// TestLanguageOfTheAccount chooses a language in a session. It counts in other sessions of the account, before the
// cookie.
func TestLanguageOfTheAccount(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		p := servePeople(t, url)
		reader, other := p.as(t, "Zora", model.Reader), p.as(t, "Yuki", model.Editor)
		read := func(headers ...string) string {
			page := p.page("/books/1", headers...).Body.String()
			return pageLanguage.FindStringSubmatch(page)[1]
		}
		if got := read(reader + "; language=fr"); got != "fr" {
			t.Errorf("before the choice: %s", got)
		}
		w := p.Do(http.MethodPost, "/language", "language=de&next=/", "Authorization:", reader, "Accept: text/html", "Content-Type: application/x-www-form-urlencoded", "Sec-Fetch-Site: same-origin")
		if w.Code != http.StatusSeeOther {
			t.Fatalf("status %d: %s", w.Code, w.Body)
		}
		for want, got := range map[string]string{"de": read(reader + "; language=fr"), "nl": read(other + "; language=nl"), "en": read(), "it": read("Cookie: language=it")} {
			if got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		if got := pageLanguage.FindStringSubmatch(p.page("/books/1?lang=es", reader).Body.String())[1]; got != "es" {
			t.Errorf("?lang=es: %s", got)
		}
	})
}

package language_test

import (
	"encoding/xml"
	"errors"
	"html"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"library-catalogue/accounts"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
	"library-catalogue/web/language"
)

func TestMain(m *testing.M) { servertest.Main(m) }

var link = regexp.MustCompile(`href="(/[^"#]*)`)

// names are words of pages that are the same in all languages.
var names = regexp.MustCompile(`Library Catalogue|ISBN|\bAPI\b|REST|GraphQL|\bID\b|BibTeX|RIS|CSL|MARCXML|MARC|CSV|JSON Lines|JSON|Excel|openapi\.yaml|tester|Avery|Herma|mm|UTC|\bs\d+\b|[LJ]\d+|\b[a-z]+\.csv`)

// untranslated returns the words of a page that stand outside of the brackets of the pseudo-language. Elements with
// code or with a language of their own do not count.
func untranslated(t *testing.T, page string) (words []string) {
	t.Helper()
	depth := 0
	check := func(text string) {
		outside := strings.Map(func(r rune) rune {
			switch {
			case r == '⟦':
				depth++
			case r == '⟧':
				depth--
			case depth == 0:
				return r
			}
			return -1
		}, text)
		if outside = names.ReplaceAllString(outside, ""); strings.IndexFunc(outside, unicode.IsLetter) >= 0 {
			words = append(words, strings.TrimSpace(outside))
		}
	}
	decoder := xml.NewDecoder(strings.NewReader(page))
	decoder.Strict, decoder.AutoClose, decoder.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	skip := 0 // depth of elements that do not count
	for {
		part, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return words
		}
		if err != nil {
			t.Fatalf("%v in %s", err, page)
		}
		switch part := part.(type) {
		case xml.StartElement:
			own := slices.ContainsFunc(part.Attr, func(a xml.Attr) bool { return a.Name.Local == "lang" })
			if skip > 0 || own && part.Name.Local != "html" || slices.Contains([]string{"script", "code", "pre", "kbd", "time"}, part.Name.Local) {
				skip++
			}
			for _, a := range part.Attr {
				if skip == 0 && slices.Contains([]string{"title", "placeholder", "aria-label", "alt", "data-done"}, a.Name.Local) && !strings.HasPrefix(a.Value, "ctx_ver") {
					check(a.Value)
				}
			}
		case xml.EndElement:
			skip = max(skip-1, 0)
		case xml.CharData:
			if skip == 0 {
				check(string(part))
			}
		}
	}
}

// TestPseudo opens pages in the pseudo-language. All data are numbers, so that only texts have letters.
func TestPseudo(t *testing.T) {
	t.Parallel()
	c, service := servertest.ServeAccounts(t, catalogtest.SQLite(t), func(cfg *server.Config) { cfg.PublicURL = "https://books.example" })
	session := func(name string, role model.Role) string {
		_, secret, err := service.Invite(accounts.WithCommandLine(t.Context()), accounts.Invitation{Name: name, Role: role})
		servertest.Must(t, err)
		in, err := service.Accept(t.Context(), accounts.Acceptance{Secret: secret, Password: "a long pass-word of 7"})
		servertest.Must(t, err)
		return "Cookie: __Host-catalogue-session=" + in.Secret + "; language=" + language.Pseudo
	}
	people := []string{session("1", model.Admin), session("2", model.Reader), "Cookie: language=" + language.Pseudo}
	seen := map[string]bool{}
	open := func(who string, queue ...string) {
		for len(queue) > 0 {
			target := html.UnescapeString(queue[0])
			queue = queue[1:]
			key := who + " " + target
			if seen[key] || len(seen) > 800 || strings.HasPrefix(target, "/playground") || strings.HasPrefix(target, "/api") || strings.HasPrefix(target, "/assets") {
				continue
			}
			seen[key] = true
			w := c.Do(http.MethodGet, target, "", who, "Authorization:", "Accept: text/html")
			if location := w.Header().Get("Location"); location != "" {
				queue = append(queue, location)
				continue
			}
			if !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
				continue
			}
			page := w.Body.String()
			if !strings.Contains(page, `lang="`+language.Pseudo+`"`) {
				t.Errorf("%s is not in the pseudo-language: %.300s", target, page)
			}
			for _, words := range untranslated(t, page) {
				t.Errorf("%s: status %d: %q", target, w.Code, words)
			}
			for _, match := range link.FindAllStringSubmatch(page, -1) {
				queue = append(queue, match[1])
			}
		}
	}
	for _, who := range people {
		open(who, "/", "/genres", "/changes")
	}
	clear(seen)
	create := func(target, body string) {
		if w := c.Do(http.MethodPost, target, body, "Content-Type: application/json"); w.Code != http.StatusCreated {
			t.Fatalf("%s: %s", target, w.Body)
		}
	}
	create("/api/categories", `{"name": "7", "description": "77"}`)
	create("/api/genres", `{"name": "77", "category_id": 1}`)
	for range 40 {
		create("/api/books", `{"name": "777", "subtitle": "7", "author": "7 7", "description": "7", "pages": 258, "published_at": "1956-02-03", "price": 9.5, "genre_id": 1, "publisher": "7", "series": "7", "series_number": "7", "shelf_mark": "7"}`)
	}
	c.Do(http.MethodPut, "/api/books/1", `{"name": "778"}`, "Content-Type: application/json")
	c.Do(http.MethodDelete, "/api/books/2", "")
	servertest.Must(t, c.Store.Webhooks.Add(t.Context(), &model.Webhook{
		URL: "7", Types: []model.CatalogueType{model.TypeBook, model.TypeGenre}, Secrets: []string{"whsec_x"},
	}))
	for _, who := range people {
		open(who,
			"/", "/?q=777", "/?q=7777", "/?genre=1&from=1950&to=1960&price_max=20&sort=price&q=777&since=2000-01-01T00:00:00Z", "/?genre=1&from=2000&q=777", "/?from=2000&to=1990", "/?genre=99&category=99",
			"/?genre=x&category=x&language=x&from=x&price_min=x&since=x&sort=x&none=1&after=x", "/?price_min=5&price_max=1", "/?find_author=7&find_genre=9",
			"/genres", "/books/1", "/books/1/edit", "/books/2", "/books/77", "/books/x", "/books/1/history", "/books/2/history", "/books/new", "/isbn/7", "/none",
			"/print", "/labels", "/import", "/developers", "/login", "/welcome", "/account", "/admin", "/changes", "/changes?kind=7", "/changes?since=7",
		)
	}
}

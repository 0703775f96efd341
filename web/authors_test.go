package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/server/servertest"
)

// TestAuthorForms: the filter counts an author once, and its list has as many books, by whichever form it is asked for.
func TestAuthorForms(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url_ string) {
		c := servertest.Serve(t, url_)
		fillShelf(t, c)
		forms := []string{"Facet, Jane", "Jane Facet", "Jane Facet", "Form, J.R.R.", "J. R. R. Form", "JRR Form", "Form, J. R. R.", "Jane Facet, Bob Two"}
		for i, author := range forms {
			body := fmt.Sprintf(`{"name":"Facets %d","pages":1,"published_at":"2001-02-03","author":%q,"price":"1","genre_id":1}`, i, author)
			if w := c.Do(http.MethodPost, "/api/books", body); w.Code != http.StatusCreated {
				t.Fatalf("%d: %s", w.Code, w.Body)
			}
		}
		page := func(target string) string { return c.Do(http.MethodGet, target, "", "Accept: text/html").Body.String() }
		for author, want := range map[string]string{"Jane Facet": "3", "Form, J. R. R.": "4", "J. R. R. Form": "4", "JRR Form": "4", "Facet, Jane": "3"} {
			target := "/?author=" + url.QueryEscape(author)
			text := page(target)
			if !strings.Contains(text, "<h1>"+want+" books</h1>") || strings.Count(text, " checked>") != 1 ||
				!strings.Contains(text, ` checked><span class="value" dir="auto">`+author+`</span><span class="count">`+want+`</span>`) {
				t.Errorf("%s: no %s books in %.6000s", target, want, text)
			}
			if printed := page("/print?author=" + url.QueryEscape(author)); strings.Count(printed, "class=\"name\">Facets") != map[string]int{"3": 3, "4": 4}[want] {
				t.Errorf("%s is printed as %.3000s", author, printed)
			}
		}
		if text := page("/?q=facets&find_author=form"); !strings.Contains(text, `<span class="value" dir="auto">Form, J. R. R.</span><span class="count">4</span>`) {
			t.Errorf("found %.5000s", text)
		}
		if w := c.Do(http.MethodGet, "/?author=Jane+Facet&author=Facet%2C+Jane", "", "Accept: text/html"); w.Header().Get("Location") != "/?author=Jane+Facet" {
			t.Errorf("two forms: %d to %q", w.Code, w.Header().Get("Location"))
		}
	})
}

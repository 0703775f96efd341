package web_test

import (
	"net/http"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/server/servertest"
)

// TestSeriesOnPages shows the subtitle, the series and the number in it: on the list, on paper in order, and on a book's page.
func TestSeriesOnPages(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		fillShelf(t, c)
		for _, number := range []string{"10", "9.5"} {
			create(t, c, "/api/books", `{"name":"N`+number+`","author":"A","pages":1,"published_at":"2000-01-01","price":1,"genre_id":1,"subtitle":"A & tale","series":"Saga","series_number":"`+number+`"}`)
		}
		for target, want := range map[string][]string{
			"/?q=saga":               {`<span class="soft">: A &amp; tale</span>`},
			"/?q=tale&sort=series":   {`sort=series%2Cseries_number`, `N9.5`, `: A &amp; <mark>tale</mark>`, `N10`},
			"/print?sort=series":     {`<th scope="col">Series</th>`, `N9.5: A &amp; tale`, `Saga 9.5`, `Saga 10`},
			"/print?author=nobody":   {`<th scope="col">Genre</th></tr>`},
			"/books/5":               {`content="N9.5: A &amp; tale"`, `<p class="lead" dir="auto">A &amp; tale</p>`, `<dt>Series</dt><dd>Saga</dd>`, `<dt>Number in the series</dt><dd>9.5</dd>`},
			"/books/5/edit":          {`value="A &amp; tale"`, `value="Saga"`, `2, 1.5 or IV`},
			"/books/values?series=S": {`"series":"S"`},
		} {
			page := c.Do(http.MethodGet, target, "", "Accept: text/html").Body.String()
			rest := page
			for _, text := range want {
				i := strings.Index(rest, text)
				if i < 0 {
					t.Errorf("%s lacks %s: %s", target, text, page)
					break
				}
				rest = rest[i:]
			}
		}
	})
}

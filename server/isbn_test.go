package server_test

import (
	"net/http"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/server/servertest"
)

// TestISBN finds books by ISBN at each door: copies, one book, and none.
func TestISBN(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		c.Ask(t, `mutation { createGenre(input: {name: "g", category: {create: {name: "c"}}}) { genre { id } } }`, "")
		for _, book := range []string{`name: "One", isbn: "3-16-148410-X"`, `name: "Two", isbn: "urn:isbn:9780306406157"`, `name: "Three", isbn: "0306406152"`, `name: "9783161484100"`} {
			c.Get(t, `mutation { createBook(input: {`+book+`, author: "A", pages: 1, publishedAt: "2000-01-01", price: 1, genreId: 1}) { book { id } } }`, "")
		}
		c.Want(t, `{ one: booksByIsbn(isbn: "978-3-16-148410-0") { id isbn genre { name } } two: booksByIsbn(isbn: "0-306-40615-2") { id } none: booksByIsbn(isbn: "9791090636071") { id } }`, "",
			`{"one":[{"id":"1","isbn":"9783161484100","genre":{"name":"g"}}],"two":[{"id":"2"},{"id":"3"}],"none":[]}`)
		c.Want(t, `{ books(search: " 316148410x ", orderBy: [{field: RELEVANCE}, {field: NAME}], filter: {pages: {eq: 1}}) { totalCount correction nodes { id } } }`, "",
			`{"books":{"totalCount":1,"correction":null,"nodes":[{"id":"1"}]}}`)
		if got := c.Ask(t, `{ booksByIsbn(isbn: "9783161484101") { id } }`, ""); len(got.Errors) != 1 || !strings.Contains(got.Errors[0].Message, "must be a valid ISBN") {
			t.Errorf("a wrong check digit: %+v", got)
		}
		if got := c.Do(http.MethodGet, "/api/books?q=978-3-16-148410-0", "").Body.String(); !strings.Contains(got, `"name":"One"`) || strings.Contains(got, `"id":4`) {
			t.Errorf("q finds %s", got)
		}
		for path, to := range map[string]string{
			"/isbn/978-3-16-148410-0": "/books/1", "/isbn/0306406152": "/?q=9780306406157", "/isbn/9791090636071": "/books/new?isbn=9791090636071",
			"/?q=9783161484100": "/books/1",
		} {
			a := c.Do(http.MethodGet, path, "", "Accept: text/html")
			if a.Code != http.StatusSeeOther || a.Header().Get("Location") != to {
				t.Errorf("%s: %d, %s", path, a.Code, a.Header().Get("Location"))
			}
		}
		if a := c.Do(http.MethodGet, "/isbn/9783161484101", "", "Accept: text/html"); a.Code != http.StatusNotFound || !strings.Contains(a.Body.String(), "is not an ISBN") {
			t.Errorf("no ISBN: %d", a.Code)
		}
		if a := c.Do(http.MethodGet, "/books/new?isbn=979-10-90636-07-1", "", "Accept: text/html"); !strings.Contains(a.Body.String(), `value="9791090636071"`) {
			t.Errorf("the form: %d", a.Code)
		}
		if a := c.Do(http.MethodGet, "/?q=0306406152", "", "Accept: text/html"); a.Code != http.StatusOK || !strings.Contains(a.Body.String(), "Three") {
			t.Errorf("copies: %d", a.Code)
		}
		c.Get(t, `mutation { updateBook(input: {id: 1, patch: {publisher: "Ink & Co", language: "German", shelfMark: "A 1"}}) { book { id } } }`, "")
		for _, part := range []string{`"citation_isbn" content="9783161484100"`, `"citation_publisher" content="Ink &amp; Co"`, `"citation_language" content="de"`, `"isbn":"9783161484100"`,
			`"inLanguage":"de"`, `rft.isbn=9783161484100`, `<dd>German</dd>`, `<dt>Shelf mark</dt><dd>A 1</dd>`} {
			if page := c.Do(http.MethodGet, "/books/1", "", "Accept: text/html").Body.String(); !strings.Contains(page, part) {
				t.Errorf("the page lacks %s", part)
			}
		}
		c.Want(t, `{ books(filter: {publisher: {eq: "none"}}) { facets { publishers { publisher count } languages(first: 1) { language count } } } }`, "",
			`{"books":{"facets":{"publishers":[{"publisher":"Ink & Co","count":1}],"languages":[]}}}`)
		c.Want(t, `{ books { facets { languages { language count } } } }`, "", `{"books":{"facets":{"languages":[{"language":"de","count":1}]}}}`)
		if page := c.Do(http.MethodGet, "/?language=de", "", "Accept: text/html").Body.String(); !strings.Contains(page, `name="publisher" value="Ink &amp; Co"`) ||
			!strings.Contains(page, `<span class="value" dir="auto">German</span>`) || strings.Contains(page, ">Two<") {
			t.Errorf("the filters: %s", page)
		}
		// What a client does not know, its PUT keeps.
		c.Do(http.MethodPut, "/api/books/1", `{"name":"Uno","author":"A","pages":2,"published_at":"2000-01-01","price":1,"genre_id":1}`)
		c.Want(t, `{ book(id: 1) { name isbn } }`, "", `{"book":{"name":"Uno","isbn":"9783161484100"}}`)
		if got := c.Do(http.MethodGet, "/api/books/1", "").Body.String(); strings.Contains(got, "isbn") {
			t.Errorf("without include: %s", got)
		}
		if got := c.Do(http.MethodPut, "/api/books/1?include=shelf_mark,isbn,weight", `{"name":"Uno","author":"A","pages":2,"published_at":"2000-01-01","price":1,"genre_id":1,"isbn":""}`).Body.String(); !strings.Contains(got, `"author":"A","isbn":null,"shelf_mark":"A 1","price"`) {
			t.Errorf("cleared: %s", got)
		}
	})
}

// TestPrint draws a list and labels to print, of a list and of chosen books.
func TestPrint(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	c.Ask(t, `mutation { createGenre(input: {name: "g", category: {create: {name: "c"}}}) { genre { id } } }`, "")
	for _, book := range []string{`name: "One", shelfMark: "B <2>", isbn: "316148410X", language: "de"`, `name: "Two", shelfMark: "A 1"`, `name: "Three"`} {
		c.Get(t, `mutation { createBook(input: {`+book+`, author: "Ann", pages: 1, publishedAt: "2000-01-01", price: 1, genreId: 1}) { book { id } } }`, "")
	}
	page := func(path string) string { return c.Do(http.MethodGet, path, "", "Accept: text/html").Body.String() }
	list := page("/print?sort=mark")
	if !strings.Contains(list, `<td class="whole">B &lt;2&gt;</td><td dir="auto" class="name">One</td><td dir="auto">Ann</td><td class="whole">2000</td><td dir="auto">g</td><td class="whole">9783161484100</td>`) ||
		strings.Index(list, "Three") > strings.Index(list, "Two") || strings.Index(list, "Two") > strings.Index(list, "One") {
		t.Errorf("the list: %s", list)
	}
	if got := page("/print?language=ger"); !strings.Contains(got, "One") || strings.Contains(got, "Two") || !strings.Contains(got, `name="language" value="de"`) {
		t.Errorf("the list of a language: %s", got)
	}
	if got := page("/print?q=three"); strings.Contains(got, "ISBN") || strings.Contains(got, "Shelf mark</th>") {
		t.Errorf("columns without a value: %s", got)
	}
	labels := page("/labels?sheet=s21&used=20&ids=2,1,x,99")
	if got := strings.Count(labels, `<section class="sheet s21">`); got != 2 || strings.Count(labels, `<div class="label">`) != 22 ||
		strings.Contains(labels, "Three") || !strings.Contains(labels, `<strong>B &lt;2&gt;</strong>`) || !strings.Contains(labels, `name="ids" value="2,1,99"`) {
		t.Errorf("%d sheets: %s", got, labels)
	}
	if got := page("/print?ids=abc&language=klingonese"); !strings.Contains(got, "<h1>0 books") || !strings.Contains(got, "“klingonese” is not a language.") {
		t.Errorf("no ids: %s", got)
	}
	if got := page("/labels?sheet=none&used=-3&q=three"); !strings.Contains(got, `sheet s24`) || strings.Count(got, `<div class="label">`) != 1 {
		t.Errorf("labels of a search: %s", got)
	}
	if got := page("/?q=o"); !strings.Contains(got, `href="/labels?q=o"`) || !strings.Contains(got, `href="/print?q=o"`) {
		t.Errorf("the list leads to no labels: %s", got)
	}
}

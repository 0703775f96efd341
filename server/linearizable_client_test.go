package server_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"

	"library-catalogue/server/servertest"
)

// learn records a book as a response has it.
func (l *linearity) learn(b known) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.books = append(slices.DeleteFunc(l.books, func(k known) bool { return k.name == b.name }), b)
}

// body is a response of GraphQL or REST.
type body struct {
	Data   json.RawMessage
	Errors []struct{ Extensions struct{ Code string } }
}

// book is a book of a response.
type book struct {
	ID      json.Number
	Name    string
	Pages   int
	Version int
}

func (l *linearity) graphql(c *servertest.Client, document string, data any) (w *httptest.ResponseRecorder, outcome string) {
	if strings.HasPrefix(document, "mutation") {
		text, _ := json.Marshal(map[string]string{"query": document})
		w = c.Do(http.MethodPost, "/graphql", string(text))
	} else {
		w = c.Do(http.MethodGet, servertest.ByGet(document), "")
	}
	var got body
	if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || len(got.Errors) == 0 && w.Code == http.StatusOK && json.Unmarshal(got.Data, data) != nil {
		l.Errorf("%s: status %d: %s", document, w.Code, w.Body)
		return w, unknown
	}
	if len(got.Errors) == 0 {
		return w, done
	}
	switch code := got.Errors[0].Extensions.Code; code {
	case "NOT_FOUND":
		return w, missing
	case "CONFLICT":
		return w, stale
	case "UNAVAILABLE":
	default:
		l.Errorf("%s: status %d: %s", document, w.Code, w.Body)
	}
	return w, unknown
}

func (l *linearity) rest(c *servertest.Client, method, target, text string, data any, headers ...string) (w *httptest.ResponseRecorder, outcome string) {
	w = c.Do(method, target, text, headers...)
	switch w.Code {
	case http.StatusOK, http.StatusCreated:
		var got body
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || data != nil && json.Unmarshal(got.Data, data) != nil {
			l.Errorf("%s %s: %s", method, target, w.Body)
		}
		return w, done
	case http.StatusNotFound:
		return w, missing
	case http.StatusPreconditionFailed, http.StatusConflict:
		return w, stale
	case http.StatusServiceUnavailable:
	default:
		l.Errorf("%s %s: status %d: %s", method, target, w.Code, w.Body)
	}
	return w, unknown
}

// write creates, updates or deletes a book. A conditional write expects the version of b.
func (l *linearity) write(c *servertest.Client, rest bool, q request, b known, conditional bool) (w *httptest.ResponseRecorder, out result) {
	var got book
	if rest {
		text := fmt.Sprintf(`{"name":%q,"pages":%d,"published_at":"2000-01-01","author":"Someone","price":1,"genre_id":1}`, q.name, q.pages)
		var headers []string
		if conditional {
			headers = []string{"If-Match: " + b.etag}
		}
		switch target := fmt.Sprint("/api/books/", b.id); q.kind {
		case "create":
			w, out.outcome = l.rest(c, http.MethodPost, "/api/books", text, &got)
		case "update":
			w, out.outcome = l.rest(c, http.MethodPut, target, text, &got, headers...)
		default:
			w, out.outcome = l.rest(c, http.MethodDelete, target, "", nil, headers...)
		}
	} else {
		expected := ""
		if conditional {
			expected = fmt.Sprint(", expectedVersion: ", b.version)
		}
		const fields = `{ book { id name pages version } } }`
		var data map[string]struct{ Book book }
		switch q.kind {
		case "create":
			w, out.outcome = l.graphql(c, fmt.Sprintf(`mutation { createBook(input: {name: %q, pages: %d, publishedAt: "2000-01-01", author: "Someone", price: 1, genreId: 1}) `, q.name, q.pages)+fields, &data)
		case "update":
			w, out.outcome = l.graphql(c, fmt.Sprintf(`mutation { updateBook(input: {id: %d, patch: {pages: %d}%s}) `, b.id, q.pages, expected)+fields, &data)
		default:
			w, out.outcome = l.graphql(c, fmt.Sprintf(`mutation { deleteBook(input: {id: %d%s}) { deletedBookId } }`, b.id, expected), &data)
		}
		got = data[q.kind+"Book"].Book
	}
	if out.outcome == done && q.kind != "delete" {
		l.learnFrom(w, got)
	}
	return w, out
}

func (l *linearity) learnFrom(w *httptest.ResponseRecorder, got book) {
	id, _ := got.ID.Int64()
	b := known{name: got.Name, id: int(id), pages: got.Pages, version: got.Version}
	if b.version == 0 {
		b.etag = w.Header().Get("ETag")
	}
	l.learn(b)
}

// read reads a book by its id.
func (l *linearity) read(c *servertest.Client, rest bool, b known) (w *httptest.ResponseRecorder, out result) {
	var got book
	if rest {
		w, out.outcome = l.rest(c, http.MethodGet, fmt.Sprint("/api/books/", b.id), "", &got)
	} else {
		var data struct{ Book *book }
		w, out.outcome = l.graphql(c, fmt.Sprintf(`{ book(id: %d) { id name pages version } }`, b.id), &data)
		if out.outcome == done && data.Book == nil {
			return w, result{outcome: missing}
		}
		if data.Book != nil {
			got = *data.Book
		}
	}
	if out.pages = got.Pages; out.outcome == done {
		l.learnFrom(w, got)
	}
	return w, out
}

// large makes a query one of the medium class, which replicas serve.
const large = `b: books(first: 1000) { nodes { name pages genre { name category { name } } } } c: books(first: 1000) { nodes { name pages genre { name } } } d: books(first: 1000) { nodes { name pages } } }`

// lists are the ways to read all books.
var lists = []string{
	"/api/books", "/api/books?per_page=100", "/api/books?q=someone", "/api/books?format=csv", "/api/books?format=csv&q=someone",
	`{ a: books(first: 100) { nodes { name pages } } }`,
	`{ a: books(first: 100, search: "someone") { nodes { name pages } } }`,
	`{ a: books(first: 1000, search: "someone") { nodes { name pages } } ` + large,
	`{ a: books(first: 1000) { nodes { name pages } } ` + large,
	`{ a: books(first: 1000, filter: {pages: {gte: 1}}) { nodes { name pages } } ` + large,
	`{ a: books(first: 1000, filter: {author: {eq: "Someone"}}) { nodes { name pages } } ` + large,
}

// list reads all books.
func (l *linearity) list(c *servertest.Client, target string) (w *httptest.ResponseRecorder, out result) {
	var got []book
	switch {
	case strings.Contains(target, "csv"):
		w = c.Do(http.MethodGet, target, "")
		rows, err := csv.NewReader(w.Body).ReadAll()
		if w.Code != http.StatusOK || err != nil || len(rows) == 0 {
			return w, result{outcome: unknown}
		}
		name, pages := slices.Index(rows[0], "name"), slices.Index(rows[0], "pages")
		for _, row := range rows[1:] {
			n, _ := strconv.Atoi(row[pages])
			got = append(got, book{Name: row[name], Pages: n})
		}
		out.outcome = done
	case strings.HasPrefix(target, "/"):
		w, out.outcome = l.rest(c, http.MethodGet, target, "", &got)
	default:
		var data map[string]struct{ Nodes []book }
		w, out.outcome = l.graphql(c, target, &data)
		got = data["a"].Nodes
		for part, other := range data {
			if textOf(other.Nodes) != textOf(got) {
				l.Errorf("%s: part %s is of another moment: %s", target, part, w.Body)
			}
		}
	}
	out.list = textOf(got)
	return w, out
}

func textOf(books []book) string {
	found := pagesOf{}
	for _, b := range books {
		found[b.Name] = b.Pages
	}
	return found.text()
}

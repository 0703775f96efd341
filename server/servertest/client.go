package servertest

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/db"
	"library-catalogue/server"
)

// ByGet returns the target of a query that is sent by GET.
func ByGet(document string) string { return "/graphql?query=" + url.QueryEscape(document) }

// Client sends requests with a token to a server. Each server has its own database.
type Client struct {
	Handler      http.Handler
	Catalogue    server.Catalogue
	Authenticate func(http.Handler) http.Handler
	URL          string // URL of the database
	Store        *db.Store
	Token        string
	Log          *Log
}

// Do sends a request. A header is "Name: value"; without a value it removes the client's
// default header.
func (c *Client) Do(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	return c.DoContext(context.Background(), method, target, body, headers...)
}

// DoContext is Do with a context.
func (c *Client) DoContext(
	ctx context.Context, method, target, body string, headers ...string,
) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+c.Token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Request-Id", "test")
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ":")
		if value = strings.TrimSpace(value); value == "" {
			r.Header.Del(name)
		} else {
			r.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	c.Handler.ServeHTTP(w, r)
	return w
}

// Ask sends a document by POST. variables is a JSON object or empty.
func (c *Client) Ask(t testing.TB, document, variables string, headers ...string) Answer {
	t.Helper()
	body := map[string]any{"query": document}
	if variables != "" {
		body["variables"] = json.RawMessage(variables)
	}
	text, err := json.Marshal(body)
	Must(t, err)
	w := c.Do(http.MethodPost, "/graphql", string(text), headers...)
	if w.Code != http.StatusOK {
		t.Errorf("%s: status %d: %s", document, w.Code, w.Body)
	}
	return Parse(t, w)
}

// Get returns the data of a response without errors, as Timeless writes it.
func (c *Client) Get(t testing.TB, document, variables string) string {
	t.Helper()
	a := c.Ask(t, document, variables)
	if len(a.Errors) > 0 {
		t.Errorf("%s: %+v", document, a.Errors)
	}
	return Timeless(string(a.Data))
}

// Want checks the data of a response without errors.
func (c *Client) Want(t testing.TB, document, variables, data string) {
	t.Helper()
	if diff := cmp.Diff(Indented(t, data), Indented(t, c.Get(t, document, variables))); diff != "" {
		t.Errorf("%s %s (-want +got):\n%s", document, variables, diff)
	}
}

// WantError checks that a response has one error, by its code and part of its message.
func (c *Client) WantError(t testing.TB, document, variables, code, message string, headers ...string) Failure {
	t.Helper()
	a := c.Ask(t, document, variables, headers...)
	if len(a.Errors) != 1 {
		t.Errorf("%s %s: %d errors, data %s: %+v", document, variables, len(a.Errors), a.Data, a.Errors)
		return Failure{}
	}
	got := a.Errors[0]
	if got.Extensions.Code != code || !strings.Contains(got.Message, message) || got.Extensions.RequestID != "test" {
		t.Errorf("%s %s: %+v, want %s with %q", document, variables, got, code, message)
	}
	return got
}

// Shelves stores two categories, three genres and four books, numbered from 1. Genre 3 is
// the only one of category 2 and has no book.
func (c *Client) Shelves(t testing.TB) {
	t.Helper()
	c.Get(t, `mutation {
  a: createCategory(input: {name: "Fiction", description: "Made up"}) { category { id } }
  b: createCategory(input: {name: "Non-fiction"}) { category { id } }
  c: createGenre(input: {name: "Fantasy", description: "Dragons", categoryId: 1}) { genre { id } }
  d: createGenre(input: {name: "Novel", categoryId: 1}) { genre { id } }
  e: createGenre(input: {name: "History", categoryId: 2}) { genre { id } }
  f: createBook(input: {name: "The Hobbit", description: "There and back", pages: 310, publishedAt: "1937-09-21", author: "J. R. R. Tolkien", price: "19.99", genreId: 1}) { book { id } }
  g: createBook(input: {name: "The Silmarillion", pages: 365, publishedAt: "1977-09-15", author: "J. R. R. Tolkien", price: 25, genreId: 1}) { book { id } }
  h: createBook(input: {name: "Emma", pages: 474, publishedAt: "1815-12-23", author: "Jane Austen", price: "0.5", genreId: 2}) { book { id } }
  i: createBook(input: {name: "Persuasion", pages: 279, publishedAt: "1817-12-20", author: "Jane Austen", price: "8.995", genreId: 2}) { book { id } }
}`, "")
}

// Lengths returns the number of rows of each type.
func (c *Client) Lengths(t *testing.T) string {
	t.Helper()
	return c.Get(t, "{ categories { totalCount } genres { totalCount } books { totalCount } }", "")
}

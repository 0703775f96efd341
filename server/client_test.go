package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/auth"
	"library-catalogue/server/graphqlhttp"
	"library-catalogue/server/telemetry"
)

// client speaks to a server over a database of its own, as the holder of a token.
type client struct {
	handler      http.Handler
	catalogue    server.Catalogue
	authenticate func(http.Handler) http.Handler
	url          string // of the database
	store        *db.Store
	token        string
	log          *log
}

// secret signs the tokens of the tests.
var secret = []byte("a secret of 32 bytes and no less")

// serve returns a client of a server without a cache over the database at url.
// change, if given, puts another catalogue in place of the resolvers.
func serve(t testing.TB, url string, change ...func(*resolvers.Resolver) server.Catalogue) *client {
	t.Helper()
	c := &client{url: url, store: migrated(t, url), log: &log{}}
	verifier, err := auth.New(t.Context(), auth.Config{Secret: secret})
	must(t, err)
	if c.token, err = auth.Sign(secret, "tester", "", "", time.Hour, time.Now()); err != nil {
		t.Fatal(err)
	}
	catalogue := server.Catalogue(resolvers.New(c.store))
	for _, change := range change {
		catalogue = change(resolvers.New(c.store))
	}
	c.catalogue, c.authenticate = catalogue, verifier.Middleware
	c.handler = newHandler(t, c.log, server.Config{
		Catalogue: catalogue, Authenticate: verifier.Middleware, Observer: telemetry.New(telemetry.Config{Logger: c.log.logger(), Checks: c.store.Checks}),
		GraphQL: graphqlhttp.Options{Introspection: graphqlhttp.IntrospectionOn},
	})
	return c
}

// onEach runs a parallel test on each engine, with a client of a server over shelves.
func onEach(t *testing.T, run func(t *testing.T, c *client)) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := serve(t, url)
		c.shelves(t)
		run(t, c)
	})
}

// shelved makes a test parallel, and returns a client of a server over shelves on SQLite.
func shelved(t *testing.T) *client {
	t.Helper()
	t.Parallel()
	c := serve(t, catalogtest.SQLite(t))
	c.shelves(t)
	return c
}

// do sends a request. headers are written "Name: value"; an empty value takes
// away what a client sends by itself.
func (c *client) do(method, target, body string, headers ...string) *httptest.ResponseRecorder {
	return c.doContext(context.Background(), method, target, body, headers...)
}

func (c *client) doContext(ctx context.Context, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, method, target, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+c.token)
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
	c.handler.ServeHTTP(w, r)
	return w
}

// answer is what GraphQL answers.
type answer struct {
	Data   json.RawMessage
	Errors []failure
}

type failure struct {
	Message    string
	Path       []any
	Extensions struct {
		Code      string
		Outcome   string
		RequestID string
		Fields    []struct{ Field, Message string }
	}
}

// ask sends a document by POST. variables is a JSON object, or empty.
func (c *client) ask(t testing.TB, document, variables string, headers ...string) answer {
	t.Helper()
	body := map[string]any{"query": document}
	if variables != "" {
		body["variables"] = json.RawMessage(variables)
	}
	text, err := json.Marshal(body)
	must(t, err)
	w := c.do(http.MethodPost, "/graphql", string(text), headers...)
	if w.Code != http.StatusOK {
		t.Errorf("%s: status %d: %s", document, w.Code, w.Body)
	}
	return parse(t, w)
}

func parse(t testing.TB, w *httptest.ResponseRecorder) (a answer) {
	t.Helper()
	decoder := json.NewDecoder(w.Body)
	decoder.UseNumber()
	must(t, decoder.Decode(&a))
	return a
}

// get demands data without errors, and gives it with every moment as "(time)".
func (c *client) get(t testing.TB, document, variables string) string {
	t.Helper()
	a := c.ask(t, document, variables)
	if len(a.Errors) > 0 {
		t.Errorf("%s: %+v", document, a.Errors)
	}
	return timeless(string(a.Data))
}

// want demands data.
func (c *client) want(t testing.TB, document, variables, data string) {
	t.Helper()
	if diff := cmp.Diff(indented(t, data), indented(t, c.get(t, document, variables))); diff != "" {
		t.Errorf("%s %s (-want +got):\n%s", document, variables, diff)
	}
}

// wantError demands one error, with a code and a part of its message.
func (c *client) wantError(t testing.TB, document, variables, code, message string, headers ...string) failure {
	t.Helper()
	a := c.ask(t, document, variables, headers...)
	if len(a.Errors) != 1 {
		t.Errorf("%s %s: %d errors, data %s: %+v", document, variables, len(a.Errors), a.Data, a.Errors)
		return failure{}
	}
	got := a.Errors[0]
	if got.Extensions.Code != code || !strings.Contains(got.Message, message) || got.Extensions.RequestID != "test" {
		t.Errorf("%s %s: %+v, want %s with %q", document, variables, got, code, message)
	}
	return got
}

var moment = regexp.MustCompile(`[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z`)

func timeless(text string) string { return moment.ReplaceAllString(text, "(time)") }

func indented(t testing.TB, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(text), "", "  "); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return b.String()
}

// shelves stores two categories, three genres and four books, numbered from 1.
// Category 2 has no genre but 3, which has no book.
func (c *client) shelves(t testing.TB) {
	t.Helper()
	c.get(t, `mutation {
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

// log keeps what the server logs during a test.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// logger returns a logger that writes here.
func (l *log) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

// newHandler returns what answers requests, and logs here.
func newHandler(t testing.TB, l *log, cfg server.Config) http.Handler {
	t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = l.logger()
	}
	if cfg.Observer == nil {
		cfg.Observer = telemetry.New(telemetry.Config{Logger: cfg.Logger})
	}
	srv, err := server.New(cfg)
	must(t, err)
	t.Cleanup(func() { _ = srv.Shutdown(context.Background()) }) // which drops the results of imports
	return srv.Handler
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// has reports whether a text was logged.
func (l *log) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), text)
}

func encode(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	must(t, err)
	return string(text)
}

func unmarshal(t testing.TB, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

// must ends the test at an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

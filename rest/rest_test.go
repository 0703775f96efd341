package rest_test

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/edge/auth"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/rest"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

// logBuffer collects the log of a service.
type logBuffer struct{ servertest.Log }

// linesWith returns the lines that contain all parts.
func (b *logBuffer) linesWith(parts ...string) (lines []string) {
	for line := range strings.Lines(b.String()) {
		if !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) }) {
			lines = append(lines, line)
		}
	}
	return lines
}

var must, secret = servertest.Must, servertest.Secret

// service is the whole service over one database, answering on a real port.
type service struct {
	*testing.T
	database string // URL
	store    *db.Store
	lists    *watchedLists
	log      *logBuffer
	url      string // http://127.0.0.1:port
	client   *http.Client
	token    string    // of subject "ann"; requests carry it
	sql      *sql.DB   // another program on the same database
	started  time.Time // to the millisecond, as SQLite keeps time
}

// watchedLists counts the whole lists of books that are read, and may stop after a
// part of one.
type watchedLists struct {
	*resolvers.Resolver
	read  atomic.Int64
	pause atomic.Pointer[func(context.Context)] // is called after each part but the first
}

func (l *watchedLists) StreamBooks(ctx context.Context, args model.PageArgs, rows int, fn func(context.Context, []*model.Book) error) error {
	l.read.Add(1)
	parts := 0
	return l.Resolver.StreamBooks(ctx, args, rows, func(ctx context.Context, part []*model.Book) error {
		err := fn(ctx, part)
		parts++
		if pause := l.pause.Load(); pause != nil && parts > 1 {
			(*pause)(ctx)
		}
		return err
	})
}

// stopLists lets lists be read by two parts, until resume is called. reading has a value
// for each list that has stopped there.
func (s *service) stopLists() (reading <-chan struct{}, resume func()) {
	stopped, read := make(chan struct{}), make(chan struct{}, 100)
	pause := func(context.Context) {
		read <- struct{}{}
		<-stopped
	}
	s.lists.pause.Store(&pause)
	return read, sync.OnceFunc(func() { close(stopped) })
}

// onEach runs a parallel test on each engine, with a service over the shelf.
func onEach(t *testing.T, run func(t *testing.T, s *service)) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) { run(t, serve(t, url, rest.Options{}).shelf()) })
}

// serve starts the service on a migrated, empty database.
func serve(t *testing.T, databaseURL string, options rest.Options) *service {
	t.Helper()
	return serveWith(t, databaseURL, server.Config{REST: options}, func(*http.Server) {})
}

func serveWith(t *testing.T, databaseURL string, cfg server.Config, configure func(*http.Server)) *service {
	t.Helper()
	return serveStore(t, databaseURL, catalogtest.Open(t, databaseURL), cfg, configure)
}

func serveStore(t *testing.T, databaseURL string, store *db.Store, cfg server.Config, configure func(*http.Server)) *service {
	t.Helper()
	started := time.Now().Truncate(time.Millisecond)
	verifier, err := auth.New(t.Context(), auth.Config{Secret: secret})
	must(t, err)
	other, err := openSQL(databaseURL)
	must(t, err)
	t.Cleanup(func() { other.Close() })

	log := new(logBuffer)
	lists := &watchedLists{Resolver: resolvers.New(store)}
	cfg.Logger, cfg.Catalogue, cfg.Authenticate = slog.New(slog.NewTextHandler(log, nil)), lists, verifier.Middleware
	cfg.CacheBytes = 32 << 20 // as the program has by default
	made, err := server.New(cfg)
	must(t, err)
	srv := httptest.NewUnstartedServer(made.Handler)
	configure(srv.Config)
	srv.Start()
	t.Cleanup(srv.Close)
	transport := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 100}
	t.Cleanup(transport.CloseIdleConnections)
	return &service{
		T: t, database: databaseURL, store: store, lists: lists, log: log, url: srv.URL, token: tokenFor(t, "ann"), sql: other, started: started,
		client: &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
}

func tokenFor(t *testing.T, subject string) string {
	t.Helper()
	token, err := auth.Sign(secret, subject, "", "", time.Hour, time.Now())
	must(t, err)
	return token
}

// answer is a whole HTTP response.
type answer struct {
	status int
	header http.Header
	body   string
}

// header is one line of a request's header, "Name: value". A name with an empty
// value takes the line away that requests carry by default.
type header = string

// send sends a request with the token, and a body as JSON.
func (s *service) send(method, target, body string, headers ...header) *http.Response {
	s.Helper()
	response, err := s.try(s.Context(), method, target, body, headers...)
	if err != nil {
		s.Fatal(err)
	}
	return response
}

func (s *service) try(ctx context.Context, method, target, body string, headers ...header) (*http.Response, error) {
	request, err := s.request(ctx, method, target, body, headers...)
	if err != nil {
		return nil, err
	}
	return s.client.Do(request)
}

func (s *service) request(ctx context.Context, method, target, body string, headers ...header) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, method, s.url+target, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	request.Header.Set("Authorization", "Bearer "+s.token)
	seen := map[string]bool{}
	for _, line := range headers {
		name, value, _ := strings.Cut(line, ":")
		name, value = http.CanonicalHeaderKey(name), strings.TrimSpace(value)
		switch {
		case value == "":
			request.Header.Del(name)
		case seen[name]:
			request.Header.Add(name, value)
		default:
			request.Header.Set(name, value)
		}
		seen[name] = true
	}
	return request, nil
}

// call sends a request and reads the whole answer.
func (s *service) call(method, target, body string, headers ...header) answer {
	s.Helper()
	response := s.send(method, target, body, headers...)
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		s.Fatalf("%s %s: %v", method, target, err)
	}
	return answer{response.StatusCode, response.Header, string(read)}
}

// want calls and demands a status.
func (s *service) want(status int, method, target, body string, headers ...header) answer {
	s.Helper()
	a := s.call(method, target, body, headers...)
	if a.status != status {
		s.Fatalf("%s %s %s: status %d, want %d: %s", method, target, clip(body), a.status, status, clip(a.body))
	}
	return a
}

// message gives the message of an envelope.
func (a answer) message(t *testing.T) string {
	t.Helper()
	return decode[struct{ Message string }](t, a.body).Message
}

// row is an object of /api, with its fields as JSON.
type row map[string]json.RawMessage

// data gives the object in an envelope.
func (a answer) data(t *testing.T) row {
	t.Helper()
	return decode[struct{ Data row }](t, a.body).Data
}

// rows gives the list in an envelope.
func (a answer) rows(t *testing.T) []row {
	t.Helper()
	return decode[struct{ Data []row }](t, a.body).Data
}

// id gives the id in the envelope of one object.
func (a answer) id(t *testing.T) string {
	t.Helper()
	return string(a.data(t)["id"])
}

func decode[T any](t *testing.T, text string) (out T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		t.Fatalf("%v: %s", err, clip(text))
	}
	return out
}

// graphQLAnswer is the answer to a GraphQL request.
type graphQLAnswer struct {
	Data   json.RawMessage
	Errors []struct {
		Message    string
		Extensions struct {
			Code   string
			Fields []struct{ Field, Message string }
		}
	}
	status int
}

// graphQL sends a document with variables, as JSON.
func (s *service) graphQL(document, variables string) graphQLAnswer {
	s.Helper()
	body := fmt.Sprintf(`{"query":%s,"variables":%s}`, quote(document), cmp.Or(variables, "{}"))
	a := s.call("POST", "/graphql", body)
	out := decode[graphQLAnswer](s.T, a.body)
	out.status = a.status
	return out
}

// mutate runs a document that must succeed, and gives its data.
func (s *service) mutate(document, variables string) string {
	s.Helper()
	a := s.graphQL(document, variables)
	if len(a.Errors) > 0 || a.status != http.StatusOK {
		s.Fatalf("%s %s: status %d, %v", clip(document), clip(variables), a.status, a.Errors)
	}
	return string(a.Data)
}

// exec runs SQL as another program would.
func (s *service) exec(text string, args ...any) {
	s.Helper()
	if _, err := s.sql.ExecContext(s.Context(), text, args...); err != nil {
		s.Fatalf("%s: %v", text, err)
	}
}

// quote writes a text as JSON.
func quote(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string can be written
	}
	return string(b)
}

// clip shortens a text for a message.
func clip(text string) string {
	if len(text) > 500 {
		return text[:250] + " … " + text[len(text)-250:]
	}
	return text
}

// shelf fills a catalogue: two categories, three genres of which the last has
// no books, three books.
func (s *service) shelf() *service {
	s.Helper()
	for _, post := range []struct{ target, body string }{
		{"/api/categories", `{"name":"Fiction","description":"What never happened."}`},
		{"/api/categories", `{"name":"Science"}`},
		{"/api/genres", `{"name":"Fantasy","description":"With dragons.","category_id":"1"}`},
		{"/api/genres", `{"name":"Physics","category_id":"2"}`},
		{"/api/genres", `{"name":"Poetry","category_id":"1"}`},
		{"/api/books", `{"name":"The Hobbit","description":"There and back again.","pages":310,"published_at":"1937-09-21","author":"J. R. R. Tolkien","price":19.99,"genre_id":1}`},
		{"/api/books", `{"name":"A Brief History of Time","pages":256,"published_at":"1988-04-01","author":"Stephen Hawking","price":"12.5","genre_id":2}`},
		{"/api/books", `{"name":"<Æsop> & \"Co\" 🐉","pages":1,"published_at":"0001-01-01","author":"Αἴσωπος","price":0,"genre_id":1}`},
	} {
		s.want(http.StatusCreated, "POST", post.target, post.body)
	}
	return s
}

// holding runs fn while a transaction holds a category's row, and on SQLite the
// right to write.
func (s *service) holding(category model.ID, fn func()) {
	s.Helper()
	err := s.store.Write(s.Context(), func(ctx context.Context) error {
		if _, err := s.store.Categories.Update(ctx, category, &model.CategoryPatch{Description: graphql.OmittableOf[*string](nil)}, nil); err != nil {
			return err
		}
		fn()
		return errGivenUp
	})
	if !errors.Is(err, errGivenUp) {
		s.Fatal(err)
	}
}

// errGivenUp ends a transaction that is to have no effect.
var errGivenUp = errors.New("given up by the test")

// in gives the service to a subtest.
func (s *service) in(t *testing.T) *service {
	sub := *s
	sub.T = t
	return &sub
}

// fill stores further books by SQL, so many as to make a list of n.
func (s *service) fill(n int) {
	s.Helper()
	if err := insertBooks(s.Context(), s.sql, 4, n, func(i int) string { return strings.Repeat("words ", i%50) + "end" }); err != nil {
		s.Fatal(err)
	}
}

// openSQL opens a database as another program would.
func openSQL(url string) (*sql.DB, error) {
	if path, isFile := strings.CutPrefix(url, "sqlite:"); isFile {
		return sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)")
	}
	return sql.Open("postgres", url)
}

// insertBooks stores the books with numbers from first to last, many in one statement:
// each statement of a transaction counts the same row of the revision up, which the next
// must pass.
func insertBooks(ctx context.Context, to *sql.DB, first, last int, describe func(i int) string) error {
	const rows = 500
	for ; first <= last; first += rows {
		values, arguments := []string{}, []any{}
		for i := first; i < min(first+rows, last+1); i++ {
			at := len(arguments)
			values = append(values, fmt.Sprintf("($%d, $%d, CAST($%d AS integer), '2000-01-01', 'Somebody', CAST($%d AS integer), CAST($%d AS integer))", at+1, at+2, at+3, at+4, at+5))
			arguments = append(arguments, fmt.Sprintf("Book %d", i), describe(i), i, i, i%3+1)
		}
		_, err := to.ExecContext(ctx, `INSERT INTO books (name, description, pages, published_at, author, price_cents, genre_id) VALUES `+strings.Join(values, ", "), arguments...)
		if err != nil {
			return err
		}
	}
	return nil
}

// together runs fn n times at once, and gives what it gave.
func (s *service) together(n int, fn func(i int) int) []int {
	s.Helper()
	out := make([]int, n)
	ready := make(chan struct{})
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			<-ready
			out[i] = fn(i)
		})
	}
	close(ready)
	all.Wait()
	return out
}

// another gives the URL of an empty database of the same engine.
func another(t *testing.T, url string) string {
	t.Helper()
	if strings.HasPrefix(url, "sqlite:") {
		return catalogtest.SQLite(t)
	}
	return catalogtest.Postgres(t)
}

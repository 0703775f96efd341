package server_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
	"library-catalogue/task"
)

// sources are those of a test. They count the look-ups.
type sources struct {
	asked int
	wait  func()
}

const foundISBN = "9783161484100"

func (s *sources) Find(_ context.Context, isbn string) (*model.Lookup, error) {
	s.asked++
	if s.wait != nil {
		s.wait()
	}
	if isbn != foundISBN {
		return nil, model.FieldErrors{{Field: "isbn", Message: "The isbn field must be a valid ISBN."}}.Err()
	}
	name, pages, price, day, slow := "Bäche & <Ufer>", 304, model.Cents(1690), model.Date{Year: 1998, Month: 1, Day: 1}, "The source did not respond within 5s."
	return &model.Lookup{
		ISBN:  foundISBN,
		Books: []*model.FoundBook{{Source: "dnb", ISBN: foundISBN, Name: &name, Pages: &pages, Price: &price, PublishedAt: &day}},
		Sources: []*model.LookupSource{
			{Name: "dnb", Status: model.LookupFound}, {Name: "loc", Status: model.LookupUnreachable, Message: &slow},
		},
	}, nil
}

// serveLookups serves a catalogue with sources.
func serveLookups(t *testing.T, url string, s *sources, cfg server.Config) *servertest.Client {
	t.Helper()
	c := servertest.Serve(t, url, func(r *resolvers.Resolver) server.Catalogue {
		r.Sources = s
		return r
	})
	cfg.Lookup = true
	c.Reconfigure(t, cfg)
	return c
}

const (
	lookUp   = `{ lookup(isbn: "9783161484100") { books { source isbn name author publishedAt pages publisher language description price genre category } sources { name status message } existing { id name genre { name } } } }`
	found    = `"source":"dnb","isbn":"9783161484100","name":"Bäche & <Ufer>","author":null`
	rest     = `"pages":304,"publisher":null,"language":null,"description":null,"price":"16.90","genre":null,"category":null`
	answered = `}],` +
		`"sources":[{"name":"dnb","status":"FOUND","message":null},{"name":"loc","status":"UNREACHABLE","message":"The source did not respond within 5s."}]`
)

// TestLookup looks up a book by both endpoints, with the book of the catalogue, and never from a cache.
func TestLookup(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := &sources{}
		c := serveLookups(t, url, s, server.Config{CacheBytes: 1 << 20})
		c.Shelves(t)
		before := c.Get(t, `{ books { nodes { id version name } } }`, "")
		for range 5 {
			c.Want(t, lookUp, "", `{"lookup":{"books":[{`+found+`,"publishedAt":"1998-01-01",`+rest+answered+`,"existing":[]}}`)
		}
		if got := c.Get(t, `{ books { nodes { id version name } } }`, ""); got != before {
			t.Errorf("a look-up changed %s to %s", before, got)
		}
		c.Get(t, `mutation { createBook(input: {name: "Ours", author: "A", pages: 1, publishedAt: "2000-01-01", price: 1, genreId: 1, isbn: "`+foundISBN+`"}) { book { id } } }`, "")
		c.Want(t, `query ($n: String!) { lookup(isbn: $n) { existing { name genre { name } } } }`, `{"n": "`+foundISBN+`"}`,
			`{"lookup":{"existing":[{"name":"Ours","genre":{"name":"Fantasy"}}]}}`)
		w := c.Do("GET", "/api/lookup?isbn="+foundISBN, "")
		body := servertest.Timeless(w.Body.String())
		const want = `{"success":true,"message":"Lookup completed","data":{"books":[{` + found + `,"published_at":"1998-01-01",` + rest + `,"subtitle":null,"series":null,"series_number":null` + answered + `,"existing":[{"id":5,"name":"Ours",`
		if w.Code != http.StatusOK || w.Header().Get("Cache-Control") != "no-store" || w.Header().Get("ETag") != "" ||
			!strings.HasPrefix(body, want) || !strings.HasSuffix(body, `"updated_at":"(time)"}}}]}}`) {
			t.Errorf("%d %v %s", w.Code, w.Header(), body)
		}
		if s.asked != 7 {
			t.Errorf("the sources were asked %d times", s.asked)
		}
	})
}

// TestLookupRefused refuses callers without the scope before the sources are asked, and what is no ISBN.
func TestLookupRefused(t *testing.T) {
	t.Parallel()
	s := &sources{}
	c := serveLookups(t, catalogtest.SQLite(t), s, server.Config{})
	scoped := servertest.ServeScoped(t, func(cfg *server.Config) { cfg.Catalogue, cfg.Lookup = c.Catalogue, true })
	for _, tt := range []struct {
		client       *servertest.Client
		token, isbn  string
		code         string
		status, asks int
	}{
		{c, "", foundISBN, "UNAUTHENTICATED", 401, 0},
		{scoped, servertest.TokenFor(t, "books:update", "genres:create"), foundISBN, "FORBIDDEN", 403, 0},
		{scoped, servertest.TokenFor(t, "books:create"), "9783161484101", "BAD_USER_INPUT", 422, 2},
		{c, c.Token, "", "BAD_USER_INPUT", 422, 2},
	} {
		s.asked = 0
		authorization := "Authorization:"
		if tt.token != "" {
			authorization += " Bearer " + tt.token
		}
		tt.client.WantError(t, `{ lookup(isbn: "`+tt.isbn+`") { books { name } } }`, "", tt.code, "", authorization)
		w := tt.client.Do("GET", "/api/lookup?isbn="+tt.isbn, "", authorization)
		if w.Code != tt.status || w.Header().Get("Cache-Control") != "no-store" || s.asked != tt.asks {
			t.Errorf("%s: %d %s, asked %d times", tt.code, w.Code, w.Body, s.asked)
		}
	}
}

// TestLookupIsOff responds as to an unknown path without sources.
func TestLookupIsOff(t *testing.T) {
	c := servertest.Shelved(t)
	w, unknown := c.Do("GET", "/api/lookup?isbn="+foundISBN, ""), c.Do("GET", "/api/lockup", "")
	if w.Code != 404 || strings.ReplaceAll(w.Body.String(), "lookup", "lockup") != unknown.Body.String() {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	c.WantError(t, lookUp, "", "FORBIDDEN", "Look-ups are off. The operator turns them on with CATALOGUE_LOOKUP")
}

// TestLookupIsAlone refuses other fields in the operation of a look-up.
func TestLookupIsAlone(t *testing.T) {
	t.Parallel()
	s := &sources{}
	c := serveLookups(t, catalogtest.SQLite(t), s, server.Config{})
	const one = `lookup(isbn: "9783161484100") { books { name } }`
	for _, document := range []string{
		"{ " + one + " books { totalCount } }", "{ viewer { subject } " + one + " }", "{ " + one + " __typename }",
		"query @live { " + one + " }", "{ a: " + one + " b: " + one + " }", "{ ...f a: " + one + " } fragment f on Query { " + one + " }",
		"query ($yes: Boolean = true) { " + one + " viewer @include(if: $yes) { subject } }",
	} {
		w := c.Do("POST", "/graphql", `{"query":`+servertest.Encode(t, document)+`}`)
		if !strings.Contains(w.Body.String(), "must be the only field") || !strings.Contains(w.Body.String(), "GRAPHQL_VALIDATION_FAILED") {
			t.Errorf("%s: %s", document, w.Body)
		}
	}
	if s.asked != 0 {
		t.Errorf("the sources were asked %d times", s.asked)
	}
	c.Want(t, "query ($no: Boolean = false) { ...f viewer @include(if: $no) { subject } } fragment f on Query { a: "+one+" }", "", `{"a":{"books":[{"name":"Bäche & <Ufer>"}]}}`)
	c.Want(t, "{ "+one[:6]+"(isbn: \"9\") @skip(if: true) { books { name } } }", "", `{}`)
	if s.asked != 1 {
		t.Errorf("the sources were asked %d times", s.asked)
	}
}

// TestLookupHoldsNoPermit reads the largest page while look-ups wait that cost more than all permits.
func TestLookupHoldsNoPermit(t *testing.T) {
	t.Parallel()
	begun, end := make(chan bool), make(chan bool)
	s := &sources{wait: func() { begun <- true; <-end }}
	c := serveLookups(t, catalogtest.SQLite(t), s, server.Config{Connections: 1})
	const waiting = 8
	var done []<-chan error
	for i := range waiting {
		done = append(done, task.Go(t.Context(), func() error {
			if i%2 == 0 {
				c.Get(t, lookUp, "")
			} else if w := c.Do("GET", "/api/lookup?isbn="+foundISBN, ""); w.Code != http.StatusOK {
				return errors.New(w.Body.String())
			}
			return nil
		}))
		<-begun
	}
	c.Want(t, `{ books(first: 1000) { nodes { id } } }`, "", `{"books":{"nodes":[]}}`)
	close(end)
	for _, done := range done {
		servertest.Must(t, <-done)
	}
}

package server_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// TestInternalTextStaysInside lets resolvers panic and fail with errors that
// tell of the inside: no endpoint says a word of it, and the log has it all.
func TestInternalTextStaysInside(t *testing.T) {
	t.Parallel()
	const inside = `pq: relation "secrets" does not exist at /srv/catalogue`
	for name, fail := range map[string]func() error{
		"panic with an error": func() error { panic(errors.New(inside)) },
		"panic with a text":   func() error { panic(inside) },
		"an error":            func() error { return errors.New(inside) },
		"an error of ours": func() error {
			return &model.Error{Code: model.Internal, Message: "Internal server error", Err: errors.New(inside)}
		},
		"a wrapped one": func() error { return fmt.Errorf("read: %w", errors.New(inside)) },
	} {
		t.Run(name, func(t *testing.T) {
			c := servertest.Serve(t, catalogtest.SQLite(t), func(r *resolvers.Resolver) server.Catalogue { return servertest.NewFailing(r, fail) })
			shelvesWithoutBooks(t, c)
			for document, path := range map[string]string{
				"{ books { totalCount } }":                                                 "books",
				"{ a: book(id: 1) { id } genre(id: 1) { name } }":                          "a",
				"{ genre(id: 1) { name category { name } } }":                              "genre category",
				"{ genres { nodes { category { name } } } }":                               "genres nodes 0 category",
				servertest.Mutations["createBook"]:                                         "createBook",
				"mutation { a: " + servertest.Mutations["createBook"][len("mutation { "):]: "a",
			} {
				a := c.Ask(t, document, "")
				if len(a.Errors) == 0 {
					t.Errorf("%s: there is no error", document)
					continue
				}
				at := false // fields beside each other fail in any order
				for _, f := range a.Errors {
					at = at || strings.Trim(fmt.Sprint(f.Path), "[]") == path
					if f.Message != "Internal server error" || f.Extensions.Code != "INTERNAL" || f.Extensions.RequestID != "test" {
						t.Errorf("%s: %+v, want INTERNAL", document, f)
					}
				}
				if !at {
					t.Errorf("%s: %+v, want one at %s", document, a.Errors, path)
				}
				if text := servertest.Encode(t, a); strings.Contains(text, "secrets") || strings.Contains(text, "srv") {
					t.Errorf("%s: the answer tells of the inside: %s", document, text)
				}
			}
			for _, target := range []string{"/api/books", "/api/books/1", "/api/books?per_page=1"} {
				w := c.Do(http.MethodGet, target, "")
				if w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), `"message":"Internal server error"`) {
					t.Errorf("%s: status %d: %s", target, w.Code, w.Body)
				}
				if strings.Contains(w.Body.String(), "secrets") {
					t.Errorf("%s: the answer tells of the inside: %s", target, w.Body)
				}
			}
			if !c.Log.Has("secrets") || !c.Log.Has("request_id=test") {
				t.Errorf("the log does not tell what happened:\n%.2000s", c.Log)
			}
			c.Want(t, "{ genre(id: 1) { name } }", "", `{"genre":{"name":"Fantasy"}}`) // it goes on
		})
	}
}

// TestOutcomeUnknown lets a write fail of which nobody knows whether it is stored,
// and one that is not: both endpoints say which it is, with a key and without.
func TestOutcomeUnknown(t *testing.T) {
	t.Parallel()
	const unknown, away = "Send the request again with the same Idempotency-Key.", "Try again in a moment."
	for message, inDoubt := range map[string]bool{unknown: true, away: false} {
		c := servertest.Serve(t, catalogtest.SQLite(t), func(r *resolvers.Resolver) server.Catalogue {
			return servertest.NewFailing(r, func() error { return &model.Error{Code: model.Unavailable, InDoubt: inDoubt, Message: message} })
		})
		shelvesWithoutBooks(t, c)
		for _, header := range []string{"Accept: */*", "Idempotency-Key: k"} {
			f := c.WantError(t, servertest.Mutations["createBook"], "", "UNAVAILABLE", message, header)
			if (f.Extensions.Outcome == "UNKNOWN") != inDoubt || !inDoubt && f.Extensions.Outcome != "" {
				t.Errorf("%q, %s: the outcome is %q", message, header, f.Extensions.Outcome)
			}
			w := c.Do(http.MethodPost, "/api/books", `{"name":"Momo","pages":304,"published_at":"1973-01-01","author":"Michael Ende","price":9.99,"genre_id":1}`, header)
			if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") != "1" || !strings.Contains(w.Body.String(), message) {
				t.Errorf("%q, %s: status %d, Retry-After %q: %s", message, header, w.Code, w.Header().Get("Retry-After"), w.Body)
			}
		}
	}
}

// TestOutcomeStored sends mutations whose payload fails in part. Each error says that the mutation is stored, except
// with an Idempotency-Key, which takes all back.
func TestOutcomeStored(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	for document, outcome := range map[string]string{
		`mutation { createCategory(input: {name: "A"}) { category { genres(first: -1) { totalCount } } } }`:        "STORED",
		`mutation { createCategory(input: {name: "B"}) { category { history(after: "x") { hasMore } } } }`:         "STORED",
		`mutation { createCategory(input: {name: ""}) { category { id } } }`:                                       "",
		`mutation { createGenre(input: {name: "C", categoryId: 99}) { genre { history(first: 0) { hasMore } } } }`: "",
	} {
		for _, header := range []string{"Accept: */*", "Idempotency-Key: " + strings.Repeat("k", len(document))} {
			want := outcome
			if header != "Accept: */*" {
				want = ""
			}
			before := servertest.Revision(t, c.Store)
			f := c.WantError(t, document, "", "BAD_USER_INPUT", "", header)
			if stored := servertest.Revision(t, c.Store) != before; f.Extensions.Outcome != want || stored != (want != "") {
				t.Errorf("%s, %s: the outcome is %q, want %q, and it is stored: %t", document, header, f.Extensions.Outcome, want, stored)
			}
		}
	}
}

func shelvesWithoutBooks(t *testing.T, c *servertest.Client) {
	t.Helper()
	category, err := c.Store.Categories.Create(t.Context(), &model.CreateCategoryInput{Name: "Fiction"})
	servertest.Must(t, err)
	_, err = c.Store.Genres.Create(t.Context(), &model.CreateGenreInput{Name: "Fantasy", CategoryID: category.ID})
	servertest.Must(t, err)
}

// TestDatabaseAway kills the database under the server, and brings it back.
func TestDatabaseAway(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	c := servertest.Serve(t, catalogtest.Migrate(t, cluster.Database(t)))
	c.Shelves(t)
	ready := func(want int) {
		t.Helper()
		if w := c.Do(http.MethodGet, "/readyz", ""); w.Code != want {
			t.Errorf("/readyz: status %d, want %d: %s", w.Code, want, w.Body)
		}
		if w := c.Do(http.MethodGet, "/healthz", ""); w.Code != http.StatusOK {
			t.Errorf("/healthz: status %d", w.Code)
		}
	}
	ready(http.StatusOK)
	cluster.Kill(t)
	for _, document := range []string{"{ books { nodes { genre { name } } } }", "{ book(id: 1) { name } }", "{ books { totalCount } }", servertest.Mutations["createBook"], servertest.Mutations["deleteGenre"]} {
		f := c.WantError(t, document, "", "UNAVAILABLE", "The database did not answer. Try again in a moment.")
		if len(f.Path) == 0 {
			t.Errorf("%s: it has no path", document)
		}
	}
	for target, method := range map[string]string{"/api/books": "GET", "/api/books/1": "GET", "/api/genres": "GET", "/api/categories/1": "DELETE"} {
		w := c.Do(method, target, "")
		if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || strings.Contains(w.Body.String(), "socket") {
			t.Errorf("%s %s: status %d, Retry-After %q: %s", method, target, w.Code, w.Header().Get("Retry-After"), w.Body)
		}
	}
	ready(http.StatusServiceUnavailable)
	cluster.Start(t)
	ready(http.StatusOK)
	c.Want(t, "{ books { totalCount } }", "", `{"books":{"totalCount":4}}`)
	c.Get(t, servertest.Mutations["deleteGenre"], "")
}

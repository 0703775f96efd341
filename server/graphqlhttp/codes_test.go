package graphqlhttp_test

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"library-catalogue/edge/auth"
	"library-catalogue/edge/ratelimit"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

// TestErrorCodes provokes each kind of error: each has its code and the request's
// id, and those about fields name them.
func TestErrorCodes(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		for document, want := range map[string]struct{ code, message, field string }{
			`{ books(first: -1) { totalCount } }`:                                           {"BAD_USER_INPUT", "The first argument", "first"},
			`{ books(filter: {name: {eq: null}}) { totalCount } }`:                          {"BAD_USER_INPUT", "The filter.name.eq operand must not be null", "filter.name.eq"},
			`mutation { createCategory(input: {name: ""}) { category { id } } }`:            {"BAD_USER_INPUT", "The name field is required.", "name"},
			`mutation { deleteBook(input: {id: 99}) { deletedBookId } }`:                    {"NOT_FOUND", "Book not found", ""},
			`mutation { deleteGenre(input: {id: 1}) { deletedGenreId } }`:                   {"CONFLICT", "Genre has 2 books", ""},
			`mutation { deleteBook(input: {id: 1, expectedVersion: 9}) { deletedBookId } }`: {"CONFLICT", "was changed by someone else", ""},
			`{ categories(first: 1000) { nodes { books(first: 1000) { nodes { id } } } } }`: {"COST_LIMIT_EXCEEDED", "the limit is 50000", ""},
			chain(13):                             {"DEPTH_LIMIT_EXCEEDED", " 12 ", ""},
			"{" + repeat(21, "__typename") + " }": {"TOO_LARGE", " 20 ", ""},
			`{ cars }`:                            {"GRAPHQL_VALIDATION_FAILED", "cars", ""},
			`{ ... @defer { __typename } }`:       {"GRAPHQL_VALIDATION_FAILED", "@defer", ""},
			`{ books`:                             {"GRAPHQL_PARSE_FAILED", "", ""},
		} {
			got := c.WantError(t, document, "", want.code, want.message)
			if fields := got.Extensions.Fields; (len(fields) == 1) != (want.field != "") || len(fields) == 1 && fields[0].Field != want.field {
				t.Errorf("%s: the fields are %+v, want %q", document, fields, want.field)
			}
		}
		const write = `mutation { deleteBook(input: {id: 1}) { deletedBookId } }`
		c.WantError(t, write, "", "UNAUTHENTICATED", "", "Authorization:")
		gone, leave := context.WithCancel(t.Context())
		leave()
		unavailable := servertest.Parse(t, c.DoContext(gone, http.MethodPost, "/graphql", `{"query":"{ books { totalCount } }"}`))
		if len(unavailable.Errors) != 1 || unavailable.Errors[0].Extensions.Code != "UNAVAILABLE" {
			t.Errorf("without time to answer: %+v", unavailable)
		}
		other := func(change func(*server.Config)) *servertest.Client {
			cfg := server.Config{Catalogue: c.Catalogue, Authenticate: c.Authenticate}
			change(&cfg)
			return &servertest.Client{Handler: servertest.NewHandler(t, c.Log, cfg), Token: c.Token}
		}
		scoped, err := auth.New(t.Context(), auth.Config{Secret: servertest.Secret, Scoped: true})
		servertest.Must(t, err)
		other(func(cfg *server.Config) { cfg.Authenticate = scoped.Middleware }).
			WantError(t, write, "", "FORBIDDEN", "The token lacks the scope books:delete.", "Authorization: Bearer "+servertest.TokenFor(t, "books:update"))
		other(func(cfg *server.Config) {
			cfg.Catalogue = servertest.NewFailing(resolvers.New(c.Store), func() error { return errors.New("the inside") })
		}).WantError(t, `{ book(id: 1) { id } }`, "", "INTERNAL", "Internal server error")
		slow := other(func(cfg *server.Config) { cfg.Rate = ratelimit.Rate{PerSecond: 1.0 / (1 << 20), Burst: 1} })
		slow.Want(t, `{ book(id: 1) { id } }`, "", `{"book":{"id":"1"}}`)
		if w := slow.Do(http.MethodPost, "/graphql", `{"query":"{ book(id: 1) { id } }"}`); w.Code != http.StatusTooManyRequests || servertest.Parse(t, w).Errors[0].Extensions.Code != "RATE_LIMITED" {
			t.Errorf("the second request: status %d", w.Code)
		}
		c.Want(t, `{ books { totalCount } genres { totalCount } categories { totalCount } }`, "",
			`{"books":{"totalCount":4},"genres":{"totalCount":3},"categories":{"totalCount":2}}`)
	})
}

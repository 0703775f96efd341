package server_test

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/auth"
	"library-catalogue/server/ratelimit"
)

// TestErrorCodes provokes each kind of error: each has its code and the request's
// id, and those about fields name them.
func TestErrorCodes(t *testing.T) {
	onEach(t, func(t *testing.T, c *client) {
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
			`{ books`:                             {"GRAPHQL_PARSE_FAILED", "", ""},
		} {
			got := c.wantError(t, document, "", want.code, want.message)
			if fields := got.Extensions.Fields; (len(fields) == 1) != (want.field != "") || len(fields) == 1 && fields[0].Field != want.field {
				t.Errorf("%s: the fields are %+v, want %q", document, fields, want.field)
			}
		}
		const write = `mutation { deleteBook(input: {id: 1}) { deletedBookId } }`
		c.wantError(t, write, "", "UNAUTHENTICATED", "", "Authorization:")
		gone, leave := context.WithCancel(t.Context())
		leave()
		unavailable := parse(t, c.doContext(gone, http.MethodPost, "/graphql", `{"query":"{ books { totalCount } }"}`))
		if len(unavailable.Errors) != 1 || unavailable.Errors[0].Extensions.Code != "UNAVAILABLE" {
			t.Errorf("without time to answer: %+v", unavailable)
		}
		other := func(change func(*server.Config)) *client {
			cfg := server.Config{Catalogue: c.catalogue, Authenticate: c.authenticate}
			change(&cfg)
			return &client{handler: newHandler(t, c.log, cfg), token: c.token}
		}
		scoped, err := auth.New(t.Context(), auth.Config{Secret: secret, Scoped: true})
		must(t, err)
		other(func(cfg *server.Config) { cfg.Authenticate = scoped.Middleware }).
			wantError(t, write, "", "FORBIDDEN", "The token lacks the scope books:delete.", "Authorization: Bearer "+tokenFor(t, "books:update"))
		other(func(cfg *server.Config) {
			cfg.Catalogue = failing{resolvers.New(c.store), func() error { return errors.New("the inside") }}
		}).wantError(t, `{ book(id: 1) { id } }`, "", "INTERNAL", "Internal server error")
		slow := other(func(cfg *server.Config) { cfg.Rate = ratelimit.Rate{PerSecond: 1.0 / (1 << 20), Burst: 1} })
		slow.want(t, `{ book(id: 1) { id } }`, "", `{"book":{"id":"1"}}`)
		if w := slow.do(http.MethodPost, "/graphql", `{"query":"{ book(id: 1) { id } }"}`); w.Code != http.StatusTooManyRequests || parse(t, w).Errors[0].Extensions.Code != "RATE_LIMITED" {
			t.Errorf("the second request: status %d", w.Code)
		}
		c.want(t, `{ books { totalCount } genres { totalCount } categories { totalCount } }`, "",
			`{"books":{"totalCount":4},"genres":{"totalCount":3},"categories":{"totalCount":2}}`)
	})
}

// TestNothingAndEverything passes lists of no conditions: or is true of no row, and
// and of all.
func TestNothingAndEverything(t *testing.T) {
	onEach(t, func(t *testing.T, c *client) {
		for filter, count := range map[string]string{
			`{}`: "4", `{or: []}`: "0", `{and: []}`: "4", `{not: {or: []}}`: "4", `{not: {}}`: "0", `{or: [{}]}`: "4", `{or: [], pages: {gt: 0}}`: "0",
			`{name: {}}`: "4", `{id: {in: []}}`: "0", `{id: {notIn: []}}`: "4", `{genre: {}}`: "4", `{genre: {or: []}}`: "0", `{genre: {books: {none: {or: []}}}}`: "4",
		} {
			c.want(t, `{ books(filter: `+filter+`) { totalCount } }`, "", `{"books":{"totalCount":`+count+`}}`)
		}
	})
}

// TestSchemaIsServed reads the whole schema as tools do: each thing that a client
// sees has a description and a name of its kind, and each scalar says where it is
// specified.
func TestSchemaIsServed(t *testing.T) {
	t.Parallel()
	type named struct{ Name, Description string }
	const document = `{ __schema { types { kind name description specifiedByURL fields(includeDeprecated: true) { name description args { name description } }
		inputFields { name description } enumValues(includeDeprecated: true) { name description } } } }`
	const rfc3339, specification = "https://www.rfc-editor.org/rfc/rfc3339#section-5.6", "https://spec.graphql.org/October2021/#sec-Scalars"
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := serve(t, url)
		var served struct {
			Schema struct {
				Types []struct {
					named
					Kind           string
					SpecifiedByURL string
					Fields         []struct {
						named
						Args []named
					}
					InputFields, EnumValues []named
				}
			} `json:"__schema"`
		}
		unmarshal(t, c.get(t, document, ""), &served)
		check := func(of, pattern string, n named) {
			if n.Description == "" || !regexp.MustCompile(pattern).MatchString(n.Name) {
				t.Errorf("%s%s is described as %q", of, n.Name, n.Description)
			}
		}
		const typename, field, value = `^[A-Z][a-zA-Z]*$`, `^[a-z][a-zA-Z]*$`, `^[A-Z]+(_[A-Z]+)*$`
		specified := map[string]string{}
		for _, of := range served.Schema.Types {
			if strings.HasPrefix(of.Name, "__") {
				continue
			}
			check("", typename, of.named)
			if of.SpecifiedByURL != "" {
				specified[of.Name] = of.SpecifiedByURL
			}
			for _, f := range of.Fields {
				check(of.Name+".", field, f.named)
				for _, argument := range f.Args {
					check(of.Name+"."+f.Name+".", field, argument)
				}
			}
			for _, f := range of.InputFields {
				check(of.Name+".", field, f)
			}
			for _, v := range of.EnumValues {
				check(of.Name+".", value, v)
			}
		}
		want := map[string]string{"Date": rfc3339, "DateTime": rfc3339, "Decimal": specification, "BigInt": specification}
		if diff := cmp.Diff(want, specified); diff != "" {
			t.Errorf("where scalars are specified (-want +got):\n%s", diff)
		}
	})
}

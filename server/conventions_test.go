package server_test

import (
	"testing"

	"library-catalogue/db/dbtest"
)

// TestErrorCodes provokes each kind of error that a client can: each has its code
// and the request's id, and those about fields name them.
func TestErrorCodes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, url string) {
		c := serve(t, url)
		c.shelves(t)
		for document, want := range map[string]struct{ code, message, field string }{
			`{ books(first: -1) { totalCount } }`:                                           {"BAD_USER_INPUT", "The first argument", "first"},
			`{ books(filter: {name: {eq: null}}) { totalCount } }`:                          {"BAD_USER_INPUT", "The filter.name.eq operand must not be null", "filter.name.eq"},
			`mutation { createCategory(input: {name: ""}) { category { id } } }`:            {"BAD_USER_INPUT", "The name field is required.", "name"},
			`mutation { deleteBook(input: {id: 99}) { deletedBookId } }`:                    {"NOT_FOUND", "Book not found", ""},
			`mutation { deleteGenre(input: {id: 1}) { deletedGenreId } }`:                   {"CONFLICT", "Genre has 2 books", ""},
			`mutation { deleteBook(input: {id: 1, expectedVersion: 9}) { deletedBookId } }`: {"CONFLICT", "was changed by someone else", ""},
			`{ categories(first: 1000) { nodes { books(first: 1000) { nodes { id } } } } }`: {"COST_LIMIT_EXCEEDED", "50000 is allowed", ""},
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
		c.wantError(t, `mutation { deleteBook(input: {id: 1}) { deletedBookId } }`, "", "UNAUTHENTICATED", "", "Authorization:")
		c.want(t, `{ books { totalCount } genres { totalCount } categories { totalCount } }`, "",
			`{"books":{"totalCount":4},"genres":{"totalCount":3},"categories":{"totalCount":2}}`)
	})
}

// TestNothingAndEverything gives lists of no conditions: or is true of no row, and
// and of all.
func TestNothingAndEverything(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, url string) {
		c := serve(t, url)
		c.shelves(t)
		for filter, count := range map[string]string{
			`{}`: "4", `{or: []}`: "0", `{and: []}`: "4", `{not: {or: []}}`: "4", `{not: {}}`: "0", `{or: [{}]}`: "4", `{or: [], pages: {gt: 0}}`: "0",
			`{name: {}}`: "4", `{id: {in: []}}`: "0", `{id: {notIn: []}}`: "4", `{genre: {}}`: "4", `{genre: {or: []}}`: "0", `{genre: {books: {none: {or: []}}}}`: "4",
		} {
			c.want(t, `{ books(filter: `+filter+`) { totalCount } }`, "", `{"books":{"totalCount":`+count+`}}`)
		}
	})
}

// TestScalarsAreSpecified asks the service where its own scalars are described.
func TestScalarsAreSpecified(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, url string) {
		c := serve(t, url)
		const rfc, spec = `{"specifiedByURL":"https://www.rfc-editor.org/rfc/rfc3339#section-5.6"}`, `{"specifiedByURL":"https://spec.graphql.org/October2021/#sec-Scalars"}`
		c.want(t, `{ date: __type(name: "Date") { ...s } moment: __type(name: "DateTime") { ...s } decimal: __type(name: "Decimal") { ...s } big: __type(name: "BigInt") { ...s } }
			fragment s on __Type { specifiedByURL }`, "", `{"date":`+rfc+`,"moment":`+rfc+`,"decimal":`+spec+`,"big":`+spec+`}`)
	})
}

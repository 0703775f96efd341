package graphqlhttp_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/server/servertest"
)

// TestVariablesAreOfTheirType passes variables that the specification says are
// not of the type, at every depth. As literals they are not taken either.
func TestVariablesAreOfTheirType(t *testing.T) {
	c := servertest.Shelved(t)
	for typename, of := range map[string]struct {
		document       string
		taken, refused []string
	}{
		"Int":      {"query ($v: Int) { books(first: $v) { totalCount } }", []string{"1", "0", "null"}, []string{`"1"`, "1.5", "true", "2147483648", "-2147483649", `{}`, `[]`, `[1]`}},
		"String":   {"query ($v: String) { books(after: $v) { totalCount } }", []string{"null"}, []string{"1", "1.5", "true", `{}`, `[]`, `["a"]`}},
		"Boolean!": {"query ($v: Boolean!) { __typename @skip(if: $v) }", []string{"true", "false"}, []string{`"true"`, "1", "null", `[true]`}},
		"ID!":      {"query ($v: ID!) { book(id: $v) { id } }", []string{"1", `"1"`, `"x"`, "99999999999999999999"}, []string{"1.5", "1e3", "true", "null", `{}`, `["1"]`}},
		"[ID!]!":   {"query ($v: [ID!]!) { nodes(nodeIds: $v) { nodeId } }", []string{`"x"`, "1", `["x", 1]`, `[]`}, []string{"[1.5]", "[true]", "[null]", `[["x"]]`, `{}`}},
		"name in an input": {"mutation ($v: CreateCategoryInput!) { createCategory(input: $v) { category { id } } }",
			[]string{`{"name":"x"}`, `{"name":"x","description":null}`}, []string{`{"name":7}`, `{"name":1.5}`, `{"name":true}`, `{"name":["x"]}`, `{"name":"x","description":7}`, `{"name":"x","description":false}`, `[]`, `"x"`, `{"name":"x","isbn":1}`}},
		"enum in an input": {"mutation ($v: DeleteGenreInput!) { deleteGenre(input: $v) { deletedGenreId } }",
			[]string{`{"id":3,"onChildren":"RESTRICT"}`}, []string{`{"id":3,"onChildren":"restrict"}`, `{"id":3,"onChildren":1}`, `{"id":3,"onChildren":true}`, `{"id":3,"onChildren":["RESTRICT"]}`, `{"id":1.5}`}},
		"number in an input": {"mutation ($v: UpdateBookInput!) { updateBook(input: $v) { book { id } } }",
			[]string{`{"id":1,"expectedVersion":1,"patch":{"pages":1}}`}, []string{`{"id":1,"expectedVersion":"1","patch":{}}`, `{"id":1,"patch":{"pages":"1"}}`, `{"id":1,"patch":{"pages":1.5}}`, `{"id":1,"patch":{"author":7}}`}},
	} {
		for _, value := range of.taken {
			if a := c.Ask(t, of.document, `{"v":`+value+`}`); len(a.Errors) > 0 && a.Errors[0].Extensions.Code != "NOT_FOUND" {
				t.Errorf("%s of %s: %+v", value, typename, a.Errors)
			}
		}
		for _, value := range of.refused {
			c.WantError(t, of.document, `{"v":`+value+`}`, "GRAPHQL_VALIDATION_FAILED", "")
		}
	}
}

// TestVariablesAreNamed looks at what is said of wrong variables: which one it is,
// with no path, which is that of a field in an answer.
func TestVariablesAreNamed(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	for variables, message := range map[string]string{
		`{}`:                                    "Variable $v: must be defined.",
		`{"v":null}`:                            "Variable $v: cannot be null.",
		`{"v":7}`:                               "Variable $v: must be an object of type CreateBooksInput.",
		`{"v":{"books":[],"isbn":1}}`:           "Variable $v.isbn: unknown field.",
		`{"v":{"books":[{"name":7}]}}`:          "Variable $v.books[0].name: String cannot represent 7.",
		`{"v":{"books":[],"errorPolicy":"NO"}}`: `Variable $v.errorPolicy: ErrorPolicy cannot represent "NO".`,
	} {
		f := c.WantError(t, "mutation ($v: CreateBooksInput!) { createBooks(input: $v) { count } }", variables, "GRAPHQL_VALIDATION_FAILED", message)
		if f.Path != nil {
			t.Errorf("%s: path %v", variables, f.Path)
		}
	}
}

// TestScalarsAreChecked passes variables that scalars of our own refuse: no field is
// run, and each is named as its input's errors name it.
func TestScalarsAreChecked(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		before := c.Lengths(t)
		const create = "mutation (DEFINED) { first: createCategory(input: {name: \"Not kept\"}) { category { id } } createBook(input: INPUT) { book { id } } }"
		for _, tt := range []struct{ defined, input, variables, want string }{
			{"$p: Decimal!", `{name: "A", pages: 1, publishedAt: "2000-01-01", author: "A", genreId: 1, price: $p}`, `{"p":"12,50"}`, "p: The p field must be a number."},
			{"$input: CreateBookInput!", "$input", `{"input":{"name":"A","pages":1,"author":"A","genreId":1,"price":[1],"publishedAt":"2023-02-29"}}`,
				"price: The price field must be a number.; publishedAt: The published at field must be a valid date."},
			{"$genre: CreateBookGenreInput!", `{name: "A", pages: 1, publishedAt: "2000-01-01", author: "A", price: 1, genre: $genre}`, `{"genre":{}}`,
				"genre: The genre field must have exactly one of connect and create."}, // a part of an input
			{"$f: BookFilter", `{name: "A", pages: 1, publishedAt: "2000-01-01", author: "A", genreId: 1, price: 1}) { book { genre { books(filter: $f) { totalCount } } } } other: createBook(input: {name: "A", pages: 1, publishedAt: "2000-01-01", author: "A", genreId: 1, price: 1}`,
				`{"f":{"createdAt":{"gt":"2000-01-01"},"or":[{"id":{"eq":1}},{"publishedAt":{"in":["2000-01-01",7]}}]}}`,
				"f.createdAt.gt: The f.createdAt.gt field must be a valid date and time.; f.or.1.publishedAt.in.1: The f.or.1.publishedAt.in.1 field must be a valid date."},
		} {
			document := strings.NewReplacer("DEFINED", tt.defined, "INPUT", tt.input).Replace(create)
			f := c.WantError(t, document, tt.variables, "BAD_USER_INPUT", "")
			var got []string
			for _, field := range f.Extensions.Fields {
				got = append(got, field.Field+": "+field.Message)
			}
			if got := strings.Join(got, "; "); got != tt.want || f.Path != nil {
				t.Errorf("%s: %s at %v, want %s", tt.variables, got, f.Path, tt.want)
			}
			body := servertest.Encode(t, map[string]any{"query": document, "variables": json.RawMessage(tt.variables)})
			if w := c.Do(http.MethodPost, "/graphql", body, "Accept: application/graphql-response+json"); w.Code != http.StatusUnprocessableEntity || strings.Contains(w.Body.String(), `"data"`) {
				t.Errorf("%d: %s", w.Code, w.Body)
			}
		}
		if after := c.Lengths(t); after != before {
			t.Errorf("%v, before %v", after, before)
		}
	})
}

// TestOddValues passes values of the wrong type or size, as literals, variables
// and defaults: the client is told so, and never that the server has failed.
func TestOddValues(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		values := []string{
			"0", "-0", "1", "-1", "1.5", "1e3", "2147483648", "-2147483649", "99999999999", "9223372036854775807", "9223372036854775808",
			"99999999999999999999", "-99999999999999999999", "1e999", "-1e999", "1e-999", "0.1e-400", strings.Repeat("9", 400), "0." + strings.Repeat("1", 400),
			`""`, `"x"`, `"1"`, `"99999999999999999999"`, `"1e999"`, `"\u0000"`, `"2000-01-01"`, `"2000-01-01T00:00:00Z"`, "true", "null",
			"[]", "[1]", "[[1]]", "[99999999999999999999]", "[null]", "{}", `{"a":1}`, `{"a":99999999999999999999}`, `{"a":{"b":[1e999]}}`, `"🐉"`,
		}
		inputs := []string{
			"createBook CreateBookInput: name description pages publishedAt author price genreId clientMutationId",
			"createBook CreateBookInput: name pages publishedAt author price genre",
			"updateBook UpdateBookInput: id patch expectedVersion clientMutationId",
			"upsertBook UpsertBookInput: id name description pages publishedAt author price genreId expectedVersion",
			"deleteBook DeleteBookInput: id expectedVersion",
			"createBooks CreateBooksInput: books errorPolicy",
			"updateBooks UpdateBooksInput: filter patch atMost",
			"deleteBooks DeleteBooksInput: filter atMost",
			"createGenre CreateGenreInput: name description categoryId",
			"createGenre CreateGenreInput: name category",
			"updateGenre UpdateGenreInput: id patch expectedVersion",
			"deleteGenre DeleteGenreInput: id expectedVersion onChildren reassignTo",
			"deleteGenres DeleteGenresInput: filter atMost onChildren reassignTo errorPolicy",
			"createCategory CreateCategoryInput: name description",
			"updateCategory UpdateCategoryInput: id patch expectedVersion",
			"upsertCategory UpsertCategoryInput: id name expectedVersion",
			"deleteCategory DeleteCategoryInput: id expectedVersion onChildren reassignTo",
		}
		good := map[string]string{
			"name": `"N"`, "pages": "1", "publishedAt": `"2000-01-01"`, "author": `"A"`, "price": "1", "genreId": "1", "categoryId": "1", "id": "99", "patch": "{}",
			"filter": `{"id":{"eq":99}}`,
		}
		// Some values stand deeper in an input.
		deeper := map[string][]string{
			"genre":    {`{"connect":%s}`, `{"connect":{"id":%s}}`, `{"create":%s}`, `{"create":{"name":%s,"categoryId":1}}`, `{"create":{"name":"N","category":%s}}`},
			"category": {`{"connect":{"id":%s}}`, `{"create":%s}`, `{"create":{"name":"N","description":%s}}`},
			"books":    {`[%s]`, `[{"name":%s,"pages":1,"publishedAt":"2000-01-01","author":"A","price":1,"genreId":1}]`},
			"filter":   {`{"id":%s}`, `{"id":{"in":%s}}`},
		}
		check := func(document, variables string) {
			t.Helper()
			a := c.Ask(t, document, variables)
			for _, f := range a.Errors {
				switch f.Extensions.Code {
				case "BAD_USER_INPUT", "NOT_FOUND", "CONFLICT", "GRAPHQL_VALIDATION_FAILED", "GRAPHQL_PARSE_FAILED":
				default:
					t.Errorf("%.300s %.300s: %+v", document, variables, f)
				}
			}
		}
		keys := regexp.MustCompile(`"(\w+)":`)
		literal := func(value string) string { return keys.ReplaceAllString(value, "$1: ") }
		for _, line := range inputs {
			head, names, _ := strings.Cut(line, ": ")
			mutation, typename, _ := strings.Cut(head, " ")
			for _, name := range strings.Fields(names) {
				input := map[string]string{}
				for _, other := range strings.Fields(names) {
					if value, ok := good[other]; ok {
						input[other] = value
					}
				}
				for _, place := range append([]string{"%s"}, deeper[name]...) {
					for _, value := range values {
						input[name] = strings.Replace(place, "%s", value, 1)
						var literals, variables []string
						for name, value := range input {
							literals = append(literals, name+": "+literal(value))
							variables = append(variables, `"`+name+`":`+value)
						}
						check("mutation { "+mutation+"(input: {"+strings.Join(literals, ", ")+"}) { clientMutationId } }", "")
						check("mutation ($input: "+typename+"!) { "+mutation+"(input: $input) { clientMutationId } }", `{"input":{`+strings.Join(variables, ",")+"}}")
					}
				}
			}
		}
		for _, value := range values {
			for _, name := range []string{"name", "description", "pages", "publishedAt", "author", "price", "genreId"} {
				check("mutation { updateBook(input: {id: 99, patch: {"+name+": "+literal(value)+"}}) { clientMutationId } }", "")
				check("mutation ($p: BookPatch!) { updateBook(input: {id: 99, patch: $p}) { clientMutationId } }", `{"p":{"`+name+`":`+value+"}}")
			}
			for argument, typename := range map[string]string{"first": "Int", "last": "Int", "offset": "Int", "after": "String", "before": "String"} {
				check("{ books("+argument+": "+literal(value)+") { totalCount nodes { id } } }", "")
				check("query ($v: "+typename+") { books("+argument+": $v) { totalCount nodes { id } } }", `{"v":`+value+"}")
				check("query ($v: "+typename+" = "+literal(value)+") { genre(id: 1) { books("+argument+": $v) { totalCount nodes { id } } } }", "")
			}
			for argument, typename := range map[string]string{"node(nodeId": "ID!", "nodes(nodeIds": "[ID!]!"} {
				check("{ "+argument+": "+literal(value)+") { nodeId } }", "")
				check("query ($v: "+typename+") { "+argument+": $v) { nodeId } }", `{"v":`+value+"}")
			}
			check("{ book(id: 1) { id @include(if: "+literal(value)+") } }", "")
			check("query ($v: Boolean!) { book(id: 1) { id @skip(if: $v) name } }", `{"v":`+value+"}")
		}
		for _, text := range []string{"panic", "level=ERROR"} {
			if c.Log.Has(text) {
				t.Errorf("the log has %q:\n%.2000s", text, c.Log)
			}
		}
	})
}

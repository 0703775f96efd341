package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// TestTransport sends requests that are not, or not quite, GraphQL over HTTP.
func TestTransport(t *testing.T) {
	onEach(t, func(t *testing.T, c *client) {
		const query, data = `{"query":"{ book(id: 1) { name } }"}`, `{"data":{"book":{"name":"The Hobbit"}}}`
		mutation := encode(t, map[string]string{"query": mutations["deleteBook"]})
		long := func(n int) string { // a request of n bytes
			return `{"query":"{ book(id: 1) { name } }` + strings.Repeat(" ", n-len(query)) + `"}`
		}
		get := func(query string) string { return "/graphql?query=" + url.QueryEscape(query) }
		for name, request := range map[string]struct {
			method, target, body string
			headers              []string
			status               int
			want                 string // the body, or the error's code
		}{
			"POST":                          {"POST", "/graphql", query, nil, 200, data},
			"POST with charset":             {"POST", "/graphql", query, []string{"Content-Type: application/json; charset=utf-8"}, 200, data},
			"POST with everything":          {"POST", "/graphql", `{"query":"query A { book(id: 1) { name } } query B { book(id: 2) { name } }","operationName":"A","variables":{},"extensions":{}}`, nil, 200, data},
			"POST with nulls":               {"POST", "/graphql", `{"query":"{ book(id: 1) { name } }","operationName":null,"variables":null,"extensions":null}`, nil, 200, data},
			"POST with unknown keys":        {"POST", "/graphql", `{"query":"{ book(id: 1) { name } }","headers":{"Authorization":["Bearer x"]},"more":1}`, nil, 200, data},
			"POST with space":               {"POST", "/graphql", " \n" + query + "\n ", nil, 200, data},
			"POST of exactly 1 MiB":         {"POST", "/graphql", long(1 << 20), nil, 200, data},
			"GET":                           {"GET", get("{ book(id: 1) { name } }"), "", nil, 200, data},
			"GET with variables":            {"GET", get("query A($id: ID!) { book(id: $id) { name } }") + "&variables=" + url.QueryEscape(`{"id":1}`) + "&operationName=A", "", nil, 200, data},
			"GET without a content type":    {"GET", get("{ book(id: 1) { name } }"), "", []string{"Content-Type:"}, 200, data},
			"GET of a mutation":             {"GET", get(mutations["deleteBook"]), "", nil, 405, "BAD_USER_INPUT"},
			"GET of one of two operations":  {"GET", get("query A { book(id: 1) { name } } "+strings.Replace(mutations["deleteBook"], "mutation", "mutation B", 1)) + "&operationName=B", "", nil, 405, "BAD_USER_INPUT"},
			"GET with bad variables":        {"GET", get("{ book(id: 1) { name } }") + "&variables=[1]", "", nil, 400, "BAD_USER_INPUT"},
			"GET with trailing variables":   {"GET", get("{ book(id: 1) { name } }") + "&variables={}{}", "", nil, 400, "BAD_USER_INPUT"},
			"GET with bad extensions":       {"GET", get("{ book(id: 1) { name } }") + "&extensions=x", "", nil, 400, "BAD_USER_INPUT"},
			"GET of nothing":                {"GET", "/graphql", "", nil, 400, "BAD_USER_INPUT"},
			"PUT":                           {"PUT", "/graphql", query, nil, 405, "BAD_USER_INPUT"},
			"DELETE":                        {"DELETE", "/graphql", "", nil, 405, "BAD_USER_INPUT"},
			"HEAD of a mutation":            {"HEAD", get(mutations["deleteBook"]), "", nil, 405, "BAD_USER_INPUT"},
			"OPTIONS":                       {"OPTIONS", "/graphql", "", nil, 405, "BAD_USER_INPUT"},
			"POST with charset in capitals": {"POST", "/graphql", query, []string{`Content-Type: Application/JSON; charset="UTF-8"`}, 200, data},
			"another charset":               {"POST", "/graphql", query, []string{"Content-Type: application/json; charset=iso-8859-1"}, 415, "BAD_USER_INPUT"},
			"a batch":                       {"POST", "/graphql", "[" + query + "," + query + "]", nil, 400, "BAD_USER_INPUT"},
			"two queries":                   {"POST", "/graphql", `{"query":"{ a }","query":"{ book(id: 1) { name } }"}`, nil, 400, "BAD_USER_INPUT"},
			"two queries, one escaped":      {"POST", "/graphql", `{"query":"{ a }","\u0071uery":"{ book(id: 1) { name } }"}`, nil, 400, "BAD_USER_INPUT"},
			"a query in capitals":           {"POST", "/graphql", `{"Query":"{ a }","query":"{ book(id: 1) { name } }"}`, nil, 200, data},
			"an escaped query":              {"POST", "/graphql", `{"\u0071uery":"{ book(id: 1) { \u006eame } }"}`, nil, 200, data},
			"a variable twice":              {"POST", "/graphql", `{"query":"{ book(id: 1) { name } }","variables":{"a":{"b":1,"c":[{"d":1,"d":2}]}}}`, nil, 400, "BAD_USER_INPUT"},
			"one of many variables twice":   {"POST", "/graphql", `{"query":"{ book(id: 1) { name } }","variables":{"a7":0` + repeat(40, `,"a%d":1`) + `}}`, nil, 400, "BAD_USER_INPUT"},
			"many variables":                {"POST", "/graphql", `{"query":"{ book(id: 1) { name } }","variables":{"a":0` + repeat(40, `,"a%d":{"a%d":[1,true,null,"]"]}`) + `}}`, nil, 200, data},
			"a string for variables":        {"POST", "/graphql", `{"query":"{ book(id: 1) { name } }","variables":"{}"}`, nil, 400, "BAD_USER_INPUT"},
			"a list for extensions":         {"POST", "/graphql", `{"query":"{ book(id: 1) { name } }","extensions":[]}`, nil, 400, "BAD_USER_INPUT"},
			"GET with nulls":                {"GET", get("{ book(id: 1) { name } }") + "&variables=null&extensions=null&operationName=", "", nil, 200, data},
			"GET of two queries":            {"GET", get("{ book(id: 1) { name } }") + "&query=x", "", nil, 400, "BAD_USER_INPUT"},
			"GET with a variable twice":     {"GET", get("{ book(id: 1) { name } }") + "&variables=" + url.QueryEscape(`{"a":1,"a":2}`), "", nil, 400, "BAD_USER_INPUT"},
			"GET with broken escapes":       {"GET", get("{ book(id: 1) { name } }") + "&variables=%zz", "", nil, 400, "BAD_USER_INPUT"},
			"GET of no UTF-8":               {"GET", "/graphql?query=%7Bbook(id:%22%ff%22)%7Bid%7D%7D", "", nil, 400, "BAD_USER_INPUT"},
			"no content type":               {"POST", "/graphql", mutation, []string{"Content-Type:"}, 415, "BAD_USER_INPUT"},
			"plain text":                    {"POST", "/graphql", mutation, []string{"Content-Type: text/plain"}, 415, "BAD_USER_INPUT"},
			"a form":                        {"POST", "/graphql", "query=" + url.QueryEscape(mutations["deleteBook"]), []string{"Content-Type: application/x-www-form-urlencoded"}, 415, "BAD_USER_INPUT"},
			"many parts":                    {"POST", "/graphql", mutation, []string{"Content-Type: multipart/form-data; boundary=x"}, 415, "BAD_USER_INPUT"},
			"bare GraphQL":                  {"POST", "/graphql", "{ book(id: 1) { name } }", []string{"Content-Type: application/graphql"}, 415, "BAD_USER_INPUT"},
			"a broken content type":         {"POST", "/graphql", mutation, []string{"Content-Type: application/json; ="}, 415, "BAD_USER_INPUT"},
			"no body":                       {"POST", "/graphql", "", nil, 400, "BAD_USER_INPUT"},
			"no JSON":                       {"POST", "/graphql", "{ book(id: 1) { name } }", nil, 400, "BAD_USER_INPUT"},
			"half of it":                    {"POST", "/graphql", mutation[:len(mutation)-1], nil, 400, "BAD_USER_INPUT"},
			"trailing bytes":                {"POST", "/graphql", mutation + "x", nil, 400, "BAD_USER_INPUT"},
			"a second request":              {"POST", "/graphql", mutation + mutation, nil, 400, "BAD_USER_INPUT"},
			"an array":                      {"POST", "/graphql", "[" + mutation + "]", nil, 400, "BAD_USER_INPUT"},
			"null":                          {"POST", "/graphql", "null", nil, 400, "BAD_USER_INPUT"},
			"a string":                      {"POST", "/graphql", `"{ book(id: 1) { name } }"`, nil, 400, "BAD_USER_INPUT"},
			"a number for the query":        {"POST", "/graphql", `{"query":1}`, nil, 400, "BAD_USER_INPUT"},
			"null for the query":            {"POST", "/graphql", `{"query":null}`, nil, 400, "BAD_USER_INPUT"},
			"an empty query":                {"POST", "/graphql", `{"query":""}`, nil, 400, "BAD_USER_INPUT"},
			"no query":                      {"POST", "/graphql", `{"extensions":{"more":1}}`, nil, 400, "BAD_USER_INPUT"},
			"an array of variables":         {"POST", "/graphql", `{"query":"{ book(id: 1) { name } }","variables":[1]}`, nil, 400, "BAD_USER_INPUT"},
			"a number for the operation":    {"POST", "/graphql", `{"query":"{ book(id: 1) { name } }","operationName":1}`, nil, 400, "BAD_USER_INPUT"},
			"invalid UTF-8":                 {"POST", "/graphql", "{\"query\":\"{ book(id: \\\"\xff\\\") { name } }\"}", nil, 400, "BAD_USER_INPUT"},
			"half of a surrogate pair":      {"POST", "/graphql", `{"query":"{ book(id: \"\ud83d\") { name } }"}`, nil, 400, "BAD_USER_INPUT"},
			"half a pair in a literal":      {"POST", "/graphql", `{"query":"{ book(id: \"\\ud83d\") { name } }"}`, nil, 200, "GRAPHQL_PARSE_FAILED"},
			"a pair in a literal":           {"POST", "/graphql", `{"query":"{ book(id: 1) { name } none: book(id: \"ü\\ud83d\\udc09 \\\\ud83d\") { id } } # \\ud83d"}`, nil, 200, `{"data":{"book":{"name":"The Hobbit"},"none":null}}`},
			"half a pair in a block":        {"POST", "/graphql", `{"query":"{ book(id: 1) { name } none: book(id: \"\"\"\\ud83d\"\"\") { id } }"}`, nil, 200, `{"data":{"book":{"name":"The Hobbit"},"none":null}}`},
			"JSON of any depth":             {"POST", "/graphql", `{"query":"{ book(id: 1) { name } }","variables":{"a":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}}`, nil, 400, "BAD_USER_INPUT"},
			"a byte over 1 MiB":             {"POST", "/graphql", long(1<<20 + 1), nil, 413, "TOO_LARGE"},
			"2 MiB of no JSON":              {"POST", "/graphql", strings.Repeat("x", 2<<20), nil, 413, "TOO_LARGE"},
			"only space for a query":        {"POST", "/graphql", `{"query":"  \n"}`, nil, 200, "GRAPHQL_VALIDATION_FAILED"},
			"only a comment for a query":    {"POST", "/graphql", `{"query":"# nothing"}`, nil, 200, "GRAPHQL_VALIDATION_FAILED"},
			"only a fragment for a query":   {"POST", "/graphql", `{"query":"fragment f on Book { id }"}`, nil, 200, "GRAPHQL_VALIDATION_FAILED"},
			"an unknown operation":          {"POST", "/graphql", `{"query":"query A { book(id: 1) { name } }","operationName":"B"}`, nil, 200, "GRAPHQL_VALIDATION_FAILED"},
			"one of two operations":         {"POST", "/graphql", `{"query":"query A { book(id: 1) { name } } query B { book(id: 2) { name } }"}`, nil, 200, "GRAPHQL_VALIDATION_FAILED"},
			"a subscription":                {"POST", "/graphql", `{"query":"subscription { books { totalCount } }"}`, nil, 200, "GRAPHQL_VALIDATION_FAILED"},
			"a malformed document":          {"POST", "/graphql", `{"query":"{ book(id: 1) { name }"}`, nil, 200, "GRAPHQL_PARSE_FAILED"},
			"a malformed document, GraphQL": {"POST", "/graphql", `{"query":"{ book(id: 1) { name }"}`, []string{"Accept: application/graphql-response+json"}, 400, "GRAPHQL_PARSE_FAILED"},
			"an invalid one, GraphQL":       {"POST", "/graphql", `{"query":"{ books { isbn } }"}`, []string{"Accept: application/graphql-response+json, application/json;q=0.9"}, 400, "GRAPHQL_VALIDATION_FAILED"},
			"POST, GraphQL":                 {"POST", "/graphql", query, []string{"Accept: application/graphql-response+json"}, 200, data},
		} {
			w := c.do(request.method, request.target, request.body, request.headers...)
			if w.Code != request.status {
				t.Errorf("%s: status %d, want %d: %.200s", name, w.Code, request.status, w.Body)
			}
			media := "application/json; charset=utf-8"
			if strings.HasSuffix(name, "GraphQL") && name != "bare GraphQL" {
				media = "application/graphql-response+json; charset=utf-8"
			}
			if got := w.Header().Get("Content-Type"); got != media {
				t.Errorf("%s: Content-Type %q, want %q", name, got, media)
			}
			if w.Header().Get("X-Request-Id") != "test" {
				t.Errorf("%s: X-Request-Id %q", name, w.Header().Get("X-Request-Id"))
			}
			if request.status == 405 && w.Header().Get("Allow") == "" {
				t.Errorf("%s: there is no Allow", name)
			}
			if strings.HasPrefix(request.want, "{") {
				if w.Body.String() != request.want {
					t.Errorf("%s: %s", name, w.Body)
				}
				continue
			}
			if a := parse(t, w); len(a.Errors) == 0 || a.Errors[0].Extensions.Code != request.want || a.Errors[0].Extensions.RequestID != "test" || a.Data != nil {
				t.Errorf("%s: %+v, data %s; want %s", name, a.Errors, a.Data, request.want)
			}
		}
		c.want(t, "{ books { totalCount } }", "", `{"books":{"totalCount":4}}`) // no mutation came through
		if c.log.has("level=ERROR") {
			t.Errorf("the log has an error:\n%s", &c.log.text)
		}
	})
}

// TestAccept asks for answers in media types by their preference, of a document
// that is valid and of one that is not.
func TestAccept(t *testing.T) {
	t.Parallel()
	c := serve(t, catalogtest.SQLite(t))
	const plain, own, neither = "application/json", "application/graphql-response+json", ""
	for accept, want := range map[string]string{
		"": plain, "*/*": plain, "application/*": plain, plain: plain, own: own, "APPLICATION/GraphQL-Response+JSON": own,
		own + ", " + plain: own, plain + ", " + own: own, own + "," + plain + ";q=0.9": own, own + ";q=0.9," + plain: plain,
		own + ";q=0.5, */*;q=0.6": plain, own + ";q=0.5, */*;q=0.4": own, own + ", */*;q=0.1": own, plain + ";q=0, */*": own, own + ";q=0, */*": plain,
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": plain, "application/*;q=0.1, " + own + ";q=0": plain,
		own + "; charset=utf-8": own, own + ";charset=latin1, " + plain: plain, own + ";q=1.5, " + plain + ";q=0.1": plain, own + ";q=x,*/*;q=0.1": plain,
		own + ";q=NaN, " + plain + ";q=0.1": plain, ", ,": neither, "text/html": neither, "text/event-stream": neither, "application/xml, */*;q=0": neither, plain + ";q=0": neither, "*/*;q=0": neither,
		plain + ";charset=utf-16": neither, "application/graphql-response": neither, "x": neither, own + "x": neither,
	} {
		for body, status := range map[string]map[string]int{
			`{"query":"{ __typename }"}`: {plain: 200, own: 200, neither: 406},
			`{"query":"{ isbn }"}`:       {plain: 200, own: 400, neither: 406},
			`{"query":"{"}`:              {plain: 200, own: 400, neither: 406},
			`{"query":"query ($a: Int!) { books(first: $a) { totalCount } }"}`: {plain: 200, own: 400, neither: 406},
			`{"query":"{ nodes(nodeIds: []) { nodeId } book(id: 1) { id } }"}`: {plain: 200, own: 200, neither: 406},
			`{"query":"{ books(first: -1) { totalCount } }"}`:                  {plain: 200, own: 200, neither: 406}, // executed, with data null
			`{"extensions":` + byHash(hashOf("x")) + `}`:                       {plain: 200, own: 400, neither: 406},
			`{`: {plain: 400, own: 400, neither: 406},
		} {
			w := c.do("POST", "/graphql", body, "Accept: "+accept)
			media := want
			if want == neither {
				media = plain
			}
			if w.Code != status[want] || w.Header().Get("Content-Type") != media+"; charset=utf-8" || !strings.Contains(strings.Join(w.Header().Values("Vary"), ","), "Accept") {
				t.Errorf("Accept %q, %s: status %d, %q, want %d, %q", accept, body, w.Code, w.Header(), status[want], media)
			}
			if hasData := strings.Contains(w.Body.String(), `"data":`); hasData != (w.Code == 200 && !strings.Contains(w.Body.String(), "GRAPHQL_") && !strings.Contains(w.Body.String(), "PERSISTED")) {
				t.Errorf("%s: %s", body, w.Body)
			}
		}
	}
}

// TestVariablesAreOfTheirType passes variables that the specification says are
// not of the type, at every depth. As literals they are not taken either.
func TestVariablesAreOfTheirType(t *testing.T) {
	c := shelved(t)
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
			if a := c.ask(t, of.document, `{"v":`+value+`}`); len(a.Errors) > 0 && a.Errors[0].Extensions.Code != "NOT_FOUND" {
				t.Errorf("%s of %s: %+v", value, typename, a.Errors)
			}
		}
		for _, value := range of.refused {
			c.wantError(t, of.document, `{"v":`+value+`}`, "GRAPHQL_VALIDATION_FAILED", "")
		}
	}
}

// TestVariablesAreNamed looks at what is said of wrong variables: which one it is,
// with no path, which is that of a field in an answer.
func TestVariablesAreNamed(t *testing.T) {
	t.Parallel()
	c := serve(t, catalogtest.SQLite(t))
	for variables, message := range map[string]string{
		`{}`:                                    "Variable $v: must be defined.",
		`{"v":null}`:                            "Variable $v: cannot be null.",
		`{"v":7}`:                               "Variable $v: must be an object of type CreateBooksInput.",
		`{"v":{"books":[],"isbn":1}}`:           "Variable $v.isbn: unknown field.",
		`{"v":{"books":[{"name":7}]}}`:          "Variable $v.books[0].name: String cannot represent 7.",
		`{"v":{"books":[],"errorPolicy":"NO"}}`: `Variable $v.errorPolicy: ErrorPolicy cannot represent "NO".`,
	} {
		f := c.wantError(t, "mutation ($v: CreateBooksInput!) { createBooks(input: $v) { count } }", variables, "GRAPHQL_VALIDATION_FAILED", message)
		if f.Path != nil {
			t.Errorf("%s: path %v", variables, f.Path)
		}
	}
}

// TestScalarsAreChecked passes variables that scalars of our own refuse: no field is
// run, and each is named as its input's errors name it.
func TestScalarsAreChecked(t *testing.T) {
	onEach(t, func(t *testing.T, c *client) {
		before := c.lengths(t)
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
			f := c.wantError(t, document, tt.variables, "BAD_USER_INPUT", "")
			var got []string
			for _, field := range f.Extensions.Fields {
				got = append(got, field.Field+": "+field.Message)
			}
			if got := strings.Join(got, "; "); got != tt.want || f.Path != nil {
				t.Errorf("%s: %s at %v, want %s", tt.variables, got, f.Path, tt.want)
			}
			body := encode(t, map[string]any{"query": document, "variables": json.RawMessage(tt.variables)})
			if w := c.do(http.MethodPost, "/graphql", body, "Accept: application/graphql-response+json"); w.Code != http.StatusBadRequest || strings.Contains(w.Body.String(), `"data"`) {
				t.Errorf("%d: %s", w.Code, w.Body)
			}
		}
		if after := c.lengths(t); after != before {
			t.Errorf("%v, before %v", after, before)
		}
	})
}

// TestOddValues passes values of the wrong type or size, as literals, variables
// and defaults: the client is told so, and never that the server has failed.
func TestOddValues(t *testing.T) {
	onEach(t, func(t *testing.T, c *client) {
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
			a := c.ask(t, document, variables)
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
			if c.log.has(text) {
				t.Errorf("the log has %q:\n%.2000s", text, &c.log.text)
			}
		}
	})
}

// TestIntrospection asks for the schema as tools do.
func TestIntrospection(t *testing.T) {
	t.Parallel()
	c := serve(t, catalogtest.SQLite(t))
	var schema struct {
		Schema struct {
			QueryType, MutationType struct{ Name string }
			Types                   []struct{ Name string }
		} `json:"__schema"`
	}
	unmarshal(t, c.get(t, "{ __schema { queryType { name } mutationType { name } types { name } } }", ""), &schema)
	names := map[string]bool{}
	for _, of := range schema.Schema.Types {
		names[of.Name] = true
	}
	if schema.Schema.QueryType.Name != "Query" || schema.Schema.MutationType.Name != "Mutation" || !names["Book"] || !names["Decimal"] {
		t.Errorf("%+v", schema)
	}
	var fields strings.Builder
	for _, f := range model.Entities["Book"].Fields {
		fields.WriteString(`{"name":"` + f.Name + `"},`)
	}
	c.want(t, `{ __type(name: "Book") { kind name fields { name } interfaces { name } } none: __type(name: "Author") { name } __typename }`, "",
		`{"__type":{"kind":"OBJECT","name":"Book","fields":[{"name":"nodeId"},`+fields.String()+`{"name":"genre"}],`+
			`"interfaces":[{"name":"Node"}]},"none":null,"__typename":"Query"}`)
}

// TestRequestID takes a client's id where it can be written anywhere, and else
// makes one.
func TestRequestID(t *testing.T) {
	t.Parallel()
	c := serve(t, catalogtest.SQLite(t))
	for given, taken := range map[string]bool{
		"abc-123": true, strings.Repeat("x", 64): true, `"quoted\`: true,
		"": false, strings.Repeat("x", 65): false, "with space": false, "Ünïcödé": false, "a\x7f": false,
	} {
		w := c.do(http.MethodPost, "/graphql", `{"query":"{ isbn }"}`, "X-Request-Id: "+given)
		id := w.Header().Get("X-Request-Id")
		if (id == given) != taken || id == "" {
			t.Errorf("%q: the answer's id is %q", given, id)
		}
		if a := parse(t, w); a.Errors[0].Extensions.RequestID != id {
			t.Errorf("%q: the error's id is %q, the answer's %q", given, a.Errors[0].Extensions.RequestID, id)
		}
	}
}

// TestTheClientHasGone asks with a context that has ended.
func TestTheClientHasGone(t *testing.T) {
	onEach(t, func(t *testing.T, c *client) {
		gone, leave := context.WithCancel(t.Context())
		leave()
		for _, document := range []string{"{ books { nodes { id } } }", mutations["deleteBook"]} {
			w := c.doContext(gone, http.MethodPost, "/graphql", encode(t, map[string]string{"query": document}))
			var body any
			if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
				t.Errorf("%s: %v: %s", document, err, w.Body)
			}
			if a := parse(t, w); len(a.Errors) != 1 || a.Errors[0].Extensions.Code != "UNAVAILABLE" {
				t.Errorf("%s: %+v", document, a.Errors)
			}
		}
		if c.log.has("panic") {
			t.Errorf("the log has a panic:\n%s", &c.log.text)
		}
		c.want(t, "{ books { totalCount } }", "", `{"books":{"totalCount":4}}`)
	})
}

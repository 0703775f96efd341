package graphqlhttp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// TestTransport sends requests that are not, or not quite, GraphQL over HTTP.
func TestTransport(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		const query, data = `{"query":"{ book(id: 1) { name } }"}`, `{"data":{"book":{"name":"The Hobbit"}}}`
		mutation := servertest.Encode(t, map[string]string{"query": servertest.Mutations["deleteBook"]})
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
			"GET of a mutation":             {"GET", get(servertest.Mutations["deleteBook"]), "", nil, 405, "BAD_USER_INPUT"},
			"GET of one of two operations":  {"GET", get("query A { book(id: 1) { name } } "+strings.Replace(servertest.Mutations["deleteBook"], "mutation", "mutation B", 1)) + "&operationName=B", "", nil, 405, "BAD_USER_INPUT"},
			"GET with bad variables":        {"GET", get("{ book(id: 1) { name } }") + "&variables=[1]", "", nil, 400, "BAD_USER_INPUT"},
			"GET with trailing variables":   {"GET", get("{ book(id: 1) { name } }") + "&variables={}{}", "", nil, 400, "BAD_USER_INPUT"},
			"GET with bad extensions":       {"GET", get("{ book(id: 1) { name } }") + "&extensions=x", "", nil, 400, "BAD_USER_INPUT"},
			"GET of nothing":                {"GET", "/graphql", "", nil, 400, "BAD_USER_INPUT"},
			"PUT":                           {"PUT", "/graphql", query, nil, 405, "BAD_USER_INPUT"},
			"DELETE":                        {"DELETE", "/graphql", "", nil, 405, "BAD_USER_INPUT"},
			"HEAD of a mutation":            {"HEAD", get(servertest.Mutations["deleteBook"]), "", nil, 405, "BAD_USER_INPUT"},
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
			"a form":                        {"POST", "/graphql", "query=" + url.QueryEscape(servertest.Mutations["deleteBook"]), []string{"Content-Type: application/x-www-form-urlencoded"}, 415, "BAD_USER_INPUT"},
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
			"an invalid one, GraphQL":       {"POST", "/graphql", `{"query":"{ books { isbn } }"}`, []string{"Accept: application/graphql-response+json, application/json;q=0.9"}, 422, "GRAPHQL_VALIDATION_FAILED"},
			"POST, GraphQL":                 {"POST", "/graphql", query, []string{"Accept: application/graphql-response+json"}, 200, data},
		} {
			w := c.Do(request.method, request.target, request.body, request.headers...)
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
			if a := servertest.Parse(t, w); len(a.Errors) == 0 || a.Errors[0].Extensions.Code != request.want || a.Errors[0].Extensions.RequestID != "test" || a.Data != nil {
				t.Errorf("%s: %+v, data %s; want %s", name, a.Errors, a.Data, request.want)
			}
		}
		c.Want(t, "{ books { totalCount } }", "", `{"books":{"totalCount":4}}`) // no mutation came through
		if c.Log.Has("level=ERROR") {
			t.Errorf("the log has an error:\n%s", c.Log)
		}
	})
}

// TestAccept asks for answers in media types by their preference, of a document
// that is valid and of one that is not.
func TestAccept(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	const plain, own, neither = "application/json", "application/graphql-response+json", ""
	for accept, want := range map[string]string{
		"": plain, "*/*": plain, "application/*": plain, plain: plain, own: own, "APPLICATION/GraphQL-Response+JSON": own,
		own + ", " + plain: own, plain + ", " + own: own, own + "," + plain + ";q=0.9": own, own + ";q=0.9," + plain: plain,
		own + ";q=0.5, */*;q=0.6": plain, own + ";q=0.5, */*;q=0.4": own, own + ", */*;q=0.1": own, plain + ";q=0, */*": own, own + ";q=0, */*": plain,
		"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8": plain, "application/*;q=0.1, " + own + ";q=0": plain,
		own + "; charset=utf-8": own, own + ";charset=latin1, " + plain: plain, own + ";q=1.5, " + plain + ";q=0.1": plain, own + ";q=x,*/*;q=0.1": plain,
		own + ";q=NaN, " + plain + ";q=0.1": plain, ", ,": neither, "text/html": neither, "application/xml, */*;q=0": neither, plain + ";q=0": neither, "*/*;q=0": neither,
		plain + ";charset=utf-16": neither, "application/graphql-response": neither, "x": neither, own + "x": neither,
	} {
		for body, status := range map[string]map[string]int{
			`{"query":"{ __typename }"}`: {plain: 200, own: 200, neither: 406},
			`{"query":"{ isbn }"}`:       {plain: 200, own: 422, neither: 406},
			`{"query":"{"}`:              {plain: 200, own: 400, neither: 406},
			`{"query":"query ($a: Int!) { books(first: $a) { totalCount } }"}`: {plain: 200, own: 422, neither: 406},
			`{"query":"{ nodes(nodeIds: []) { nodeId } book(id: 1) { id } }"}`: {plain: 200, own: 200, neither: 406},
			`{"query":"{ books(first: -1) { totalCount } }"}`:                  {plain: 200, own: 294, neither: 406}, // executed, with data null
			`{"extensions":` + byHash(hashOf("x")) + `}`:                       {plain: 200, own: 422, neither: 406},
			`{`: {plain: 400, own: 400, neither: 406},
		} {
			w := c.Do("POST", "/graphql", body, "Accept: "+accept)
			media := want
			if want == neither {
				media = plain
			}
			if w.Code != status[want] || w.Header().Get("Content-Type") != media+"; charset=utf-8" || !strings.Contains(strings.Join(w.Header().Values("Vary"), ","), "Accept") {
				t.Errorf("Accept %q, %s: status %d, %q, want %d, %q", accept, body, w.Code, w.Header(), status[want], media)
			}
			if hasData := strings.Contains(w.Body.String(), `"data":`); hasData != (w.Code < 300 && !strings.Contains(w.Body.String(), "GRAPHQL_") && !strings.Contains(w.Body.String(), "PERSISTED")) {
				t.Errorf("%s: %s", body, w.Body)
			}
		}
	}
}

// TestStatuses asks in both media types for what fails in each way (GraphQL over HTTP, September 2026, section "Status
// Codes"). Clients of application/json get the statuses of before.
func TestStatuses(t *testing.T) {
	c := servertest.Shelved(t)
	const own = "application/graphql-response+json"
	const twice = `{"query":"mutation { createCategory(input: {name: \"%s\"}) { category { id } } }"}`
	for range 2 {
		c.Do("POST", "/graphql", fmt.Sprintf(twice, "A"), "Idempotency-Key: k")
	}
	get := func(query, more string) string { return "/graphql?query=" + url.QueryEscape(query) + more }
	for name, tt := range map[string]struct {
		target, body string // by GET without a body
		plain, own   int
		headers      []string
	}{
		"data":                      {"/graphql", `{"query":"{ book(id: 1) { name } }"}`, 200, 200, nil},
		"data and an error":         {"/graphql", `{"query":"mutation { a: deleteBook(input: {id: 99}) { deletedBookId } b: loadSample { count } }"}`, 200, 294, nil},
		"null and an error":         {"/graphql", `{"query":"{ books(first: -1) { totalCount } }"}`, 200, 294, nil},
		"null by GET":               {get("{ books(first: -1) { totalCount } }", ""), "", 200, 294, nil},
		"a replay":                  {"/graphql", fmt.Sprintf(twice, "A"), 200, 200, []string{"Idempotency-Key: k"}},
		"a used key":                {"/graphql", fmt.Sprintf(twice, "B"), 200, 422, []string{"Idempotency-Key: k"}},
		"no JSON":                   {"/graphql", "NONSENSE", 400, 400, nil},
		"half of it":                {"/graphql", `{"query":`, 400, 400, nil},
		"half of a batch":           {"/graphql", `[{"query":`, 400, 400, nil},
		"a key twice":               {"/graphql", `{"query":"{ a }","query":"{ b }"}`, 400, 400, nil},
		"no UTF-8":                  {"/graphql", "{\"query\":\"\xff\"}", 400, 400, nil},
		"a broken parameter":        {get("{ __typename }", "&variables={"), "", 400, 400, nil},
		"a broken address":          {get("{ __typename }", "&variables=%zz"), "", 400, 400, nil},
		"an unknown report":         {"/graphql", `{"query":"{ __typename }"}`, 400, 400, []string{"GraphQL-Cost: x"}},
		"a typo":                    {"/graphql", `{"qeury":"{ __typename }"}`, 400, 422, nil},
		"no body":                   {"/graphql", "", 400, 400, nil},
		"a batch":                   {"/graphql", `[{"query":"{ __typename }"}]`, 400, 422, nil},
		"a string":                  {"/graphql", `"{ __typename }"`, 400, 422, nil},
		"a number":                  {"/graphql", `{"query":1}`, 400, 422, nil},
		"variables in a list":       {"/graphql", `{"query":"{ __typename }","variables":[7]}`, 400, 422, nil},
		"extensions in a string":    {"/graphql", `{"query":"{ __typename }","extensions":""}`, 400, 422, nil},
		"a list for a parameter":    {get("{ __typename }", "&variables=[7]"), "", 400, 422, nil},
		"two queries":               {get("{ __typename }", "&query=x"), "", 400, 422, nil},
		"too many values":           {"/graphql", `{"query":"{ __typename }","variables":{"a":[0` + strings.Repeat(",0", 100_000) + `]}}`, 400, 422, nil},
		"a malformed document":      {"/graphql", `{"query":"{"}`, 200, 400, nil},
		"a malformed one by GET":    {get("{", ""), "", 200, 400, nil},
		"half a pair in it":         {"/graphql", `{"query":"{ book(id: \"\\ud83d\") { name } }"}`, 200, 400, nil},
		"no document":               {"/graphql", `{"query":" "}`, 200, 422, nil},
		"too many tokens":           {"/graphql", `{"query":"{` + strings.Repeat(" a", 2_001) + ` }"}`, 200, 422, nil},
		"an invalid document":       {"/graphql", `{"query":"{ isbn }"}`, 200, 422, nil},
		"too deep a document":       {"/graphql", `{"query":` + servertest.Encode(t, chain(13)) + `}`, 200, 422, nil},
		"too much":                  {"/graphql", `{"query":` + servertest.Encode(t, servertest.TooMuch) + `}`, 200, 422, nil},
		"an unknown operation":      {"/graphql", `{"query":"query A { __typename }","operationName":"B"}`, 200, 422, nil},
		"one of two operations":     {"/graphql", `{"query":"query A { __typename } query B { __typename }"}`, 200, 422, nil},
		"no variable":               {"/graphql", `{"query":"query ($a: ID!) { book(id: $a) { name } }"}`, 200, 422, nil},
		"a variable of another one": {"/graphql", `{"query":"query ($a: Int) { books(first: $a) { totalCount } }","variables":{"a":"x"}}`, 200, 422, nil},
		"an unknown hash":           {"/graphql", `{"extensions":` + byHash(hashOf("x")) + `}`, 200, 422, nil},
		"a mutation by GET":         {get(servertest.Mutations["deleteBook"], ""), "", 405, 405, nil},
		"a form":                    {"/graphql", "query=x", 415, 415, []string{"Content-Type: application/x-www-form-urlencoded"}},
		"a long body":               {"/graphql", strings.Repeat("x", 2<<20), 413, 413, nil},
	} {
		for accept, status := range map[string]int{"application/json": tt.plain, own: tt.own} {
			method := "POST"
			if tt.body == "" && tt.target != "/graphql" {
				method = "GET"
			}
			w := c.Do(method, tt.target, tt.body, append(tt.headers, "Accept: "+accept)...)
			if w.Code != status || w.Header().Get("Content-Type") != accept+"; charset=utf-8" {
				t.Errorf("%s: status %d, want %d, %s: %.200s", name, w.Code, status, w.Header().Get("Content-Type"), w.Body)
			}
			if hasData := strings.HasPrefix(w.Body.String(), `{"data":`); accept == own && hasData != (status < 300) {
				t.Errorf("%s: status %d of %s", name, w.Code, w.Body)
			}
		}
	}
	away := servertest.Serve(t, catalogtest.SQLite(t), func(r *resolvers.Resolver) server.Catalogue { return noReads{r} })
	for accept, status := range map[string]int{"application/json": 200, own: 503} {
		for method, target := range map[string]string{"POST": "/graphql", "QUERY": "/graphql", "GET": get("{ books { totalCount } }", "")} {
			w := away.Do(method, target, `{"query":"{ books { totalCount } }"}`, "Accept: "+accept)
			const body = `{"errors":[{"message":"Away.","extensions":{"code":"UNAVAILABLE","requestId":"test","retryAfter":1}}]}`
			if w.Code != status || w.Header().Get("Retry-After") != "1" || w.Body.String() != body {
				t.Errorf("%s, no data: status %d, want %d, %v: %s", method, w.Code, status, w.Header(), w.Body)
			}
		}
	}
}

// noReads is a catalogue whose reads fail as a whole.
type noReads struct{ *resolvers.Resolver }

func (noReads) Read(context.Context, model.Revision, model.Replicas, func(context.Context) (bool, error)) (int64, error) {
	return -1, model.Errorf(model.Unavailable, "Away.")
}

// TestIntrospection asks for the schema as tools do.
func TestIntrospection(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	var schema struct {
		Schema struct {
			QueryType, MutationType struct{ Name string }
			Types                   []struct{ Name string }
		} `json:"__schema"`
	}
	servertest.Unmarshal(t, c.Get(t, "{ __schema { queryType { name } mutationType { name } types { name } } }", ""), &schema)
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
	c.Want(t, `{ __type(name: "Book") { kind name fields { name } interfaces { name } } none: __type(name: "Author") { name } __typename }`, "",
		`{"__type":{"kind":"OBJECT","name":"Book","fields":[{"name":"nodeId"},`+fields.String()+`{"name":"genre"},{"name":"history"}],`+
			`"interfaces":[{"name":"Node"}]},"none":null,"__typename":"Query"}`)
}

// TestRequestID takes a client's id where it can be written anywhere, and else
// makes one.
func TestRequestID(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	for given, taken := range map[string]bool{
		"abc-123": true, strings.Repeat("x", 64): true, `"quoted\`: true,
		"": false, strings.Repeat("x", 65): false, "with space": false, "Ünïcödé": false, "a\x7f": false,
	} {
		w := c.Do(http.MethodPost, "/graphql", `{"query":"{ isbn }"}`, "X-Request-Id: "+given)
		id := w.Header().Get("X-Request-Id")
		if (id == given) != taken || id == "" {
			t.Errorf("%q: the answer's id is %q", given, id)
		}
		if a := servertest.Parse(t, w); a.Errors[0].Extensions.RequestID != id {
			t.Errorf("%q: the error's id is %q, the answer's %q", given, a.Errors[0].Extensions.RequestID, id)
		}
	}
}

// TestTheClientHasGone asks with a context that has ended.
func TestTheClientHasGone(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		gone, leave := context.WithCancel(t.Context())
		leave()
		for _, document := range []string{"{ books { nodes { id } } }", servertest.Mutations["deleteBook"]} {
			w := c.DoContext(gone, http.MethodPost, "/graphql", servertest.Encode(t, map[string]string{"query": document}))
			var body any
			if err := json.Unmarshal(w.Body.Bytes(), &body); err != nil {
				t.Errorf("%s: %v: %s", document, err, w.Body)
			}
			if a := servertest.Parse(t, w); len(a.Errors) != 1 || a.Errors[0].Extensions.Code != "UNAVAILABLE" {
				t.Errorf("%s: %+v", document, a.Errors)
			}
		}
		if c.Log.Has("panic") {
			t.Errorf("the log has a panic:\n%s", c.Log)
		}
		c.Want(t, "{ books { totalCount } }", "", `{"books":{"totalCount":4}}`)
	})
}

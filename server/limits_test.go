package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/server"
	"library-catalogue/server/graphqlhttp"
	"library-catalogue/server/ratelimit"
)

// chain returns a selection set of so many levels: a genre, its category, the
// genres of that, and so on.
func chain(levels int) string {
	edges, leaves := []string{"genre(id: 1)", "category", "genres(first: 1)", "nodes"}, []string{"__typename", "id", "id", "totalCount"}
	inner, next := "", 0
	for level := range levels - 1 {
		inner += "{ " + edges[next] + " "
		if next++; next == len(edges) && level < levels {
			next = 1
		}
	}
	return inner + "{ " + leaves[next] + strings.Repeat(" }", levels)
}

// repeat writes a text n times, with the number of each in it where it has a %d.
func repeat(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(" " + strings.ReplaceAll(text, "%d", fmt.Sprint(i)))
	}
	return b.String()
}

// TestLimits sends documents that are exactly at a limit, and one over it.
func TestLimits(t *testing.T) {
	c := shelved(t)
	for name, of := range map[string]struct {
		limit    int
		code     string
		document func(n int) string
	}{
		"tokens":               {2000, "TOO_LARGE", func(n int) string { return "{ __typename }" + repeat(n-3, "#\n") }},
		"depth":                {12, "DEPTH_LIMIT_EXCEEDED", chain},
		"depth in fragments":   {12, "DEPTH_LIMIT_EXCEEDED", func(n int) string { return "{ ...a } fragment a on Query { ...b } fragment b on Query " + chain(n) }},
		"depth in inline ones": {12, "DEPTH_LIMIT_EXCEEDED", func(n int) string { return "{ ... { ... on Query " + chain(n) + " } }" }},
		"root fields":          {20, "TOO_LARGE", func(n int) string { return "{" + repeat(n, "__typename") + " }" }},
		"root fields in fragments": {20, "TOO_LARGE", func(n int) string {
			return "{ ...a ...a" + repeat(n-10, "__typename") + " } fragment a on Query {" + repeat(5, "__typename") + " }"
		}},
		"fields": {500, "TOO_LARGE", func(n int) string { return "{ book(id: 1) {" + repeat(n-1, "id") + " } }" }},
		"fields in fragments": {500, "TOO_LARGE", func(n int) string {
			return "{ book(id: 1) { ...a ...a ... { ...b }" + repeat(n-1-100-100-200, "id") + " } }" +
				" fragment a on Book {" + repeat(100, "id") + " } fragment b on Book { ...a ...a }"
		}},
		"aliases": {15, "TOO_LARGE", func(n int) string { return "{ book(id: 1) { id" + repeat(n, "a%d: id") + " } }" }},
		"aliases in fragments": {15, "TOO_LARGE", func(n int) string {
			return "{ book(id: 1) { ...a" + repeat(n-1, "a%d: id") + " } } fragment a on Book { b: id }"
		}},
		"directives": {20, "TOO_LARGE", func(n int) string {
			return "query ($a: Boolean = true) { __typename @skip(if: $a) ...a @skip(if: $a) ... @include(if: $a) {" +
				repeat(n-3, "__typename @include(if: $a)") + " } } fragment a on Query { __typename }"
		}},
	} {
		if a := c.ask(t, of.document(of.limit), ""); len(a.Errors) > 0 {
			t.Errorf("%s: %d is refused: %+v", name, of.limit, a.Errors)
		}
		c.wantError(t, of.document(of.limit+1), "", of.code, fmt.Sprintf(" %d ", of.limit))
	}
	c.wantError(t, "query A { __typename } query B "+chain(13), "", "DEPTH_LIMIT_EXCEEDED", "") // whichever is meant
}

// TestLimitsOfValues sends variables at a limit, and over it.
func TestLimitsOfValues(t *testing.T) {
	t.Parallel()
	c := serve(t, catalogtest.SQLite(t))
	send := func(variables string) (status int, code string) {
		w := c.do("POST", "/graphql", `{"query":"{ __typename }","variables":`+variables+`}`)
		if a := parse(t, w); len(a.Errors) > 0 {
			code = a.Errors[0].Extensions.Code
		}
		return w.Code, code
	}
	nested := func(n int) string { return `{"a":` + strings.Repeat(`[`, n) + "1" + strings.Repeat(`]`, n) + `}` }
	many := func(n int) string { return `{"a":[0` + strings.Repeat(",0", n-1) + `]}` }
	members := func(n int) string { return `{"a":{"b":0` + repeat(n-1, `,"a%d":0`) + `}}` }
	for name, of := range map[string]struct {
		variables string
		refused   bool
	}{
		"20 levels":       {nested(20), false},
		"21 levels":       {nested(21), true},
		"9,000 levels":    {nested(9_000), true},
		"99,990 values":   {many(99_990), false},
		"100,001 values":  {many(100_001), true},
		"500 members":     {members(500), false},
		"501 members":     {members(501), true},
		"a long string":   {`{"a":"` + strings.Repeat("x", 900_000) + `"}`, false},
		"a long number":   {`{"a":` + strings.Repeat("9", 900_000) + `}`, false},
		"levels of words": {`{"a":` + strings.Repeat(`{"b":`, 21) + "null" + strings.Repeat(`}`, 21) + `}`, true},
	} {
		status, code := send(of.variables)
		if of.refused && (status != 400 || code != "TOO_LARGE") || !of.refused && status != 200 {
			t.Errorf("%s: status %d, %s", name, status, code)
		}
	}
}

// TestLimitsAreSettings has a server with limits of its own.
func TestLimitsAreSettings(t *testing.T) {
	t.Parallel()
	c := serve(t, catalogtest.SQLite(t))
	c.handler = newHandler(t, c.log, server.Config{Catalogue: c.catalogue, Authenticate: c.authenticate, GraphQL: graphqlhttp.Options{
		Limits: graphqlhttp.Limits{Body: 200, Depth: 3, Errors: 2},
	}})
	c.wantError(t, chain(4), "", "DEPTH_LIMIT_EXCEEDED", " 3 ")
	const deep = "{ ...a } fragment a on Query { genre(id: 1) { id category { genres { totalCount nodes { id } } } } }"
	at := fmt.Sprintf(`"locations":[{"line":1,"column":%d}]`, strings.Index(deep, "totalCount")+1)
	if w := c.do("POST", "/graphql", encode(t, map[string]string{"query": deep})); !strings.Contains(w.Body.String(), at) {
		t.Errorf("%s, want %s", w.Body, at)
	}
	if a := c.ask(t, "{ a b c d }", ""); len(a.Errors) != 2 {
		t.Errorf("%d errors, want 2", len(a.Errors))
	}
	if w := c.do("POST", "/graphql", `{"query":"{ __typename }`+strings.Repeat(" ", 200)+`"}`); w.Code != 413 {
		t.Errorf("status %d, want 413", w.Code)
	}
}

// TestIntrospectionIsOff asks a server that does not tell its schema.
func TestIntrospectionIsOff(t *testing.T) {
	t.Parallel()
	c := serve(t, catalogtest.SQLite(t))
	const near = `{ book(id: 1) { nam } bok(ide: 1) categories(frst: 1) { totalCount } ... on Bok { id } } `
	if a := c.ask(t, near, ""); !strings.Contains(fmt.Sprint(a.Errors), "Did you mean") {
		t.Errorf("nothing is suggested: %+v", a.Errors)
	}
	c.handler = newHandler(t, c.log, server.Config{Catalogue: c.catalogue, Authenticate: c.authenticate})
	for _, document := range []string{
		"{ __schema { queryType { name } } }", `{ a: __type(name: "Book") { name } }`,
		"{ ... { ...a } } fragment a on Query { ... on Query { __schema { queryType { name } } } }",
	} {
		c.wantError(t, document, "", "GRAPHQL_VALIDATION_FAILED", "Introspection is disabled")
	}
	c.want(t, "{ __typename }", "", `{"__typename":"Query"}`)
	for _, document := range []string{
		near, "{ book(id: 1) }", "query ($a: Bok) { book(id: $a) { id } }", "mutation { deleteGenre(input: {id: 1, onChildren: RESTRIC}) { deletedGenreId } }",
		"mutation { deleteGenre(input: {ide: 1}) { deletedGenreId } }", "{ book(id: 1) @includ(if: true) { id } }",
		`mutation { deleteGenre(input: {id: 1, onChildren: "RESTRICT"}) { deletedGenreId } }`,
	} {
		if a := c.ask(t, document, ""); len(a.Errors) == 0 || strings.Contains(strings.ToLower(fmt.Sprint(a.Errors)), "did you mean") {
			t.Errorf("%s: %+v", document, a.Errors)
		}
	}
}

// TestIntrospectionForTokens asks a server with a cache, whose schema needs a token, alternately
// with one and without.
func TestIntrospectionForTokens(t *testing.T) {
	t.Parallel()
	c := newCached(t, catalogtest.SQLite(t), 1<<20)
	c.handler = newHandler(t, c.log, server.Config{
		Catalogue: c.catalogue, Authenticate: c.authenticate, CacheBytes: 1 << 20, GraphQL: graphqlhttp.Options{Introspection: graphqlhttp.IntrospectionTokens},
	})
	const document = `{ __schema { queryType { name } } }`
	const near = `{ book(id: 1) { nam } }`
	for range 3 {
		c.want(t, document, "", `{"__schema":{"queryType":{"name":"Query"}}}`)
		if a := c.ask(t, near, ""); !strings.Contains(fmt.Sprint(a.Errors), "Did you mean") {
			t.Errorf("nothing is suggested: %+v", a.Errors)
		}
		tag := c.do("GET", byGet(document), "").Header().Get("ETag")
		for _, header := range []string{"Authorization:", "Authorization: Bearer x"} {
			c.wantError(t, document, "", "GRAPHQL_VALIDATION_FAILED", "Introspection requires a valid token", header)
			if a := c.ask(t, near, "", header); len(a.Errors) == 0 || strings.Contains(fmt.Sprint(a.Errors), "Did you mean") {
				t.Errorf("%s: %+v", header, a.Errors)
			}
			if w := c.do("GET", byGet(document), "", header, "If-None-Match: "+tag); strings.Contains(w.Body.String(), "queryType\":{") || w.Code == 304 {
				t.Errorf("%s: status %d: %s", header, w.Code, w.Body)
			}
		}
	}
}

// TestLongDocumentsAreNotKept sends many long documents: they would fill the
// memory.
func TestLongDocumentsAreNotKept(t *testing.T) {
	c := serve(t, catalogtest.SQLite(t))
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	for i := range 60 {
		c.get(t, fmt.Sprintf(`{ books(filter: {name: {eq: "%d%s"}}) { nodes { id } } }`, i, strings.Repeat("x", 900_000)), "")
	}
	if grown := heap() - before; grown > 20<<20 {
		t.Errorf("the heap grew by %d MB", grown>>20)
	}
	runtime.KeepAlive(c)
}

// tooMuch costs 1,002,002,001, most of it for the books.
const tooMuch = `{ categories(first: 1000) { nodes { genres(first: 1000) { nodes { all: books(first: 1000) { nodes { id } } } } } } }`

// TestCostLimit asks for too much: the database is not asked, and the answer says
// what it is that costs so much.
func TestCostLimit(t *testing.T) {
	onEach(t, func(t *testing.T, c *client) {
		for document, of := range map[string]struct{ variables, error string }{
			tooMuch: {`{}`, `{"message":"The operation costs 1002002001; the limit is 50000. The field with the highest cost, 1001000000, is categories.nodes.genres.nodes.all. Request smaller pages or fewer fields.",
				"locations":[{"line":1,"column":67}],"extensions":{"code":"COST_LIMIT_EXCEEDED","cost":{"requested":1002002001,"limit":50000,"field":"categories.nodes.genres.nodes.all","fieldCost":1001000000},"requestId":"test"}}`},
			`query ($n: Int!, $yes: Boolean!) { ...f @include(if: $yes) __typename } fragment f on Query { genres(first: $n) { nodes { books(first: $n) { totalCount } } } }`: {
				`{"n":300,"yes":true}`, `{"message":"The operation costs 93601; the limit is 50000. The field with the highest cost, 90300, is genres.nodes.books. Request smaller pages or fewer fields.",
				"locations":[{"line":1,"column":123}],"extensions":{"code":"COST_LIMIT_EXCEEDED","cost":{"requested":93601,"limit":50000,"field":"genres.nodes.books","fieldCost":90300},"requestId":"test"}}`},
		} {
			w := c.do(http.MethodPost, "/graphql", `{"query":`+encode(t, document)+`,"variables":`+of.variables+`}`, "Accept: application/graphql-response+json")
			if w.Code != http.StatusBadRequest || statementCount(t, w) != 0 {
				t.Errorf("%s: status %d, %s", document, w.Code, w.Header().Get("Server-Timing"))
			}
			if diff := cmp.Diff(indented(t, `{"errors":[`+of.error+`]}`), indented(t, w.Body.String())); diff != "" {
				t.Errorf("%s (-want +got):\n%s", document, diff)
			}
		}
		if c.log.has("level=ERROR") || c.log.has("level=WARN") {
			t.Errorf("the log takes it for a fault:\n%s", &c.log.text)
		}
		// With the variables that it has by default the same document costs less.
		c.want(t, `query ($n: Int = 1) { genres(first: $n) { nodes { books(first: $n) { totalCount } } } }`, "", `{"genres":{"nodes":[{"books":{"totalCount":2}}]}}`)
	})
}

// TestCostOfUse asks for what people ask for.
func TestCostOfUse(t *testing.T) {
	onEach(t, func(t *testing.T, c *client) {
		rows, _ := json.Marshal(make([]struct{}, 10_000))
		categories := strings.ReplaceAll(string(rows), "{}", `{"name":"Category"}`)
		for _, of := range []struct{ document, variables string }{
			{`{ books(first: 1000) { totalCount nodes { name price genre { name category { name } } } pageInfo { endCursor } } }`, ""},
			{`{ genres(first: 20) { nodes { name books(first: 10) { nodes { name } } } } }`, ""},
			{`{ categories(first: 20) { nodes { genres(first: 10) { nodes { books(first: 20) { nodes { name genre { name } } } } } } } }`, ""},
			{`{ genres(first: 1000) { nodes { books { totalCount nodes { name } } } } }`, ""},
			{`mutation ($rows: [CreateCategoryInput!]!) { createCategories(input: {categories: $rows}) { count results { category { id } } } }`, `{"rows":` + categories + `}`},
		} {
			if a := c.ask(t, of.document, of.variables); len(a.Errors) > 0 {
				t.Errorf("%s: %.300v", of.document, a.Errors)
			}
		}
	})
}

// TestCostReport asks for the cost: it is told, by both methods, and no answer
// with it is kept or given to another.
func TestCostReport(t *testing.T) {
	onEach(t, func(t *testing.T, c *client) {
		c.handler = newHandler(t, c.log, server.Config{Catalogue: c.catalogue, Authenticate: c.authenticate, CacheBytes: 1 << 20,
			GraphQL: graphqlhttp.Options{Limits: graphqlhttp.Limits{Cost: 40}}})
		const document = `query ($n: Int!) { books(first: $n) { nodes { id genre { name } } } }`
		body := `{"query":` + encode(t, document) + `,"variables":{"n":1}}`
		get := "/graphql?variables=" + url.QueryEscape(`{"n":1}`) + "&query=" + url.QueryEscape(document)
		const data = `"data":{"books":{"nodes":[{"id":"1","genre":{"name":"Fantasy"}}]}}`
		for range 3 {
			for _, reported := range []bool{false, true} {
				want, header := `{`+data+`}`, "GraphQL-Cost:"
				if reported {
					want, header = `{`+data+`,"extensions":{"cost":{"requested":3,"limit":40}}}`, "GraphQL-Cost: report"
				}
				post, got := c.do(http.MethodPost, "/graphql", body, header), c.do(http.MethodGet, get, "", header)
				if post.Body.String() != want || got.Body.String() != want {
					t.Errorf("%q: %s by POST, %s by GET, want %s", header, post.Body, got.Body, want)
				}
				tag := got.Header().Get("ETag")
				if reported && (tag != "" || got.Header().Get("Cache-Control") != "no-store" || strings.Contains(post.Header().Get("Server-Timing"), "cache")) ||
					!reported && tag == "" {
					t.Errorf("%q: %v and %v", header, post.Header(), got.Header())
				}
			}
		}
		if w := c.do(http.MethodPost, "/graphql", body); !strings.Contains(w.Header().Get("Server-Timing"), "cache") {
			t.Errorf("the answer without the cost is not kept: %v", w.Header())
		}
		c.wantError(t, `{ books(first: 40) { totalCount } }`, "", "COST_LIMIT_EXCEEDED", "costs 51; the limit is 40", "GraphQL-Cost: report")
		if w := c.do(http.MethodPost, "/graphql", body, "GraphQL-Cost: yes"); w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "has one value: report") {
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
	})
}

// TestCostIsCharged has a caller pay: a unit for each 100, one for an answer that
// was kept, and one for what is refused.
func TestCostIsCharged(t *testing.T) {
	c := shelved(t)
	c.handler = newHandler(t, c.log, server.Config{Catalogue: c.catalogue, Authenticate: c.authenticate, CacheBytes: 1 << 20,
		Rate: ratelimit.Rate{PerSecond: 1.0 / (1 << 20), Burst: 100}})
	const page = `{ books(first: 1000) { nodes { genre { category { name } } } } }`
	left := func(document string) string {
		w := c.do(http.MethodPost, "/graphql", `{"query":`+encode(t, document)+`}`)
		remaining, _, _ := strings.Cut(strings.TrimPrefix(w.Header().Get("RateLimit"), `"default";r=`), ";")
		return fmt.Sprint(w.Code, " ", remaining)
	}
	for i, of := range []struct{ document, want string }{
		{page, "200 69"}, {page, "200 38"}, {page, "200 37"}, {page, "200 36"}, // kept from the second time on
		{tooMuch, "200 35"}, {page + " # a", "200 4"}, {page + " # b", "429 3"}, {`{ book(id: 1) { id } }`, "200 2"},
	} {
		if got := left(of.document); got != of.want {
			t.Errorf("request %d, %s: %s, want %s", i+1, of.document, got, of.want)
		}
	}
}

// TestCostAtTheLimit asks for what costs exactly as much as is allowed, and for
// what costs one more.
func TestCostAtTheLimit(t *testing.T) {
	c := shelved(t)
	for limit, allowed := range map[int]bool{51: true, 50: false} {
		c.handler = newHandler(t, c.log, server.Config{Catalogue: c.catalogue, Authenticate: c.authenticate,
			GraphQL: graphqlhttp.Options{Limits: graphqlhttp.Limits{Cost: limit}}})
		const document = `{ books(first: 40) { totalCount } }`
		if allowed {
			c.want(t, document, "", `{"books":{"totalCount":4}}`)
		} else {
			c.wantError(t, document, "", "COST_LIMIT_EXCEEDED", "costs 51; the limit is 50")
		}
	}
}

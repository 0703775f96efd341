package graphqlhttp_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/server"
	"library-catalogue/server/graphqlhttp"
	"library-catalogue/server/servertest"
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
	c := servertest.Shelved(t)
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
		if a := c.Ask(t, of.document(of.limit), ""); len(a.Errors) > 0 {
			t.Errorf("%s: %d is refused: %+v", name, of.limit, a.Errors)
		}
		c.WantError(t, of.document(of.limit+1), "", of.code, fmt.Sprintf(" %d ", of.limit))
	}
	c.WantError(t, "query A { __typename } query B "+chain(13), "", "DEPTH_LIMIT_EXCEEDED", "") // whichever is meant
}

// TestLimitsOfValues sends variables at a limit, and over it.
func TestLimitsOfValues(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	send := func(variables string) (status int, code string) {
		w := c.Do("POST", "/graphql", `{"query":"{ __typename }","variables":`+variables+`}`)
		if a := servertest.Parse(t, w); len(a.Errors) > 0 {
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
	c := servertest.Serve(t, catalogtest.SQLite(t))
	c.Reconfigure(t, server.Config{GraphQL: graphqlhttp.Options{
		Limits: graphqlhttp.Limits{Body: 200, Depth: 3},
	}})
	c.WantError(t, chain(4), "", "DEPTH_LIMIT_EXCEEDED", " 3 ")
	const deep = "{ ...a } fragment a on Query { genre(id: 1) { id category { genres { totalCount nodes { id } } } } }"
	at := fmt.Sprintf(`"locations":[{"line":1,"column":%d}]`, strings.Index(deep, "totalCount")+1)
	if w := c.Do("POST", "/graphql", servertest.Encode(t, map[string]string{"query": deep})); !strings.Contains(w.Body.String(), at) {
		t.Errorf("%s, want %s", w.Body, at)
	}
	if a := c.Ask(t, "{ a b c d e f g h i j k }", ""); len(a.Errors) != 10 {
		t.Errorf("%d errors, want 10", len(a.Errors))
	}
	if w := c.Do("POST", "/graphql", `{"query":"{ __typename }`+strings.Repeat(" ", 200)+`"}`); w.Code != 413 {
		t.Errorf("status %d, want 413", w.Code)
	}
}

// TestIntrospectionIsOff asks a server that does not tell its schema.
func TestIntrospectionIsOff(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	const near = `{ book(id: 1) { nam } bok(ide: 1) categories(frst: 1) { totalCount } ... on Bok { id } } `
	if a := c.Ask(t, near, ""); !strings.Contains(fmt.Sprint(a.Errors), "Did you mean") {
		t.Errorf("nothing is suggested: %+v", a.Errors)
	}
	c.Reconfigure(t, server.Config{})
	for _, document := range []string{
		"{ __schema { queryType { name } } }", `{ a: __type(name: "Book") { name } }`,
		"{ ... { ...a } } fragment a on Query { ... on Query { __schema { queryType { name } } } }",
	} {
		c.WantError(t, document, "", "GRAPHQL_VALIDATION_FAILED", "CATALOGUE_INTROSPECTION=true or token allows it.")
	}
	c.Want(t, "{ __typename }", "", `{"__typename":"Query"}`)
	for _, document := range []string{
		near, "{ book(id: 1) }", "query ($a: Bok) { book(id: $a) { id } }", "mutation { deleteGenre(input: {id: 1, onChildren: RESTRIC}) { deletedGenreId } }",
		"mutation { deleteGenre(input: {ide: 1}) { deletedGenreId } }", "{ book(id: 1) @includ(if: true) { id } }",
		`mutation { deleteGenre(input: {id: 1, onChildren: "RESTRICT"}) { deletedGenreId } }`,
	} {
		if a := c.Ask(t, document, ""); len(a.Errors) == 0 || strings.Contains(strings.ToLower(fmt.Sprint(a.Errors)), "did you mean") {
			t.Errorf("%s: %+v", document, a.Errors)
		}
	}
}

// TestIntrospectionForTokens asks a server with a cache, whose schema needs a token, alternately
// with one and without.
func TestIntrospectionForTokens(t *testing.T) {
	t.Parallel()
	c := servertest.ServeCached(t, catalogtest.SQLite(t), 1<<20)
	c.Reconfigure(t, server.Config{CacheBytes: 1 << 20, GraphQL: graphqlhttp.Options{Introspection: graphqlhttp.IntrospectionTokens}})
	const document = `{ __schema { queryType { name } } }`
	const near = `{ book(id: 1) { nam } }`
	for range 3 {
		c.Want(t, document, "", `{"__schema":{"queryType":{"name":"Query"}}}`)
		if a := c.Ask(t, near, ""); !strings.Contains(fmt.Sprint(a.Errors), "Did you mean") {
			t.Errorf("nothing is suggested: %+v", a.Errors)
		}
		tag := c.Do("GET", servertest.ByGet(document), "").Header().Get("ETag")
		for _, header := range []string{"Authorization:", "Authorization: Bearer x"} {
			c.WantError(t, document, "", "GRAPHQL_VALIDATION_FAILED", "CATALOGUE_INTROSPECTION=true allows it to all.", header)
			if a := c.Ask(t, near, "", header); len(a.Errors) == 0 || strings.Contains(fmt.Sprint(a.Errors), "Did you mean") {
				t.Errorf("%s: %+v", header, a.Errors)
			}
			if w := c.Do("GET", servertest.ByGet(document), "", header, "If-None-Match: "+tag); strings.Contains(w.Body.String(), "queryType\":{") || w.Code == 304 {
				t.Errorf("%s: status %d: %s", header, w.Code, w.Body)
			}
		}
	}
}

// TestHeapOfLongDocuments sends many long documents in the soak run: the heap does not grow.
// TestLongDocumentsAreNotKept checks the cache.
func TestHeapOfLongDocuments(t *testing.T) {
	if !dbtest.Soak {
		t.Skip("reads the heap of the whole process: make soak runs it")
	}
	c := servertest.Serve(t, catalogtest.SQLite(t))
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	for i := range 60 {
		c.Get(t, fmt.Sprintf(`{ books(filter: {name: {eq: "%d%s"}}) { nodes { id } } }`, i, strings.Repeat("x", 900_000)), "")
	}
	if grown := heap() - before; grown > 20<<20 {
		t.Errorf("the heap grew by %d MB", grown>>20)
	}
	runtime.KeepAlive(c)
}

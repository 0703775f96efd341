package graphqlhttp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/server/servertest"
)

// hostileBody is a GraphQL request that is small to send and, without limits, large to answer.
type hostileBody struct {
	name, body string
	status     int
	code       string // of the first error; "" where there is none
}

// hostileBodies lists what limits_test.go does not: documents that are slow to parse or to
// validate, and bodies that are slow to decode.
func hostileBodies(tb testing.TB) (all []hostileBody) {
	variables := func(text string) string {
		const query = "query ($v: BookFilter) { books(filter: $v, first: 1) { nodes { id } } }"
		return `{"query":"` + query + `","variables":{"v":` + text + `}}`
	}
	doubling, ring := "{ ...a0 } fragment a60 on Query { __typename }", "{ ...a0 }"
	for i := range 60 { // 2^60 fields
		doubling += fmt.Sprintf(" fragment a%d on Query { ...a%d ...a%[2]d }", i, i+1)
	}
	for i := range 240 {
		ring += fmt.Sprintf(" fragment a%d on Query { ...a%d }", i, (i+1)%240)
	}
	pairs := "id" // two fields that overlap in each of two that do
	for range 8 {
		pairs = "b: genre { c: books { d: nodes { " + pairs + " } } } b: genre { c: books { d: nodes { " + pairs + " } } }"
	}
	long := func(text string) string { return strings.Repeat(text, 900_000/len(text)) }
	const (
		invalid  = "GRAPHQL_VALIDATION_FAILED"
		unparsed = "GRAPHQL_PARSE_FAILED"
		large    = "TOO_LARGE"
		bad      = "BAD_USER_INPUT"
	)
	for _, d := range []struct{ name, code, text string }{
		{"the same field, as often as the tokens allow", large, "{ book(id: 1) {" + repeat(1_980, "id") + " } }"},
		{"the same field, as often as it may be", "", "{ book(id: 1) {" + repeat(498, "id") + " } }"},
		{"fields that overlap", "", "{ book(id: 1) {" + repeat(240, "genre { id }") + " } }"},
		{"fields that overlap, of 150 operations", invalid, repeat(150, "query a%d { ...f }") + " fragment f on Query { book(id: 1) {" + repeat(490, "name") + " } }"},
		{"pairs that overlap at every depth", large, "{ book(id: 1) { " + pairs + " } }"},
		{"100,000 braces", unparsed, strings.Repeat("{", 100_000)},
		{"100,000 brackets", unparsed, "{ book(id: " + strings.Repeat("[", 100_000) + ") }"},
		{"100,000 brackets of a type", unparsed, "query ($a: " + strings.Repeat("[", 100_000) + ") { __typename }"},
		{"fields one in another, 900 times", unparsed, strings.Repeat("{ books ", 900)},
		{"lists in lists", invalid, "{ book(id: " + strings.Repeat("[", 990) + strings.Repeat("]", 990) + ") }"},
		{"fragments that double", large, doubling},
		{"fragments in a ring", invalid, ring},
		{"unknown fields", invalid, "{ book(id: 1) {" + repeat(490, "boks%d") + " } }"},
		{"unknown arguments", invalid, "{ book(" + repeat(490, "bok%d: 1") + ") { id } }"},
		{"unknown variables", invalid, "{ book(id: 1) { id" + repeat(15, "@skip(if: $a%d)") + " } }"},
		{"unknown directives", large, "{ __typename" + repeat(900, "@a%d") + " }"},
		{"unused variables", invalid, "query (" + repeat(490, "$a%d: Int") + ") { __typename }"},
		{"unused fragments", invalid, "{ __typename }" + repeat(240, "fragment a%d on Query { __typename }")},
		{"operations", invalid, repeat(390, "query a%d { __typename }")},
		{"anonymous operations", invalid, repeat(600, "{ __typename }")},
		{"a long name", invalid, "{ " + long("b") + " }"},
		{"a name of 8 kB", invalid, "{ " + strings.Repeat("b", 8_000) + " }"},
		{"a long enum", invalid, "mutation { deleteGenre(input: {id: 1, onChildren: " + long("R") + "}) { __typename } }"},
		{"a long block string", "", `{ book(id: """` + strings.Repeat("\n 9", 200_000) + `""") { id } }`},
		{"escapes", "", `{ book(id: "` + strings.Repeat(`\u0041`, 120_000) + `") { id } }`},
		{"half a surrogate", unparsed, `{ book(id: "` + strings.Repeat(`\u0041`, 120_000) + `\ud800") { id } }`},
		{"a long number", "", "{ book(id: " + long("9") + ") { id } }"},
		{"a long float", invalid, "{ books(first: 1" + long("0") + ".5) { totalCount } }"},
		{"a long comment", "", "#" + long("a") + "\n{ __typename }"},
		{"comments", large, strings.Repeat("#\n", 300_000) + "{ __typename }"},
		{"commas", "", long(",") + "{ __typename }"},
	} {
		all = append(all, hostileBody{d.name, servertest.Encode(tb, map[string]string{"query": d.text}), http.StatusOK, d.code})
	}
	const ok, refused = http.StatusOK, http.StatusBadRequest
	return append(all, []hostileBody{
		{"1 MiB of braces", strings.Repeat("{", 1<<20), refused, bad},
		{"1 MiB of brackets", strings.Repeat("[", 1<<20), refused, bad},
		{"80,000 members", `{"query":"{ __typename }"` + repeat(80_000, `,"a%d":1`) + "}", refused, large},
		{"one member, 90,000 times", `{"query":"{ __typename }"` + repeat(90_000, `,"a":1`) + "}", refused, large},
		{"2 MiB", strings.Repeat(" ", 2<<20), http.StatusRequestEntityTooLarge, large},
		{"very deep variables", variables(strings.Repeat("[", 400_000) + strings.Repeat("]", 400_000)), refused, bad},
		{"wide variables of the wrong type", variables("[" + strings.Repeat("0,", 90_000) + "0]"), ok, invalid},
		{"a long variable", variables(`{"id":{"eq":"` + long("9") + `"}}`), ok, bad},
		{"a long number in a variable", variables(`{"id":{"eq":` + long("9") + `}}`), ok, bad},
	}...)
}

// TestHostileBodies demands that each is answered as the limits say, in few bytes.
func TestHostileBodies(t *testing.T) {
	c := servertest.Shelved(t)
	for _, b := range hostileBodies(t) {
		w := c.Do(http.MethodPost, "/graphql", b.body, "Authorization:")
		code, size, got := "", w.Body.Len(), servertest.Parse(t, w)
		if len(got.Errors) > 0 {
			code = got.Errors[0].Extensions.Code
		}
		if w.Code != b.status || code != b.code || len(got.Errors) > 10 || size > 64<<10 {
			t.Errorf("%s: status %d, %q, %d errors in %d bytes; want %d, %q",
				b.name, w.Code, code, len(got.Errors), size, b.status, b.code)
		}
	}
	if c.Log.Has("level=ERROR") || c.Log.Has("panic") {
		t.Errorf("the log has an error:\n%.2000s", c.Log)
	}
}

// BenchmarkHostileBodies measures each as a document that was not seen before.
func BenchmarkHostileBodies(b *testing.B) {
	c := servertest.Serve(b, catalogtest.SQLite(b))
	for _, hostile := range hostileBodies(b) {
		b.Run(hostile.name, func(b *testing.B) {
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				body := strings.Replace(hostile.body, `"query":"`, fmt.Sprintf(`"query":"#%d\n`, n), 1)
				c.Do(http.MethodPost, "/graphql", body, "Authorization:")
			}
		})
	}
}

// FuzzTransport sends requests of any kind to /graphql. Whatever they are, they
// are answered by JSON, and never as a failure of ours.
func FuzzTransport(f *testing.F) {
	c := servertest.Serve(f, catalogtest.SQLite(f))
	c.Shelves(f)
	const document = `{ book(id: 1) { name genre { category { name } } } }`
	body := func(v any) string { return servertest.Encode(f, v) }
	for _, accept := range []string{"", "*/*", "application/graphql-response+json", "application/json;q=0.1, application/graphql-response+json;q=0", "text/html"} {
		f.Add("POST", accept, "application/json", "", body(map[string]any{"query": document, "variables": map[string]any{"a": []any{1, nil, "\u2028"}}}))
		f.Add("GET", accept, "", "query="+url.QueryEscape(document)+"&variables="+url.QueryEscape(`{"a":{"b":[]}}`), "")
	}
	for _, seed := range []struct{ contentType, body string }{
		{"application/json; charset=utf-8", `{"extensions":` + byHash(hashOf(document)) + `,"query":` + body(document) + `}`},
		{"application/json", `{"documentId":"sha256:` + hashOf(document) + `","operationName":null}`},
		{"application/json", `[{"query":"{ __typename }"}]`},
		{"application/json", `{"query":"query ($v: Int = 1) { books(first: $v) { nodes { id } } }","variables":{"v":1e999}}`},
		{"application/json", `{"query":"query ($f: BookFilter) { books(filter: $f) { totalCount } }","variables":{"f":{"id":{"gt":"\ud83d\udc09"}}}}`},
		{"application/json", `{"query":"mutation ($i: CreateCategoryInput!) { createCategory(input: $i) { category { id name } } }","variables":{"i":{"name":"\u0000"}}}`},
		{"text/plain", "x"}, {"multipart/form-data; boundary=x", "--x--"}, {"application/json; charset=\xff", "{}"},
	} {
		f.Add("POST", "", seed.contentType, "", seed.body)
	}
	files, err := filepath.Glob("../../resolvers/testdata/*.graphql")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add("POST", "", "application/json", "", body(map[string]string{"query": string(text)}))
	}
	f.Fuzz(func(t *testing.T, method, accept, contentType, query, body string) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/graphql", strings.NewReader(body))
		r.Method, r.URL.RawQuery = method, query
		r.Header = http.Header{"Accept": {accept}, "Content-Type": {contentType}, "Authorization": {"Bearer " + c.Token}}
		w := httptest.NewRecorder()
		c.Handler.ServeHTTP(w, r)
		switch w.Code {
		case 200, 400, 405, 406, 413, 415:
		default:
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
		var a servertest.Answer
		if err := json.Unmarshal(w.Body.Bytes(), &a); err != nil || !json.Valid(w.Body.Bytes()) || a.Data == nil && len(a.Errors) == 0 {
			t.Errorf("%v: %s", err, w.Body)
		}
		for _, e := range a.Errors {
			if e.Message == "" || e.Extensions.Code == "" || e.Extensions.Code == "INTERNAL" || e.Extensions.Code == "UNAVAILABLE" {
				t.Errorf("%+v", e)
			}
		}
	})
}

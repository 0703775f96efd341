package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"library-catalogue/db/dbtest/catalogtest"
)

// FuzzTransport sends requests of any kind to /graphql. Whatever they are, they
// are answered by JSON, and never as a failure of ours.
func FuzzTransport(f *testing.F) {
	c := serve(f, catalogtest.SQLite(f))
	c.shelves(f)
	const document = `{ book(id: 1) { name genre { category { name } } } }`
	body := func(v any) string { return encode(f, v) }
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
	files, err := filepath.Glob("testdata/*.graphql")
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
		r.Header = http.Header{"Accept": {accept}, "Content-Type": {contentType}, "Authorization": {"Bearer " + c.token}}
		w := httptest.NewRecorder()
		c.handler.ServeHTTP(w, r)
		switch w.Code {
		case 200, 400, 405, 406, 413, 415:
		default:
			t.Errorf("status %d: %s", w.Code, w.Body)
		}
		var a answer
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

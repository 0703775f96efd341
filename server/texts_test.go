package server_test

import (
	"net/http"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/server/servertest"
)

// TestTexts sends requests with and without Catalogue-Texts: report. Without it the responses have no keys; with it they
// have the same English.
func TestTexts(t *testing.T) {
	c := servertest.Shelved(t)
	const create = `{"query":"mutation { createCategory(input: {name: \"\"}) { category { id } } }"}`
	const field = `{"key":"The %s field is required.","args":[{"key":"name","args":[]}]}`
	for _, test := range []struct{ target, body, english, texts string }{
		{"/graphql", create,
			`"extensions":{"code":"BAD_USER_INPUT","fields":[{"field":"name","message":"The name field is required."}],"requestId":"test"}`,
			`"fields":[{"field":"name","message":"The name field is required.","text":` + field + `}],"requestId":"test","text":` + field},
		{"/graphql", `{"query":"mutation { deleteGenre(input: {id: 1}) { deletedGenreId } }"}`,
			`"message":"Genre has 2 books"`, `"text":{"key":"Genre has %d books","args":[2]}`},
		{"/graphql", `{"query":"{ cars }"}`, `"extensions":{"code":"GRAPHQL_VALIDATION_FAILED","requestId":"test"}`, `"text":{"key":"Cannot query field`},
		{"/api/categories", `{}`,
			`{"success":false,"message":"The name field is required.","data":null,"errors":{"name":["The name field is required."]}}`,
			`"errors":{"name":["The name field is required."]},"text":` + field + `,"texts":{"name":` + field + `}}`},
	} {
		plain := c.Do(http.MethodPost, test.target, test.body)
		keyed := c.Do(http.MethodPost, test.target, test.body, "Catalogue-Texts: report")
		if plain.Code != keyed.Code || !strings.Contains(plain.Body.String(), test.english) || strings.Contains(plain.Body.String(), `"key"`) {
			t.Errorf("%s without texts: %s", test.body, plain.Body)
		}
		if !strings.Contains(keyed.Body.String(), test.texts) {
			t.Errorf("%s with texts: %s, want %s", test.body, keyed.Body, test.texts)
		}
	}
}

// TestTextsOfImports checks a file with a question, one with a bad row, and one of which the format has several parts.
func TestTextsOfImports(t *testing.T) {
	t.Parallel()
	c := servertest.Serve(t, catalogtest.SQLite(t))
	for file, want := range map[string][2]string{
		"name,author,pages,price,genre,category,date\nA,X,1,1,G,C,3/4/2005\n": {
			`"text":"The column date can be read in two ways, as 3/4/2005 (line 2)."`,
			`"text":[{"key":"the column %s can be read in two ways, as %s (%s)","args":["date","3/4/2005",{"key":"line %d","args":[2]}]}]`},
		"name,author,pages,price,genre,category,date\nA,X,1,1,G,C,2005-02-30\nB,X,1,1,G,C,2005-02-03\n": {
			`"message":"The published at field must be a valid date.","mend":"Write a day that exists, like 1982-06-30."`,
			`"message":{"key":"The %s field must be a valid date.","args":[{"key":"published at","args":[]}]}`},
		"\n\nname;author;pages;price;genre;category;date\nA;X;1;1;G;C;2005\n": {
			`"format":"CSV in UTF-8, delimited by semicolons, header in line 3 (2 lines skipped)"`,
			`"format":{"key":"%s, header in line %d (%d lines skipped)","args":[{"key":"CSV in %s, delimited by %s","args":["UTF-8",{"key":"semicolons","args":[]}]},3,2]}`},
	} {
		w := c.Do(http.MethodPost, "/api/imports?dry_run=true", file, "Content-Type: application/octet-stream")
		address := w.Header().Get("Location")
		plain := c.Do(http.MethodGet, address, "").Body.String()
		for ; strings.Contains(plain, `"ended_at":null`); plain = c.Do(http.MethodGet, address, "").Body.String() {
			servertest.Must(t, t.Context().Err())
		}
		keyed := c.Do(http.MethodGet, address, "", "Catalogue-Texts: report").Body.String()
		if !strings.Contains(plain, want[0]) || strings.Contains(plain, `"key"`) || !strings.Contains(keyed, want[1]) {
			t.Errorf("got %s\nand %s\nwant %s", plain, keyed, want)
		}
	}
}

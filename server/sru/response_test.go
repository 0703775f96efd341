package sru

import (
	"context"
	"flag"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// TestResponses compares the XML of all kinds of responses with a golden file.
func TestResponses(t *testing.T) {
	t.Parallel()
	h := Handler{PublicURL: "https://books.example", Query: func(context.Context, string, []byte) ([]byte, error) {
		return []byte(`{"books":{"totalCount":3,"nodes":[` +
			`{"id":"1","name":"Blue & \"red\" <hats>","description":"'a'\nb\u0001","pages":7,"publishedAt":"1999-01-01","author":"Ann Lee; Tolkien, J. R. R.",` +
			`"isbn":"9783161484100","publisher":"Ink & Co","language":"de","shelfMark":"QA 76","price":"1.00","createdAt":"2000-01-01T00:00:00Z","updatedAt":"2000-01-02T00:00:00Z",` +
			`"genre":{"name":"Tales > others","category":{"name":"Novels"}}},` +
			`{"id":"2","name":"Art","description":null,"pages":8,"publishedAt":"2001-02-03","author":"Bo Ek","price":"2.50","createdAt":"2000-01-01T00:00:00Z","updatedAt":"2000-01-02T00:00:00Z",` +
			`"genre":{"name":"Tales","category":{"name":"Novels"}}}]}}`), nil
	}}
	var got strings.Builder
	for _, query := range []string{
		"query=blue&recordSchema=dc&version=1.1&startRecord=1",
		"query=blue&recordSchema=dc&recordPacking=string&startRecord=2",
		"query=%22a+%26+b%22&maximumRecords=2",
		"operation=explain", "operation=scan", "operation=explain&version=3", "query=", "query=a+and",
	} {
		parameters, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		got.WriteString("== " + query + "\n" + ask(h, parameters))
	}
	const golden = "testdata/responses.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if diff := cmp.Diff(string(want), got.String()); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

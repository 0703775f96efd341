package attack

import (
	"strings"
	"time"
)

// All lists the attacks: each body of Bodies, and what is done with connections,
// headers, tokens and /api.
func All() []Attack {
	const (
		mebibyte = 1 << 20
		slow     = "slow to read: "
	)
	blank := strings.Repeat(" ", mebibyte-1)
	wide := `{"query":"{ __typename }","variables":{"v":[` + strings.Repeat("[],", 300_000) + `[]]}}`
	whole := func(target, headers, body string) []byte { return post(target, headers, body, len(body)) }
	query := func(text string) []byte {
		return whole("/graphql", "Cache-Control: no-cache\r\n", `{"query":"`+number+`\n`+text+`"}`)
	}
	dots := func(n int) []byte {
		return whole("/api/books", "Authorization: Bearer "+strings.Repeat(".", n)+"\r\n", "{}")
	}
	const (
		secretless = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhIiwiZXhwIjo0MTAyNDQ0ODAwfQ.c2lnbmF0dXJlc2lnbmF0dXJlc2lnbmF0dXJlc2lnbmE"
		books      = "books(first: 1000) { nodes { id name description author genre { id name description category { id name description } } } }"
	)
	all := []Attack{
		{"connections that say nothing", 500, nil, time.Minute},
		{"half of a long header", 150, []byte("GET /api/books HTTP/1.1\r\nX-A: " + strings.Repeat("a", 15_000)), 5 * time.Second},
		{"half of very many headers", 150, []byte("GET /api/books HTTP/1.1\r\n" + repeat(1_800, "A%d:\r\n")), 5 * time.Second},
		{"very many headers", 2, get("/api/nothing", repeat(1_800, "A%d:\r\n")), 0},
		{"half a body, GraphQL", 100, post("/graphql", "", blank, mebibyte), 15 * time.Second},
		{"half a body, REST", 100, post("/api/books", "", blank, mebibyte), 15 * time.Second},
		{"half a short body", 300, post("/graphql", "", blank[:8_000], 8_001), 15 * time.Second},
		{slow + "pages", 50, get("/api/books?per_page=1000", ""), 30 * time.Second},
		{slow + "lists", 10, get("/api/books", ""), 30 * time.Second},
		{slow + "queries", 50, query("{ " + books + " }"), 30 * time.Second},
		{"wide JSON, GraphQL", 2, whole("/graphql", "", wide), 0},
		{"wide JSON, REST", 2, whole("/api/books", "", wide), 0},
		{"a token of 15 kB of dots", 2, dots(15_000), 0},
		{"a token of 100 kB of dots", 2, dots(100_000), 0},
		{"a forged token", 2, whole("/api/books", "Authorization: Bearer "+secretless+"\r\n", "{}"), 0},
		{"valid documents of 495 fields, each another", 2, query("{ book(id: 1) {" + wideFields() + " } }"), 0},
		{"as much as an operation may cost", 2, query("{" + repeat(12, "a%d: "+books) + " }"), 0},
	}
	for _, b := range Bodies() {
		text := strings.Replace(b.Text, `"query":"`, `"query":"`+number+`\n`, 1)
		all = append(all, Attack{Name: b.Name, Clients: 2, Request: whole("/graphql", "", text)})
	}
	return all
}

// wideFields selects as much of a book as is allowed.
func wideFields() string {
	return repeat(15, "g%d: genre { id name description createdAt updatedAt a: id b: id c: id d: id e: id"+
		" category { id name description createdAt updatedAt a: id b: id c: id d: id e: id a1: id b1: id c1: id d1: id e1: id } }")
}

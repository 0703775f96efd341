package attack

import (
	"strings"
	"time"
)

// All lists the attacks: what is done with connections, headers, bodies, tokens,
// queries and /api, and at last each body of Bodies.
func All() []Attack {
	const mebibyte = 1 << 20
	all := connections()
	blank := strings.Repeat(" ", mebibyte-1)
	wide := `{"query":"{ __typename }","variables":{"v":[` + strings.Repeat("[],", 300_000) + `[]]}}`
	dots := func(n int) []byte {
		return whole("/api/books", "Authorization: Bearer "+strings.Repeat(".", n)+"\r\n", "{}")
	}
	const secretless = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiJhIiwiZXhwIjo0MTAyNDQ0ODAwfQ.c2lnbmF0dXJlc2lnbmF0dXJlc2lnbmF0dXJlc2lnbmE"
	all = append(all, []Attack{
		{Name: "half a body, GraphQL", Request: post("/graphql", "", blank, mebibyte), Then: hold(15 * time.Second)},
		{Name: "half a body, REST", Request: post("/api/books", "", blank, mebibyte), Then: hold(15 * time.Second)},
		{Name: "half a short body", Request: post("/graphql", "", blank[:8_000], 8_001), Then: hold(15 * time.Second)},
		{Name: "trickled bodies", Request: post("/graphql", "", "", mebibyte), Then: trickle(8_300, 15*time.Second)},
		{Name: "bodies of 32 kB a second", Request: post("/api/books", "", "", mebibyte), Then: trickle(3_200, 100*time.Millisecond)},
		{Name: "wide JSON, GraphQL", Request: whole("/graphql", "", wide)},
		{Name: "wide JSON, REST", Request: whole("/api/books", "", wide)},
		{Name: "a token of 15 kB of dots", Request: dots(15_000)},
		{Name: "a forged token", Request: whole("/api/books", "Authorization: Bearer "+secretless+"\r\n", "{}")},
	}...)
	all = append(all, queries()...)
	for _, b := range Bodies() {
		text := strings.Replace(b.Text, `"query":"`, `"query":"#`+number+`\n`, 1)
		all = append(all, Attack{Name: b.Name, Request: whole("/graphql", "", text)})
	}
	return all
}

// connections lists what is done with connections and headers, and with answers
// that are not taken.
func connections() []Attack {
	const (
		slow     = "slow to read: "
		compress = "Accept-Encoding: gzip\r\n"
	)
	list := get("/api/books", "")
	headers := strings.ReplaceAll(repeat(1_500, "A%d:\r\n"), " ", "")
	return []Attack{
		{Name: "connections that say nothing", Then: hold(time.Minute), Connections: 30},
		{Name: "connections that are idle after an answer", Request: get("/api/books/1", ""), Then: hold(time.Minute), Connections: 30},
		{Name: "a connection for each request", Request: get("/api/books/1", "Connection: close\r\n")},
		{Name: "half of a long header", Request: []byte("GET /api/books HTTP/1.1\r\nX-A: " + strings.Repeat("a", 15_000)), Then: hold(5 * time.Second)},
		{Name: "half of very many headers", Request: []byte("GET /api/books HTTP/1.1\r\n" + headers), Then: hold(5 * time.Second)},
		{Name: "very many headers", Request: get("/api/nothing", headers)},
		{Name: "very many types and tags that would do", Request: get("/api/books/1", "Accept: "+strings.Repeat("a/b;q=0.1,", 700)+"*/*\r\nIf-None-Match: "+strings.Repeat(`"a",`, 1_700)+"\"a\"\r\n")},
		{Name: "100 requests at once", Request: []byte(strings.Repeat(string(get("/api/books/1", "")), 100)), Then: hold(5 * time.Second)},
		{Name: slow + "pages", Request: get("/api/books?per_page=1000", ""), Then: hold(30 * time.Second)},
		{Name: slow + "lists", Request: list, Then: hold(30 * time.Second)},
		{Name: slow + "lists, 64 kB a second", Request: list, Then: readSlowly(64 << 10)},
		{Name: slow + "queries", Request: known(books), Then: hold(30 * time.Second)},
		{Name: "whole lists", Request: list},
		{Name: "whole lists, compressed", Request: get("/api/books?sort=-id", compress)},
		{Name: "whole lists, for their headers", Request: []byte("HEAD /api/books HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")},
		{Name: "openapi.yaml, compressed", Request: get("/openapi.yaml", compress)},
		{Name: "page numbers far behind", Request: get("/api/books?per_page=100&page=9\x00\x00", "Cache-Control: no-cache\r\n")},
		{Name: "pages of one, in an order without an index", Request: get("/api/books?per_page=1&sort=genre_name,-pages&page=9\x00\x00\x00\x00", "")},
	}
}

const books = "books(first: 1000) { nodes { id name description author genre { id name description category { id name description } } } }"

// queries lists documents that are allowed, or were at some time, and take long.
func queries() []Attack {
	const first = ", first: 1) { totalCount nodes { id } }"
	heavy := filtered(`{"or":[` + strings.TrimPrefix(repeat(190, `,{"description":{"icontains":"zq%d"}}`), " ,") + `]}`)
	const quantified = `{"genre":{"books":{"some":{"or":[{"description":{"icontains":"q"}},{"genre":{"books":{"every":{"author":{"icontains":"1"}}}}}]}}}}`
	return []Attack{
		{Name: "190 conditions without an index", Request: heavy},
		{Name: "190 conditions, and gone", Request: heavy, Then: hold(20 * time.Millisecond)},
		{Name: "quantifiers in quantifiers", Request: filtered(quantified)},
		{Name: "notIn of 10,000", Request: filtered(`{"id":{"notIn":[0` + repeat(9_999, ",1%d") + `]}}`)},
		{Name: "notIn of 500 texts", Request: filtered(`{"description":{"notIn":[""` + repeat(500, `,"%d"`) + `]}}`)},
		{Name: "aliases of one heavy list", Request: known(repeat(12, `a%d: books(filter: {description: {icontains: "zq%d"}}, orderBy: [{field: GENRE_NAME}]`+first))},
		{Name: "offsets far behind", Request: known(repeat(12, "a%d: books(first: 100, offset: 99%d00, orderBy: [{field: CATEGORY_NAME}, {field: PAGES}]) { nodes { id } }"))},
		{Name: "facets of all books", Request: known(repeat(12, "a%d: books(filter: {pages: {gt: %d}}) { facets { genres { count } categories { count } authors { count } years { count } } }"))},
		{Name: "groups of all books", Request: known(repeat(12, "a%d: bookGroups(by: [AUTHOR, YEAR, GENRE], having: {price: {sum: {gt: %d}}}, orderBy: {field: PRICE_AVG}) { aggregate { count price { avg } } }"))},
		{Name: "searches of 30 words with errors", Request: known(`books(search: "` + repeat(30, "bok%d") + `"` + first)},
		{Name: "searches of single letters", Request: known(`books(search: "a b l o s 1", first: 100) { totalCount nodes { id } facets { authors { count } } }`)},
		{Name: "figures of each genre's books", Request: known("genres(first: 1000) { nodes { books(filter: {pages: {gt: 3}}, orderBy: [{field: NAME}]" + first + " } }")},
		{Name: "as much as an operation may cost", Request: known(repeat(12, "a%d: "+books))},
		{Name: "valid documents of 495 fields, each another", Request: query("#"+number+`\n`+"{ book(id: 1) {"+wideFields()+" } }", "{}")},
	}
}

// query sends a document with its variables. The answer is not to come from the
// cache.
func query(document, variables string) []byte {
	return whole("/graphql", "Cache-Control: no-cache\r\n", `{"query":"`+strings.ReplaceAll(document, `"`, `\"`)+`","variables":`+variables+`}`)
}

// known sends a document that the service has seen before.
func known(selection string) []byte { return query("{"+selection+" }", "{}") }

// filtered counts the books that match a filter.
func filtered(filter string) []byte {
	return query("query ($v: BookFilter) { books(first: 1, filter: $v) { totalCount nodes { id } } }", `{"v":`+filter+`}`)
}

// wideFields selects as much of a book as is allowed.
func wideFields() string {
	return repeat(15, "g%d: genre { id name description createdAt updatedAt a: id b: id c: id d: id e: id"+
		" category { id name description createdAt updatedAt a: id b: id c: id d: id e: id a1: id b1: id c1: id d1: id e1: id } }")
}

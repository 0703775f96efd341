package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
)

// workload is a kind of request: a GraphQL POST if it has a query, else a GET.
type workload struct {
	name, title string
	path        string
	query       string
	variables   any        // may have placeholders of fill, as path may
	names       int        // number of names in a correct response, 0 if it varies
	connections int        // 0 means --connections
	cached      bool       // accepts a response from the cache
	mix         []workload // if set, each request is of one of these, in equal shares
}

const (
	pageSize     = 100
	genresOnPage = 20

	namedFields = `id name description createdAt updatedAt`
	bookFields  = `id name description pages publishedAt author price createdAt updatedAt`
	nested      = bookFields + ` genre { ` + namedFields + ` category { ` + namedFields + ` } }`

	queryW1 = `query W1($after: ID!) { books(first: 100, filter: {id: {gt: $after}}) { nodes { ` + nested + ` } } }`
	queryW2 = `query W2($id: ID!) { book(id: $id) { ` + nested + ` } }`
	queryW3 = `query W3($after: ID!) { genres(first: 20, filter: {id: {gt: $after}}) { nodes { ` + namedFields +
		` category { ` + namedFields + ` } books(first: 10) { nodes { ` + bookFields + ` } } } } }`
	queryW6 = `mutation W6($input: CreateBookInput!) {
		createBook(input: $input) { book { id name genre { id name } } } }`
	queryW7 = `query W7($author: String!, $from: Decimal!, $to: Decimal!, $before: Date!) { books(first: 50,` +
		` orderBy: [{field: PUBLISHED_AT, direction: DESC}],` +
		` filter: {author: {icontains: $author}, price: {gte: $from, lte: $to}, publishedAt: {lt: $before}})` +
		` { nodes { ` + nested + ` } } }`
	queryW9 = `query W9($search: String!) { books(first: 20, search: $search) {
		totalCount nodes { id name author price genre { name } } pageInfo { endCursor hasNextPage } } }`
)

type variables map[string]any

// mixed are the shapes of the mix: what single-page apps send at the same time. Requests of different shapes compete
// for permits and connections, and share no batch.
var mixed = []workload{
	{query: `query ($id: ID!) { book(id: $id) { ` + bookFields + ` } }`,
		variables: variables{"id": "$(1-100000)"}, names: 1},
	{query: queryW2, variables: variables{"id": "$(1-100000)"}, names: 3},
	{query: `query ($id: ID!) { books(filter: {id: {eq: $id}}) { nodes { ` + nested + ` } } }`,
		variables: variables{"id": "$(1-100000)"}, names: 3},
	{query: `query ($after: ID!) { books(first: 10, filter: {id: {gt: $after}}) { nodes { ` + nested + ` } } }`,
		variables: variables{"after": "$(1-99980)"}, names: 30},
	{query: queryW1, variables: variables{"after": "$(1-998)00"}, names: 3 * pageSize},
	{query: `query ($after: ID!) { genres(first: 20, filter: {id: {gt: $after}}) { nodes { ` + namedFields +
		` category { ` + namedFields + ` } } } }`, variables: variables{"after": "$(0-380)"}, names: 2 * genresOnPage},
	{query: queryW3, variables: variables{"after": "$(0-380)"}, names: 12 * genresOnPage},
	{query: queryW7, variables: queryW7Variables, names: 150},
	{query: `query ($genre: ID!) { books(first: 20, filter: {genreId: {eq: $genre}}) { nodes { id name author price } } }`,
		variables: variables{"genre": "$(1-400)"}, names: 20},
	{query: `query ($a: ID!, $b: ID!) { a: book(id: $a) { ` + nested + ` } b: book(id: $b) { ` + nested + ` } }`,
		variables: variables{"a": "$(1-100000)", "b": "$(1-100000)"}, names: 6},
}

var queryW7Variables = variables{"author": "uthor $(1-9)", "from": "$(0-19)", "to": "$(60-99)",
	"before": "$(1990-2019)-0$(1-9)-15"}

// workloads are in the order of measurement. W6 is last, because it adds books that the others would read.
var workloads = []workload{
	{name: "W1", title: "100 books with genre and category", query: queryW1,
		variables: variables{"after": "$(1-998)00"}, names: 3 * pageSize},
	{name: "W2", title: "a book by its id", query: queryW2, variables: variables{"id": "$(1-100000)"}, names: 3},
	{name: "W3", title: "20 genres, each with 10 books", query: queryW3,
		variables: variables{"after": "$(0-380)"}, names: 12 * genresOnPage},
	{name: "W4", title: "100 books by REST, after a cursor",
		path: "/api/books?per_page=100&after=$CURSOR", names: 3 * pageSize},
	{name: "W5", title: "all books by REST, one connection", path: "/api/books", names: 3 * allBooks, connections: 1},
	{name: "W7", title: "the latest 50 books by author, price and date", query: queryW7,
		variables: queryW7Variables, names: 150},
	{name: "W8", title: "the same page of W1 from the cache", query: queryW1,
		variables: variables{"after": "500"}, names: 3 * pageSize, cached: true},
	{name: "W9", title: "a search, ranked and counted", query: queryW9,
		variables: variables{"search": "shelf $(0-976)"}, names: 40},
	{name: "W10", title: "20 books by REST, by name and page number",
		path: "/api/books?per_page=20&sort=name&page=$(1-50)", names: 60},
	{name: "mix", title: "ten shapes of GraphQL in equal shares", mix: mixed},
	{name: "W6", title: "create a book, durably", query: queryW6, names: 2, variables: variables{"input": variables{
		"name": "New $(1-1000000000)", "description": "d", "pages": 10, "publishedAt": "2020-01-02",
		"author": "A", "price": "9.99", "genreId": "7"}}},
}

// body returns the body of the request with placeholders, "" for a GET.
func (w workload) body() string {
	if w.query == "" {
		return ""
	}
	text, err := json.Marshal(variables{"query": w.query, "variables": w.variables})
	if err != nil {
		panic(err) // strings and numbers never fail
	}
	return string(text)
}

var placeholder = regexp.MustCompile(`\$\(\d+-\d+\)|\$CURSOR`)

// fill replaces $(FROM-TO) by a number in that range, both included, and $CURSOR by one of cursors.
func fill(text string, random *rand.Rand, cursors []string) string {
	return placeholder.ReplaceAllStringFunc(text, func(found string) string {
		var from, to int
		if n, _ := fmt.Sscanf(found, "$(%d-%d)", &from, &to); n < 2 {
			return cursors[random.IntN(len(cursors))]
		}
		return strconv.Itoa(from + random.IntN(to-from+1))
	})
}

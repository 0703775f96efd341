package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"
)

const (
	pageSize     = 100
	genresOnPage = 20
	fixedAfter   = 500 // the page of the request that is made again and again
)

// workload is one thing to do, and who is measured doing it.
type workload struct {
	name, title string
	connections int  // 0: as many as asked for
	byTime      bool // compare times, since there are too few answers to count
	entrants    []entrant
	peers       goals
}

// goals are the other servers that are measured too, and how many times their
// rate the service is to have; 0: they are just shown.
type goals map[string]float64

// entrant is one who is measured: a server with a kind of request, or a command
// that is run again and again. The first of a workload is the service.
type entrant struct {
	name    string
	server  *process
	request *request
	command func(context.Context) *exec.Cmd
	targets []target
}

// What the workloads ask of the service.
const (
	namedFields = `id name description createdAt updatedAt`
	bookFields  = `id name description pages publishedAt author price createdAt updatedAt`
	nested      = bookFields + ` genre { ` + namedFields + ` category { ` + namedFields + ` } }`

	queryW1 = `query W1($after: ID!) { books(first: 100, filter: {id: {gt: $after}}) { nodes { ` + nested + ` } } }`
	queryW2 = `query W2($id: ID!) { book(id: $id) { ` + nested + ` } }`
	queryW3 = `query W3($after: ID!) { genres(first: 20, filter: {id: {gt: $after}}) { nodes { ` + namedFields +
		` category { ` + namedFields + ` } books(first: 10) { nodes { ` + bookFields + ` } } } } }`
	queryW6 = `mutation W6($input: CreateBookInput!) { createBook(input: $input) { book { id name genre { id name } } } }`
	queryW7 = `query W7($author: String!, $from: Decimal!, $to: Decimal!, $before: Date!) { books(first: 50,` +
		` orderBy: [{field: PUBLISHED_AT, direction: DESC}],` +
		` filter: {author: {icontains: $author}, price: {gte: $from, lte: $to}, publishedAt: {lt: $before}}) { nodes { ` + nested + ` } } }`

	// The same data, asked for with fragments, aliases and directives.
	mixedW1 = `query W1($after: ID!, $yes: Boolean!, $no: Boolean!) { page: books(first: 100, filter: {id: {gt: $after}}) { nodes { ...Nested } } }` +
		nestedFragment + fragments
	mixedW2 = `query W2($id: ID!, $yes: Boolean!, $no: Boolean!) { one: book(id: $id) { ...Nested } }` + nestedFragment + fragments
	mixedW3 = `query W3($after: ID!, $yes: Boolean!, $no: Boolean!) { page: genres(first: 20, filter: {id: {gt: $after}}) { nodes { ...OfGenre` +
		` category { ...OfCategory } some: books(first: 10) { nodes { ...OfBook } } } } }` + fragments

	nestedFragment = ` fragment Nested on Book { ...OfBook kind: genre { ...OfGenre category @skip(if: $no) { ...OfCategory } } }`
	fragments      = ` fragment OfBook on Book { rowId: id name about: description ... on Book { pages publishedAt }` +
		` writer: author price @include(if: $yes) createdAt updatedAt @skip(if: $no) }` +
		` fragment OfGenre on Genre { rowId: id name about: description createdAt ... @include(if: $yes) { updatedAt } }` +
		` fragment OfCategory on Category { rowId: id name about: description createdAt updatedAt }`
)

// lineup makes the workloads of the run. The service is kept from its cache in
// all but one, so that each answer is computed.
func (b *bench) lineup(ctx context.Context) ([]workload, error) {
	cursors, err := b.cursors(ctx)
	if err != nil {
		return nil, err
	}
	values := newValues(cursors)
	type variables map[string]any
	post := func(header, query string, v variables, names int) *request {
		body, err := json.Marshal(map[string]any{"query": query, "variables": v})
		if err != nil {
			panic(err) // it is made of texts
		}
		return &request{method: "POST", path: values.template("/graphql"), header: header,
			body: values.template(string(body)), names: names}
	}
	get := func(header, path string, names int) *request {
		return &request{method: "GET", path: values.template(path), header: header, names: names}
	}
	const uncached = "Cache-Control: no-cache\r\n"
	w1 := post(uncached, queryW1, variables{"after": "$AFTER"}, 3*pageSize)
	w2 := post(uncached, queryW2, variables{"id": "$ID"}, 3)
	w3 := post(uncached, queryW3, variables{"after": "$GOFF"}, 12*genresOnPage)
	again := post("", queryW1, variables{"after": fmt.Sprint(fixedAfter)}, 3*pageSize)
	create := post("Authorization: Bearer "+b.token+"\r\n", queryW6, variables{"input": variables{
		"name": "New $SEQ", "description": "d", "pages": 10, "publishedAt": "2020-01-02", "author": "A", "price": "9.99", "genreId": "7"}}, 2)
	sorted := post(uncached, queryW7, variables{"author": "$AUTHOR", "from": "$PMIN", "to": "$PMAX", "before": "$DATE"}, 150)

	// What the service answers here is what the limits must answer too. Where
	// it fails, that is told when it is its turn.
	written := get("", "/bytes", 3*pageSize)
	written.equal, _ = ask(ctx, b.service, again)

	const mb = 1 << 20
	service := func(q *request, targets ...target) entrant {
		return entrant{name: "the service", server: b.service, request: q, targets: targets}
	}
	mixed := func(query, name, place string, names int) entrant {
		return entrant{name: "the service, fragments, aliases, directives", server: b.service, targets: []target{slower(10)},
			request: post(uncached, query, variables{name: place, "yes": true, "no": false}, names)}
	}
	byHand := func(targets ...target) entrant {
		return entrant{name: "lib/pq by hand", server: b.limits, request: get("", "/rows?after=$AFTER", 3*pageSize), targets: targets}
	}
	all := []workload{
		{
			name: "W1", title: "100 books with genre and category, distinct pages",
			entrants: []entrant{service(w1, memory(64*mb)), mixed(mixedW1, "after", "$AFTER", 3*pageSize), byHand(atLeast(0.65))},
			peers:    goals{"postgraphile": 6, "mercurius": 6, "yoga": 4},
		},
		{
			name: "W2", title: "a book by its id",
			entrants: []entrant{service(w2, memory(64*mb)), mixed(mixedW2, "id", "$ID", 3)},
			peers:    goals{"postgraphile": 5, "mercurius": 4, "yoga": 0},
		},
		{
			name: "W3", title: "20 genres, each with 10 books",
			entrants: []entrant{service(w3, memory(64*mb)), mixed(mixedW3, "after", "$GOFF", 12*genresOnPage)},
			peers:    goals{"postgraphile": 3, "mercurius": 2.5, "yoga": 2},
		},
		{
			name: "W4", title: "100 books by REST",
			entrants: []entrant{service(get(uncached, "/api/books?per_page=100&after=$CURSOR", 3*pageSize), memory(64*mb)), byHand()},
			peers:    goals{"mercurius": 4},
		},
		{
			name: "W7", title: "books by author, price and date, the latest 50",
			entrants: []entrant{service(sorted, memory(64*mb))},
			peers:    goals{"postgraphile": 2.5, "mercurius": 2.5, "yoga": 0},
		},
		{
			name: "again", title: "the same page of W1 again and again, cached",
			entrants: []entrant{
				service(again),
				{name: "net/http, bytes written before", server: b.limits, request: written, targets: []target{atLeast(0.6)}},
			},
			peers: goals{"postgraphile": 40},
		},
		{name: "alone", title: "W1 on one connection", connections: 1, entrants: []entrant{service(w1, median(1500*time.Microsecond))}},
		{name: "alone", title: "W2 on one connection", connections: 1, entrants: []entrant{service(w2, median(500*time.Microsecond))}},
		{name: "alone", title: "W3 on one connection", connections: 1, entrants: []entrant{service(w3, median(2500*time.Microsecond))}},
		{
			name: "W5", title: "all books by REST, one connection", connections: 1, byTime: true,
			entrants: []entrant{
				service(get(uncached, "/api/books", 3*seededBooks), median(600*time.Millisecond), firstByte(20*time.Millisecond), memory(64*mb)),
				{name: `psql, \copy of the same rows`, command: b.copyRows, targets: []target{longer(2)}},
			},
		},
		// The last, because it changes what the others read.
		{
			name: "W6", title: "create a book, durably",
			entrants: []entrant{service(create, memory(64*mb))},
			peers:    goals{"postgraphile": 2, "mercurius": 1.5, "yoga": 0},
		},
	}
	if slices.Contains(b.Workloads, "surface") {
		surface, err := b.surfaceOf(ctx, values)
		if err != nil {
			return nil, err
		}
		all = append(surface, all...)
	}
	all = slices.DeleteFunc(all, func(w workload) bool { return !slices.Contains(b.Workloads, w.name) })
	for i := range all {
		all[i].addPeers(b.peers, values)
	}
	return all, nil
}

// addPeers adds the other servers that have the workload.
func (w *workload) addPeers(peers []*peer, values values) {
	for _, p := range peers {
		times, measured := w.peers[p.name]
		asked := w.name
		if w.name == "again" {
			asked = "W1"
		}
		q, known := p.requests[asked]
		if !measured || !known {
			continue
		}
		body := string(q.Body)
		if w.name == "again" {
			body = strings.ReplaceAll(body, "$AFTER", fmt.Sprint(fixedAfter))
		}
		e := entrant{name: p.name, server: p.process, request: &request{
			method: q.Method, path: values.template(q.Path), body: values.template(body),
			expect: q.Expect, names: w.entrants[0].request.names,
		}}
		if times > 0 {
			e.targets = []target{atLeast(times)}
		}
		w.entrants = append(w.entrants, e)
	}
}

// cursors asks the service for the cursors before its pages.
func (b *bench) cursors(ctx context.Context) (cursors []string, err error) {
	for after := ""; len(cursors) < seededBooks/pageSize-1; after = cursors[len(cursors)-1] {
		variables := map[string]any{}
		if after != "" {
			variables["after"] = after
		}
		body, err := json.Marshal(map[string]any{
			"query":     `query($after: String) { books(first: 100, after: $after) { pageInfo { endCursor } } }`,
			"variables": variables,
		})
		if err != nil {
			return nil, err
		}
		text, err := ask(ctx, b.service, &request{method: "POST", path: template{{text: "/graphql"}}, body: template{{text: string(body)}}})
		if err != nil {
			return nil, err
		}
		var answer struct {
			Data struct {
				Books struct{ PageInfo struct{ EndCursor string } }
			}
		}
		if err := json.Unmarshal(text, &answer); err != nil {
			return nil, err
		}
		cursors = append(cursors, answer.Data.Books.PageInfo.EndCursor)
	}
	return cursors, nil
}

// copyRows is a command that reads all that the service answers to W5.
func (b *bench) copyRows(ctx context.Context) *exec.Cmd {
	return exec.CommandContext(ctx, "psql", "--no-psqlrc", "--quiet", "--dbname", b.database, "--command",
		`\copy (SELECT * FROM books b JOIN genres g ON g.id = b.genre_id JOIN categories c ON c.id = g.category_id ORDER BY b.id) TO STDOUT`)
}

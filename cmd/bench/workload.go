package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

const (
	pageSize     = 100
	genresOnPage = 20
)

// workload is a kind of request, as the service is asked.
type workload struct {
	name, title string
	connections int // 0: as many as the flag says
	request     func(s *service) *request
}

// contender is a server that is measured, with a kind of request.
type contender struct {
	name    string
	server  *process
	request *request
}

// What the workloads ask of the service. It answers none but the repeated page
// from its cache, so that each answer is computed.
const (
	uncached    = "Cache-Control: no-cache\r\n"
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
)

// workloads are in the order in which they are measured: W6 is the last, because
// it changes what the others read.
var workloads = []workload{
	{"W1", "100 books with genre and category, distinct pages", 0, func(*service) *request {
		return graphQL(uncached, queryW1, variables{"after": "$AFTER"}, 3*pageSize)
	}},
	{"W2", "a book by its id", 0, func(*service) *request {
		return graphQL(uncached, queryW2, variables{"id": "$ID"}, 3)
	}},
	{"W3", "20 genres, each with 10 books", 0, func(*service) *request {
		return graphQL(uncached, queryW3, variables{"after": "$GOFF"}, 12*genresOnPage)
	}},
	{"W4", "100 books by REST", 0, func(s *service) *request {
		return get(uncached, "/api/books?per_page=100&after=$CURSOR", s.cursors, 3*pageSize)
	}},
	{"W7", "books by author, price and date, the latest 50", 0, func(*service) *request {
		return graphQL(uncached, queryW7, variables{"author": "$AUTHOR", "from": "$PMIN", "to": "$PMAX", "before": "$DATE"}, 150)
	}},
	{"again", "the same page of W1 again and again, cached", 0, func(*service) *request {
		return graphQL("", queryW1, variables{"after": "500"}, 3*pageSize)
	}},
	{"W5", "all books by REST, one connection", 1, func(*service) *request {
		return get(uncached, "/api/books", nil, 3*seededBooks)
	}},
	{"W6", "create a book, durably", 0, func(s *service) *request {
		return graphQL("Authorization: Bearer "+s.token+"\r\n", queryW6, variables{"input": variables{
			"name": "New $SEQ", "description": "d", "pages": 10, "publishedAt": "2020-01-02", "author": "A", "price": "9.99", "genreId": "7"}}, 2)
	}},
}

// contenders returns who is measured by a workload, the service first.
func (b *bench) contenders(w workload) []contender {
	all := []contender{{"the service", b.service.process, w.request(b.service)}}
	if b.against != nil {
		return append(all, contender{b.Against, b.against.process, w.request(b.against)})
	}
	if w.name == "W1" || w.name == "W4" {
		all = append(all, contender{"lib/pq by hand", b.baseline, get("", "/rows?after=$AFTER", nil, 3*pageSize)})
	}
	return append(all, b.peersOf(w.name, all[0].request.names)...)
}

// readCursors asks the service for the cursors before its pages of books.
func (s *service) readCursors(ctx context.Context) error {
	client, err := dial(ctx, s.process, time.Now().Add(answerTimeout))
	if err != nil {
		return err
	}
	defer client.Close()
	for offset := 0; offset < seededBooks; offset += 1000 {
		text, err := client.ask(graphQL("", fmt.Sprintf(`{ books(first: 1000, offset: %d) { edges { cursor } } }`, offset), nil, 0), 0)
		if err != nil {
			return err
		}
		var answer struct {
			Data struct {
				Books struct{ Edges []struct{ Cursor string } }
			}
		}
		if err := json.Unmarshal(text, &answer); err != nil {
			return err
		}
		for i := pageSize - 1; i < len(answer.Data.Books.Edges); i += pageSize {
			s.cursors = append(s.cursors, answer.Data.Books.Edges[i].Cursor)
		}
	}
	s.cursors = s.cursors[:len(s.cursors)-1] // nothing follows the last row
	return nil
}

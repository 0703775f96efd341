package server_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"

	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/server"
	"library-catalogue/server/graphqlhttp"
	"library-catalogue/server/servertest"
)

// liveLists are filters, orders and searches of lists of books.
var liveLists = []string{
	``, `(first: 3)`, `(last: 2)`, `(first: 2, offset: 1)`,
	`(filter: {genreId: {eq: 1}})`, `(filter: {genreId: {in: [2, 4]}})`, `(filter: {genreId: {notIn: [1, 2]}})`, `(filter: {genreId: {neq: 1}})`,
	`(filter: {pages: {gt: 300}})`, `(filter: {pages: {gte: 300, lt: 500}})`, `(filter: {pages: {lte: 300}})`,
	`(filter: {price: {gte: 10}})`, `(filter: {price: {lt: 10.005}})`, `(filter: {publishedAt: {gte: "1950-01-01"}})`,
	`(filter: {author: {eq: "J.R.R. Tolkien"}})`, `(filter: {author: {icontains: "tolk"}})`, `(filter: {name: {startsWith: "The"}})`,
	`(filter: {name: {gt: "n"}})`, `(filter: {isbn: {isNull: true}})`, `(filter: {publisher: {isNull: false}})`, `(filter: {publisher: {neq: "Ace"}})`,
	`(filter: {language: {in: ["eng", "deu"]}})`, `(filter: {id: {lte: 3}})`, `(filter: {updatedAt: {gt: "2020-01-01T00:00:00Z"}})`,
	`(filter: {or: [{pages: {lt: 200}}, {price: {gt: 20}}]})`, `(filter: {not: {genreId: {eq: 1}}})`, `(filter: {and: [{not: {pages: {gt: 300}}}, {genreId: {gte: 2}}]})`,
	`(filter: {genre: {name: {startsWith: "N"}}})`, `(filter: {genre: {categoryId: {eq: 1}}})`, `(filter: {genre: {books: {some: {pages: {gt: 400}}}}})`,
	`(orderBy: {field: PRICE, direction: DESC})`, `(orderBy: {field: GENRE_NAME}, first: 4)`, `(orderBy: {field: CATEGORY_NAME, direction: DESC})`, `(orderBy: {field: UPDATED_AT})`,
	`(search: "tolkien")`, `(search: "new", orderBy: {field: NAME})`, `(search: "tolkien", filter: {pages: {gt: 100}})`,
}

// liveDocuments returns queries of all kinds, without the braces of the operation.
func liveDocuments() (documents []string) {
	for i, list := range liveLists {
		fields := `totalCount nodes {name pages}`
		if i%3 == 0 {
			fields = `totalCount pageInfo {hasNextPage} edges {node {name genre {name category {name}}}}`
		}
		documents = append(documents, `books`+list+` {`+fields+`}`)
	}
	return append(documents,
		`book(id: 1) {name version genre {name}}`, `book(id: 99999) {name}`, `genre(id: 1) {name}`, `genre(id: 2) {name books {totalCount nodes {name}}}`,
		`category(id: 1) {name genres {nodes {name books(first: 1, filter: {pages: {gt: 300}}) {totalCount}}}}`,
		`genres {totalCount nodes {name category {name}}}`, `genres(filter: {categoryId: {eq: 1}}, orderBy: {field: NAME}) {nodes {name}}`, `genres(orderBy: {field: CATEGORY_NAME}) {nodes {name}}`,
		`categories {nodes {name genres {totalCount}}}`, `categories(filter: {name: {contains: "i"}}) {nodes {name books {totalCount}}}`,
		`books {facets {genres {genre {name} count} years {count}}}`, `books(filter: {genreId: {eq: 1}}) {aggregate {count price {sum max}}}`,
		`bookGroups(by: [GENRE]) {totalCount nodes {genre {name} aggregate {count}}}`, `booksByIsbn(isbn: "9780261102217") {name}`,
		`node(nodeId: "`+model.NodeID("Genre", 1)+`") {... on Genre {name}}`,
		`changes(first: 1000, types: [GENRE]) {nodes {rowId operation version}}`, `history(type: BOOK, id: 1) {nodes {operation version}}`,
		`viewer {subject}`, `troubles(kinds: [NO_PUBLISHER, SIMILAR_AUTHORS, SAME_BOOK]) {kind count pairs {one other} books {name}}`, `__typename`,
		`then: book(id: 1, asOf: "2020-01-01T00:00:00Z") {name} now: book(id: 1) {name}`,
		`a: books(filter: {pages: {lt: 200}}) {totalCount} b: books(filter: {pages: {lt: 200}}) {totalCount nodes {name}} genre(id: 3) {name}`,
		`... on Query {books(first: 1) {nodes {... on Node {nodeId} ... on Book {name}}}}`,
	)
}

// liveStream is a live query of a client.
type liveStream struct {
	document  string
	throttle  int // 0: none
	messages  chan liveMessage
	got       []string
	positions []string // of got; none by WebSocket
	reports   bool     // each message has a position
}

// liveMessage is the data and errors of a message, and its position.
type liveMessage struct{ text, position string }

// operation returns the operation of the stream.
func (s *liveStream) operation() string {
	if s.throttle > 0 {
		return fmt.Sprintf("query @live(throttle: %d) {%s}", s.throttle, s.document)
	}
	return "query @live {" + s.document + "}"
}

// openSocket opens the stream by a WebSocket. It ends with ctx.
func (s *liveStream) openSocket(t *testing.T, ctx context.Context, url, token string) {
	t.Helper()
	conn, _, err := websocket.Dial(ctx, url+"/graphql", &websocket.DialOptions{
		Subprotocols: []string{"graphql-transport-ws"}, HTTPHeader: http.Header{"Authorization": {"Bearer " + token}}})
	servertest.Must(t, err)
	conn.SetReadLimit(1 << 20)
	for _, message := range []string{`{"type":"connection_init"}`, `{"id":"1","type":"subscribe","payload":{"query":` + servertest.Encode(t, s.operation()) + `}}`} {
		servertest.Must(t, conn.Write(ctx, websocket.MessageText, []byte(message)))
	}
	s.messages = make(chan liveMessage, 10_000)
	go func() {
		defer func() { _ = conn.CloseNow() }()
		defer close(s.messages)
		for {
			var message struct {
				Type    string
				Payload json.RawMessage
			}
			_, text, err := conn.Read(ctx)
			if err != nil {
				return
			}
			if err := json.Unmarshal(text, &message); err != nil || message.Type == "error" || message.Type == "complete" {
				return
			}
			if message.Type == "next" {
				s.messages <- liveMessage{text: timeless(string(message.Payload))}
			}
		}
	}()
}

// open opens the stream by server-sent events, with positions. It ends with ctx.
func (s *liveStream) open(t *testing.T, ctx context.Context, url, token string) {
	t.Helper()
	body, _ := json.Marshal(map[string]any{"query": s.operation()})
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/graphql", bytes.NewReader(body))
	servertest.Must(t, err)
	s.reports = true
	r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"text/event-stream"}, "Catalogue-Position": {"report"}}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := http.DefaultClient.Do(r)
	servertest.Must(t, err)
	s.messages = make(chan liveMessage, 10_000)
	go func() {
		defer response.Body.Close()
		defer close(s.messages)
		for lines := bufio.NewReader(response.Body); ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			if data, ok := strings.CutPrefix(line, "data: "); ok && strings.TrimSpace(data) != "" {
				s.messages <- liveMessage{timeless(data), positionOf(data)}
			}
		}
	}()
}

// quoted returns a query as a JSON string.
func quoted(document string) []byte {
	text, _ := json.Marshal("{" + document + "}")
	return text
}

// timeless returns a response without what differs from request to request.
func timeless(text string) string {
	var body struct {
		Data   json.RawMessage
		Errors []struct{ Message string }
	}
	if json.Unmarshal([]byte(text), &body) != nil {
		return text
	}
	return fmt.Sprint(string(body.Data), body.Errors)
}

// positionOf returns extensions.position.
func positionOf(text string) string {
	var body struct{ Extensions struct{ Position string } }
	_ = json.Unmarshal([]byte(text), &body)
	return body.Extensions.Position
}

// await waits until the last message is the state of now.
func (s *liveStream) await(t *testing.T, states []string) {
	t.Helper()
	for s.got == nil || s.got[len(s.got)-1] != states[len(states)-1] {
		message, open := <-s.messages
		if !open {
			t.Errorf("%s: the last message is not the state of now:\n%s\n%s", s.document, s.got[max(0, len(s.got)-1):], states[len(states)-1])
			return
		}
		s.got, s.positions = append(s.got, message.text), append(s.positions, message.position)
	}
}

// check compares all messages with the states in their order. positions are of the states: a message is of the state at
// its position. That of a write by SQL may come later, but before the next state. Positions do not go back.
func (s *liveStream) check(t *testing.T, states, positions []string) {
	t.Helper()
	at := 0
	for i, message := range s.got {
		position := s.positions[i]
		if s.reports && position == "" {
			t.Errorf("%s: message %d has no position: %s", s.document, i, message)
		}
		for at < len(states) && (states[at] != message || s.reports && !isNear(position, positions, at)) {
			at++
		}
		if at == len(states) || i > 0 && (message == s.got[i-1] || isBefore(position, s.positions[i-1])) {
			t.Errorf("%s: message %d is no later state, or the last one again: %s %s", s.document, i, position, message)
			return
		}
	}
}

// isNear reports whether a position may be of a state: from that of the state before to that of the next state.
func isNear(position string, positions []string, state int) bool {
	return !isBefore(position, positions[max(0, state-1)]) &&
		(state+1 >= len(positions) || !isBefore(positions[state+1], position))
}

// isBefore compares positions, which no client may do.
func isBefore(a, b string) bool {
	numbers := func(position string) (out []int) {
		for part := range strings.SplitSeq(position, ".") {
			n, _ := strconv.Atoi(part)
			out = append(out, n)
		}
		return out
	}
	return slices.Compare(numbers(a), numbers(b)) < 0
}

var endCursor = regexp.MustCompile(`"endCursor":"([^"]+)"`)

// openSQL opens a database as another program would.
func openSQL(t *testing.T, url string) *sql.DB {
	t.Helper()
	path, isFile := strings.CutPrefix(url, "sqlite:")
	if !isFile {
		return program(t, url)
	}
	opened, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(10000)&_pragma=foreign_keys(1)")
	servertest.Must(t, err)
	t.Cleanup(func() { _ = opened.Close() })
	return opened
}

// TestLiveQueries writes by all doors, one write at a time, while clients follow queries of all kinds by WebSockets and
// event streams. Each message is the answer of a fresh request at one of the states, that of its position, in their
// order. After each of the first writes, and at the end, the last message is the answer of now.
func TestLiveQueries(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		server := httptest.NewServer(c.Handler)
		t.Cleanup(server.Close)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute) // a stream that lacks a state fails then
		defer cancel()
		other := servertest.Serve(t, c.URL) // another program
		program := openSQL(t, c.URL)
		cursor := c.Get(t, `{books(first: 1) {pageInfo {endCursor}}}`, "")
		documents := append(liveDocuments(), `books(first: 3, after: "`+endCursor.FindStringSubmatch(cursor)[1]+`") {nodes {name}}`)
		streams, states := make([]*liveStream, len(documents)), make([][]string, len(documents))
		var positions []string
		read := func() {
			positions = append(positions, positionOf(c.Do(http.MethodPost, "/graphql", `{"query":"{__typename}"}`, "Catalogue-Position: report").Body.String()))
			for i, document := range documents {
				states[i] = append(states[i], timeless(c.Do(http.MethodPost, "/graphql", `{"query":`+string(quoted(document))+`}`).Body.String()))
			}
		}
		read()
		for i, document := range documents {
			streams[i] = &liveStream{document: document, throttle: i % 5 * 100}
			if i%2 == 0 {
				streams[i].open(t, ctx, server.URL, c.Token)
			} else {
				streams[i].openSocket(t, ctx, server.URL, c.Token)
			}
		}
		await := func() {
			for i, s := range streams {
				s.await(t, states[i])
			}
		}
		await()
		for i, document := range documents {
			if strings.HasPrefix(states[i][0], "[") {
				t.Errorf("%s is refused: %s", document, states[i][0])
			}
		}
		random := rand.New(rand.NewPCG(1, 1))
		book := func() int { return 1 + random.IntN(8) }
		for n := range 40 {
			switch n % 10 {
			case 0:
				c.Do(http.MethodPost, "/api/books", fmt.Sprintf(`{"name":"New %d","pages":%d,"published_at":"%d-01-01","author":"J.R.R. Tolkien","price":%d,"genre_id":%d}`, n, 1+random.IntN(600), 1900+n, random.IntN(40), 1+random.IntN(4)))
			case 1:
				other.Ask(t, fmt.Sprintf(`mutation {updateBook(input: {id: %d, patch: {pages: %d}}) {clientMutationId}}`, book(), 1+random.IntN(600)), "")
			case 2:
				c.Ask(t, fmt.Sprintf(`mutation {updateGenre(input: {id: %d, patch: {name: "N%d"}}) {clientMutationId}}`, 1+random.IntN(4), n), "")
			case 3:
				c.Ask(t, fmt.Sprintf(`mutation {deleteBook(input: {id: %d}) {clientMutationId}}`, book()), "")
			case 4:
				c.Ask(t, fmt.Sprintf(`mutation {updateCategory(input: {id: 1, patch: {name: "Fiction %d"}}) {clientMutationId}}`, n), "")
			case 6:
				c.Ask(t, fmt.Sprintf(`mutation {updateBooks(input: {filter: {genreId: {eq: %d}}, patch: {pages: %d}, atMost: 100}) {clientMutationId}}`, 1+random.IntN(4), 1+random.IntN(600)), "")
			case 7:
				_, err := program.ExecContext(t.Context(), fmt.Sprintf(`UPDATE books SET author = 'Author %d', genre_id = %d WHERE id %% 3 = %d`, n, 1+random.IntN(4), random.IntN(3)))
				servertest.Must(t, err)
			case 5:
				c.Ask(t, fmt.Sprintf(`mutation {createGenre(input: {name: "Genre %d", categoryId: 1}) {clientMutationId}}`, n), "")
			default:
				c.Ask(t, fmt.Sprintf(`mutation {updateBook(input: {id: %d, patch: {price: %d, genreId: %d, publisher: %q}}) {clientMutationId}}`, book(), random.IntN(40), 1+random.IntN(4), []string{"Ace", "Allen & Unwin"}[n%2]), "")
			}
			read()
			if n < 30 {
				await()
			}
		}
		c.Ask(t, `mutation {deleteGenre(input: {id: 1, onChildren: CASCADE}) {clientMutationId}}`, "")
		read()
		await()
		for i, s := range streams {
			s.check(t, states[i], positions)
		}
	})
}

// TestLiveCallers lets three callers follow the same queries: each gets the answer that a fresh request gives the same
// caller, also for fields that depend on the caller. All fields of Query are among
// them, but lookup, which cannot be live.
func TestLiveCallers(t *testing.T) {
	servertest.OnEach(t, func(t *testing.T, c *servertest.Client) {
		c.Reconfigure(t, server.Config{GraphQL: graphqlhttp.Options{Introspection: graphqlhttp.IntrospectionTokens}})
		c.Get(t, `mutation {updateBook(input: {id: 1, patch: {pages: 7}}) {clientMutationId}}`, "")
		server := httptest.NewServer(c.Handler)
		t.Cleanup(server.Close)
		documents := append(liveDocuments(), `__schema {queryType {name}}`, `__type(name: "Book") {name}`, `viewer {subject scopes}`,
			`changes(first: 1000) {nodes {actor}}`, `recentChanges {nodes {rowId actor changeSet {id actor}}}`, `history(type: BOOK, id: 1) {nodes {actor}}`,
			`book(id: 1) {history {nodes {actor}}}`, `recentChanges(actor: "tester") {nodes {rowId}}`,
			`nodes(nodeIds: ["`+model.NodeID("Book", 1)+`"]) {... on Book {pages}}`)
		for _, field := range graph.NewExecutableSchema(graph.Config{}).Schema().Query.Fields {
			if field.Name != "lookup" && !slices.ContainsFunc(documents, func(document string) bool { return strings.Contains(document, field.Name) }) {
				t.Errorf("no document has the field %s", field.Name)
			}
		}
		callers := []string{c.Token, "", servertest.TokenOf(t, "stranger")}
		for _, document := range documents {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			for _, token := range append(callers, callers...) { // all streams of a document are open at once
				authorization := "Authorization: Bearer " + token
				if token == "" {
					authorization = "Authorization:"
				}
				want := timeless(c.Do(http.MethodPost, "/graphql", `{"query":`+string(quoted(document))+`}`, authorization).Body.String())
				s := &liveStream{document: document}
				s.open(t, ctx, server.URL, token)
				if got := (<-s.messages).text; got != strings.TrimPrefix(want, "null") { // a refusal ends a stream
					t.Errorf("%s of %.10s: got %s, want %s", document, token, got, want)
				}
			}
			cancel()
		}
	})
}

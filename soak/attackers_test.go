package soak

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// attack is a load that hostile clients repeat.
type attack struct {
	name        string
	connections int                // connections of each client
	total       int                // connections of all clients; replaces connections
	request     func(n int) string // returns the n-th request, or "" to send none
	trickle     bool               // sends the rest of the body at 10 kB a second
	slow        bool               // reads the response at 64 KiB a second
	idle        bool               // keeps the connection open after the response
}

var attacks = []attack{
	{name: "heavy queries", connections: 4, request: heavyQuery},
	{name: "searches with facets", connections: 4, request: func(n int) string {
		return graphQL(fmt.Sprintf(`{ books(first: 20, search: "shelf %d") { totalCount nodes { name } facets {
			genres(first: 5) { count } authors(first: 5) { count } years(first: 5) { count } } } }`, n%shelves), "{}")
	}},
	{name: "trickled bodies", connections: 20, trickle: true, request: func(int) string {
		return post(strings.Repeat(" ", 64<<10), 1<<20)
	}},
	{name: "slow readers of whole lists", connections: 8, slow: true, request: func(int) string {
		return get("/api/books")
	}},
	{name: "idle connections", total: 600, idle: true, request: func(n int) string {
		return []string{"", get("/api/books/1")}[n%2]
	}},
	{name: heavyAndWhole, connections: 4, request: func(n int) string {
		if n%4 < 2 {
			return heavyQuery(n)
		}
		return get(fmt.Sprintf("/api/books?price_min=0.%02d&sort=-price", n%100))
	}},
	{name: "large documents", connections: 2, request: largeDocument},
}

const heavyAndWhole = "heavy lists and whole lists"

// heavyQuery returns a GraphQL scan with ten patterns for an even n, else a REST page in an order without an index.
func heavyQuery(n int) string {
	if n%2 == 1 {
		const page = "/api/books?per_page=1&price_min=0.%02d&sort=genre_name,-pages&page=%d"
		return get(fmt.Sprintf(page, n%100, 9_000+n%9_000))
	}
	var patterns []string
	for i := range 10 {
		patterns = append(patterns, fmt.Sprintf(`{"description":{"icontains":"zq%d-%d"}}`, n, i))
	}
	return graphQL("query ($f: BookFilter) { books(first: 1, filter: $f) { totalCount nodes { id } } }",
		`{"f":{"or":[`+strings.Join(patterns, ",")+`]}}`)
}

// largeDocument returns a document with nearly the maximum of fields. For an odd n it also has nearly the maximum
// of bytes.
func largeDocument(n int) string {
	var fields strings.Builder
	for i := range 15 {
		const aliases = "id a: id b: id c: id d: id e: id f: id name g: name h: name i: name j: name k: name l: name"
		fmt.Fprintf(&fields, "g%d: genre { %s category { %[2]s } } ", i, aliases)
	}
	comment := strings.Repeat("-", n%2*1_000_000)
	return graphQL(fmt.Sprintf("#%d%s\n{ book(id: 1) { %s } }", n, comment, &fields), "{}")
}

func get(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n" }

// post returns a request whose Content-Length is length and whose body starts with body.
func post(body string, length int) string {
	const header = "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
	return fmt.Sprintf("%s%d\r\n\r\n%s", header, length, body)
}

func graphQL(document, variables string) string {
	quoted, _ := json.Marshal(document) // a string never fails
	body := fmt.Sprintf(`{"query":%s,"variables":%s}`, quoted, variables)
	return post(body, len(body))
}

// attackersCommand is the argument that makes the test binary run the attackers.
const attackersCommand = "attack"

func TestMain(m *testing.M) {
	if len(os.Args) == 5 && os.Args[1] == attackersCommand {
		runAttackers()
		return
	}
	if len(os.Args) == 4 && os.Args[1] == guessCommand {
		runGuesses()
		return
	}
	os.Exit(m.Run())
}

// runAttackers attacks until standard input ends, and prints the number of successful responses. Its arguments are
// the address of the server, the index of the attack and the number of clients. Each client has its own address.
func runAttackers() {
	address := os.Args[2]
	which, _ := strconv.Atoi(os.Args[3])
	clients, _ := strconv.Atoi(os.Args[4])
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	a := attacks[which]
	if a.total > 0 {
		a.connections = a.total / clients
	}
	var running sync.WaitGroup
	for i := range clients * a.connections {
		from := net.IPv4(127, 0, 2, byte(1+i%clients))
		running.Go(func() {
			for n := i * 1_000_003; ctx.Err() == nil; {
				n = a.connect(ctx, from, address, n)
			}
		})
	}
	running.Wait()
	fmt.Printf("%d of %d answered", answered.Load(), sent.Load())
}

// sent counts requests; answered counts responses with a status below 300.
var sent, answered atomic.Int64

// connect sends the requests from n on over one connection until it closes, and returns the next number.
func (a attack) connect(ctx context.Context, from net.IP, address string, n int) (next int) {
	conn, err := (&net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}).DialContext(ctx, "tcp", address)
	if err != nil {
		pause(ctx, 100*time.Millisecond)
		return n
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if a.slow {
		_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10)
	}
	for responses, open := bufio.NewReader(conn), true; open; n++ {
		if request := a.request(n); request != "" {
			sent.Add(1)
			_, err = io.WriteString(conn, request)
			for a.trickle && err == nil {
				pause(ctx, 100*time.Millisecond)
				_, err = io.WriteString(conn, strings.Repeat(" ", 1_000))
			}
			open = a.receive(ctx, responses)
		}
		if a.idle { // until the server closes the connection
			_, _ = io.Copy(io.Discard, responses)
			pause(ctx, time.Second)
			open = false
		}
	}
	return n
}

// receive reads a response. It reports whether another can follow.
func (a attack) receive(ctx context.Context, responses *bufio.Reader) bool {
	response, err := http.ReadResponse(responses, nil)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	if response.StatusCode < 300 {
		answered.Add(1)
	}
	for err == nil {
		if a.slow {
			pause(ctx, time.Second/16)
		}
		_, err = io.CopyN(io.Discard, response.Body, 4<<10)
	}
	return errors.Is(err, io.EOF) && !response.Close
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

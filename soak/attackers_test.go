package soak

import (
	"bufio"
	"context"
	"encoding/json"
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

// attack is one kind of load that hostile clients send, again and again.
type attack struct {
	name        string
	connections int                // of each client
	together    int                // connections of all clients, in place of connections
	request     func(n int) string // differs from request to request; "": none is sent
	trickle     bool               // the rest of the body follows at 10 kB a second
	slow        bool               // the answer is read at 64 KiB a second
	idle        bool               // the connection stays open after the answer
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
	{name: "idle connections", together: 600, idle: true, request: func(n int) string {
		return []string{"", get("/api/books/1")}[n%2]
	}},
	{name: "large documents", connections: 2, request: largeDocument},
}

// heavyQuery returns a scan with ten patterns by GraphQL, or a page by REST in an order
// without an index.
func heavyQuery(n int) string {
	if n%2 == 1 {
		return get(fmt.Sprintf("/api/books?per_page=1&price_min=0.%02d&sort=genre_name,-pages&page=%d", n%100, 9_000+n%9_000))
	}
	var patterns []string
	for i := range 10 {
		patterns = append(patterns, fmt.Sprintf(`{"description":{"icontains":"zq%d-%d"}}`, n, i))
	}
	return graphQL("query ($f: BookFilter) { books(first: 1, filter: $f) { totalCount nodes { id } } }",
		`{"f":{"or":[`+strings.Join(patterns, ",")+`]}}`)
}

// largeDocument returns a document with nearly as many fields as an operation may have,
// and every second time with nearly as many bytes as a body may have.
func largeDocument(n int) string {
	var fields strings.Builder
	for i := range 15 {
		const of = "id a: id b: id c: id d: id e: id f: id name g: name h: name i: name j: name k: name l: name"
		fmt.Fprintf(&fields, "g%d: genre { %s category { %[2]s } } ", i, of)
	}
	return graphQL(fmt.Sprintf("#%d%s\n{ book(id: 1) { %s } }", n, strings.Repeat("-", n%2*1_000_000), &fields), "{}")
}

func get(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n" }

// post returns a request with the beginning of a body of so many bytes.
func post(body string, length int) string {
	const header = "POST /graphql HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: "
	return fmt.Sprintf("%s%d\r\n\r\n%s", header, length, body)
}

func graphQL(document, variables string) string {
	quoted, _ := json.Marshal(document) // a string always can be
	body := fmt.Sprintf(`{"query":%s,"variables":%s}`, quoted, variables)
	return post(body, len(body))
}

// attackersCommand is the argument with which the test's program is the attackers.
const attackersCommand = "attack"

func TestMain(m *testing.M) {
	if len(os.Args) == 5 && os.Args[1] == attackersCommand {
		runAttackers()
		return
	}
	os.Exit(m.Run())
}

// runAttackers attacks until its standard input ends. Its arguments are the server's
// address, the number of the attack and the number of clients, each of which has an
// address of its own. It prints how many requests were answered.
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
	if a.together > 0 {
		a.connections = a.together / clients
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

// sent counts requests, and answered those with a status below 300.
var sent, answered atomic.Int64

// connect sends requests over one connection until it ends. They are numbered from n on;
// it returns the next number.
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
	for answers, open := bufio.NewReader(conn), true; open; n++ {
		if request := a.request(n); request != "" {
			sent.Add(1)
			_, err = io.WriteString(conn, request)
			for a.trickle && err == nil {
				pause(ctx, 100*time.Millisecond)
				_, err = io.WriteString(conn, strings.Repeat(" ", 1_000))
			}
			open = a.receive(ctx, answers)
		}
		if a.idle { // until the server closes the connection
			_, _ = io.Copy(io.Discard, answers)
			pause(ctx, time.Second)
			open = false
		}
	}
	return n
}

// receive reads an answer. It reports whether another can follow.
func (a attack) receive(ctx context.Context, answers *bufio.Reader) bool {
	answer, err := http.ReadResponse(answers, nil)
	if err != nil {
		return false
	}
	if answer.StatusCode < 300 {
		answered.Add(1)
	}
	for err == nil {
		if a.slow {
			pause(ctx, time.Second/16)
		}
		_, err = io.CopyN(io.Discard, answer.Body, 4<<10)
	}
	return err == io.EOF && !answer.Close
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

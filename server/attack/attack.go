// Package attack is what hostile clients do to a public endpoint, for the tests
// that hold the service to standing it. It knows nothing of the service but its
// address.
package attack

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Attack is one kind of thing that hostile clients do, again and again.
type Attack struct {
	Name string
	// Request is what is sent; a run of NUL is a number that differs from request to
	// request: a text that was not seen before is in no cache.
	Request []byte
	// Then is what a client does in place of reading the answer. What follows goes
	// over another connection.
	Then func(context.Context, net.Conn)
	// Connections is how many each client has at once; 0: one.
	Connections int
}

// number is the place of a number in a request.
const number = "\x00\x00\x00\x00\x00\x00\x00"

// Crowd is who attacks.
type Crowd struct {
	Clients int    // each makes one of the attacks
	Address string // which all come from; "": each client has its own
}

// Run attacks the server at an address until ctx ends.
func Run(ctx context.Context, address string, attacks []Attack, crowd Crowd) {
	var clients sync.WaitGroup
	for i := range crowd.Clients {
		a, from := attacks[i%len(attacks)], net.ParseIP(crowd.Address)
		if from == nil {
			from = net.IPv4(127, 0, byte(2+i/250), byte(1+i%250))
		}
		for range max(1, a.Connections) {
			clients.Go(func() { a.run(ctx, address, &net.TCPAddr{IP: from}, i*1_000_000) })
		}
	}
	clients.Wait()
}

// run is the life of a connection and of those that follow it. Its requests are
// numbered from first on.
func (a Attack) run(ctx context.Context, address string, from net.Addr, first int) {
	request := bytes.Clone(a.Request)
	start, end := bytes.IndexByte(request, 0), bytes.LastIndexByte(request, 0)+1
	dialer := net.Dialer{LocalAddr: from}
	for n := first; ctx.Err() == nil; {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			pause(ctx, 100*time.Millisecond) // the server may be full
			continue
		}
		stop := context.AfterFunc(ctx, func() { conn.Close() })
		answers := bufio.NewReader(conn)
		for err == nil {
			if n++; start >= 0 {
				digits := fmt.Sprintf("%0*d", end-start, n)
				copy(request[start:end], digits[len(digits)-(end-start):])
			}
			_, err = conn.Write(request)
			if a.Then != nil {
				a.Then(ctx, conn)
				break
			}
			if answer, failed := readAnswer(answers); failed != nil || answer.Close {
				break // also where the server did not want the rest of the request
			}
		}
		stop()
		conn.Close()
	}
}

// pause lets some time go by.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// hold sends and reads nothing for so long.
func hold(d time.Duration) func(context.Context, net.Conn) {
	return func(ctx context.Context, _ net.Conn) { pause(ctx, d) }
}

// trickle sends so many spaces at a time.
func trickle(bytes int, every time.Duration) func(context.Context, net.Conn) {
	piece := strings.Repeat(" ", bytes)
	return func(ctx context.Context, conn net.Conn) {
		for err := error(nil); err == nil; pause(ctx, every) {
			_, err = io.WriteString(conn, piece)
		}
	}
}

// readSlowly reads so many bytes a second, and a system keeps no more for it.
func readSlowly(perSecond int64) func(context.Context, net.Conn) {
	const pieces = 10 // a second
	return func(ctx context.Context, conn net.Conn) {
		_ = conn.(*net.TCPConn).SetReadBuffer(4 << 10) // it is slow with more, too
		for err := error(nil); err == nil; pause(ctx, time.Second/pieces) {
			_, err = io.CopyN(io.Discard, conn, perSecond/pieces)
		}
	}
}

func readAnswer(from *bufio.Reader) (*http.Response, error) {
	answer, err := http.ReadResponse(from, nil)
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return answer, err
}

// post writes a request with a body of which so many bytes are announced.
func post(target, headers, body string, length int) []byte {
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s", target, headers, length, body)
}

func whole(target, headers, body string) []byte { return post(target, headers, body, len(body)) }

func get(target, headers string) []byte {
	return fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: x\r\n%s\r\n", target, headers)
}

// repeat writes a text with the numbers from 0 on in place of its %d.
func repeat(n int, text string) string {
	var b strings.Builder
	for i := range n {
		b.WriteByte(' ')
		b.WriteString(strings.ReplaceAll(text, "%d", fmt.Sprint(i)))
	}
	return b.String()
}

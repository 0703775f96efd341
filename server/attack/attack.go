// Package attack is what hostile clients do to a public endpoint, for the tests
// and the benchmark that hold the service to standing it. It knows nothing of the
// service but its address.
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
	Name    string
	Clients int    // at once
	Request []byte // as it is sent; digits in place of number make each another
	// Holds is how long a client sends nothing after this, and reads nothing, before
	// it does the same over another connection; 0: it reads the answer.
	Holds time.Duration
}

// number is the place of a number in a request. A text that was not seen before
// is in no cache.
const number = "#0000000"

// Run attacks the server at an address until ctx ends.
func Run(ctx context.Context, address string, attacks []Attack) {
	var clients sync.WaitGroup
	for _, a := range attacks {
		for i := range a.Clients {
			clients.Go(func() { a.run(ctx, address, i*1_000_000) })
		}
	}
	clients.Wait()
}

// run is the life of one client, which numbers its requests from first on.
func (a Attack) run(ctx context.Context, address string, first int) {
	request := bytes.Clone(a.Request)
	at := bytes.Index(request, []byte(number))
	for n := first; ctx.Err() == nil; {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
		if err != nil {
			pause(ctx, 100*time.Millisecond) // the server may be full
			continue
		}
		stop := context.AfterFunc(ctx, func() { conn.Close() })
		answers := bufio.NewReader(conn)
		for err == nil {
			if n++; at >= 0 {
				copy(request[at+1:], fmt.Sprintf("%07d", n%10_000_000))
			}
			_, err = conn.Write(request)
			if a.Holds > 0 {
				pause(ctx, a.Holds)
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

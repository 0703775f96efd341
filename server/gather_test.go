package server

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// plainWrites is a listener that counts how often its connections write one buffer
// alone: a write of several goes by the embedded connection.
type plainWrites struct {
	net.Listener
	writes atomic.Int64
}

type plainConn struct {
	*net.TCPConn
	counted *plainWrites
}

func (p *plainWrites) Accept() (net.Conn, error) {
	conn, err := p.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return plainConn{conn.(*net.TCPConn), p}, nil
}

func (c plainConn) Write(p []byte) (int, error) {
	c.counted.writes.Add(1)
	return c.TCPConn.Write(p)
}

// TestLargeAnswersGoWhole wants answers of all sizes to arrive as they were written,
// one after another by one connection, and a large one to be sent by one call.
func TestLargeAnswersGoWhole(t *testing.T) {
	text := func(size int) []byte { // no two places of it are alike
		var b bytes.Buffer
		for i := 0; b.Len() < size; i++ {
			b.WriteString(strconv.Itoa(i))
		}
		return b.Bytes()[:size]
	}
	// An answer is written in the parts that the path names: "declared" is how many
	// bytes there are, "flush" sends what there is.
	handler := NewObserver(ObserverConfig{}).around(func(ctx context.Context) context.Context { return ctx }, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, part := range strings.Split(strings.Trim(r.URL.Path, "/"), "/") {
			what, size, _ := strings.Cut(part, "=")
			n, _ := strconv.Atoi(size)
			switch what {
			case "declared":
				w.Header().Set("Content-Length", size)
			case "flush":
				_ = http.NewResponseController(w).Flush()
			case "header":
				w.Header().Set("X-Filler", string(text(n)))
			case "part":
				if written, err := w.Write(text(n)); written != n || err != nil {
					t.Errorf("%s: wrote %d bytes of %d, %v", r.URL.Path, written, n, err)
				}
			}
		}
	}))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	counted := &plainWrites{Listener: listener}
	srv := listening(handler, writeTimeout)
	go srv.Serve(Bound(srv, counted, 10))
	defer srv.Close()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	reader := bufio.NewReader(conn)
	ask := func(method, path string) (body []byte, writes int64) {
		t.Helper()
		before := counted.writes.Load()
		request, err := http.NewRequest(method, path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: x\r\n\r\n", method, path); err != nil {
			t.Fatal(err)
		}
		response, err := http.ReadResponse(reader, request)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if body, err = io.ReadAll(response.Body); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		return body, counted.writes.Load() - before
	}
	for _, size := range []int{0, 1, 2048, 4096, largeWrite - 1, largeWrite, largeWrite + 1, 100_000, 3_000_000} {
		whole := text(size)
		for _, header := range []int{0, 3_000, 5_000} {
			for _, form := range []string{"declared=%d/part=%[2]d", "part=%d", "declared=%d/flush/part=%[2]d", "part=%d/flush"} {
				path := fmt.Sprintf("/header=%d/"+form, header, size)
				if body, _ := ask(http.MethodGet, path); !bytes.Equal(body, whole) {
					t.Errorf("%s: another body of %d bytes", path, len(body))
				}
			}
		}
	}
	parts := slices.Concat(text(8), text(100_000), text(10), text(9_000))
	if body, _ := ask(http.MethodGet, "/part=8/part=100000/part=10/part=9000"); !bytes.Equal(body, parts) {
		t.Errorf("another body of %d bytes, not %d", len(body), len(parts))
	}
	if body, _ := ask(http.MethodHead, "/declared=100000/part=100000"); len(body) > 0 {
		t.Errorf("HEAD has a body of %d bytes", len(body))
	}
	if _, writes := ask(http.MethodGet, "/declared=100/part=100"); writes != 1 {
		t.Errorf("a small answer was sent by %d calls", writes)
	}
	for _, path := range []string{"/declared=100000/part=100000", "/declared=100008/part=8/part=100000"} {
		if _, writes := ask(http.MethodGet, path); writes != 0 {
			t.Errorf("%s: %d buffers were sent by themselves", path, writes)
		}
	}
}

// TestNothingStaysHeld wants what was held to be sent when there is no more, and
// nothing to be held after a panic.
func TestNothingStaysHeld(t *testing.T) {
	ours, theirs := net.Pipe()
	c := &connection{deadlines: deadlines{Conn: ours}, all: &connections{}}
	got := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(theirs)
		got <- all
	}()
	n, err := whole(withConnection(t.Context(), c), func() (int, error) { return c.Write([]byte("the beginning")) })
	if n != len("the beginning") || err != nil {
		t.Errorf("wrote %d bytes, %v", n, err)
	}
	func() {
		defer func() { _ = recover() }()
		_, _ = whole(withConnection(t.Context(), c), func() (int, error) { panic("in the middle") })
	}()
	if _, err := c.Write([]byte(", and the end")); err != nil {
		t.Error(err)
	}
	_ = ours.Close()
	if all := <-got; string(all) != "the beginning, and the end" {
		t.Errorf("%q arrived", all)
	}
}

package admission

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// pipes is a listener whose connections are in memory.
type pipes struct {
	conns chan net.Conn
	done  chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.done); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// TestServeBoundsConnections opens more connections than there may be: of those that are waited
// for, the oldest is closed, whether it asked nothing yet, or not all, or does not
// read. One that is being answered stays, and what comes last is answered.
func TestServeBoundsConnections(t *testing.T) {
	t.Parallel()
	const most = 5
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/body":
				_, _ = io.Copy(io.Discard, r.Body)
			case "/large":
				_, _ = io.WriteString(w, strings.Repeat("a", 100_000))
			case "/slow":
				<-answer
			}
		})}
		listener := &pipes{make(chan net.Conn), make(chan struct{})}
		go Serve(srv, listener, most)
		dial := func(text string) net.Conn {
			ours, theirs := net.Pipe()
			listener.conns <- theirs
			if _, err := io.WriteString(ours, text); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			return ours
		}
		cut := func(conn net.Conn) bool {
			t.Helper()
			synctest.Wait()
			_, err := conn.Write([]byte("\r")) // which a server that waits for more takes
			return errors.Is(err, io.ErrClosedPipe)
		}
		answered := func(conn net.Conn) {
			t.Helper()
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil || response.StatusCode != http.StatusOK {
				t.Fatal(response, err)
			}
		}
		slow := dial("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
		waiting := []net.Conn{
			dial(""),
			dial("GET / HTTP/1.1\r\nX-A: "),
			dial("POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"),
			dial("GET /large HTTP/1.1\r\nHost: x\r\n\r\n"),
		}
		for i, conn := range waiting {
			last := dial("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			answered(last)
			last.Close()
			if _, isLarge := map[int]bool{3: true}[i]; isLarge {
				text, _ := io.ReadAll(conn)
				if len(text) >= 100_000 {
					t.Errorf("the one that did not read got all of %d bytes", len(text))
				}
			} else if !cut(conn) {
				t.Errorf("connection %d was not closed", i)
			}
			defer dial("GET / HTTP/1.1\r\nX-A: ").Close() // in its place
		}
		close(answer)
		answered(slow)
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestServeClosesLast makes many connections that the server is about to close, since it
// does not want the rest of their requests. They push out no other.
func TestServeClosesLast(t *testing.T) {
	t.Parallel()
	const most = 3
	synctest.Test(t, func(t *testing.T) {
		srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {})}
		listener := &pipes{make(chan net.Conn), make(chan struct{})}
		go Serve(srv, listener, most)
		defer func() {
			_ = srv.Close()
			time.Sleep(time.Second) // net/http waits before it closes a connection
		}()
		ask := func(text string) (net.Conn, *http.Response) {
			ours, theirs := net.Pipe()
			listener.conns <- theirs
			if _, err := io.WriteString(ours, text); err != nil {
				t.Fatal(err)
			}
			response, err := http.ReadResponse(bufio.NewReader(ours), nil)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			return ours, response
		}
		patient, _ := ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		for range 2 * most {
			if _, response := ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"); !response.Close {
				t.Fatal("the body was waited for: the test does not show what it should")
			}
		}
		if _, err := io.WriteString(patient, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatalf("the one that stayed was closed: %v", err)
		}
		if _, err := http.ReadResponse(bufio.NewReader(patient), nil); err != nil {
			t.Error(err)
		}
	})
}

// TestServeBoundsBytes lets clients hold back the ends of long headers: what is held for
// them stays bounded, and who asks something is answered.
func TestServeBoundsBytes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		srv := &http.Server{Handler: http.NotFoundHandler()}
		listener := &pipes{make(chan net.Conn), make(chan struct{})}
		bounded := newListener(srv, listener, 1_000)
		go bounded.serve()
		dial := func(text string) net.Conn {
			ours, theirs := net.Pipe()
			listener.conns <- theirs
			if _, err := io.WriteString(ours, text); err != nil {
				t.Fatal(err)
			}
			return ours
		}
		const half = 60_000
		for range 2 * maxWaitingBytes / half {
			dial("GET / HTTP/1.1\r\nX-A: " + strings.Repeat("a", half))
		}
		time.Sleep(2 * byteGrace)
		asking := dial("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		if response, err := http.ReadResponse(bufio.NewReader(asking), nil); err != nil || response.StatusCode != http.StatusNotFound {
			t.Error(response, err)
		}
		bounded.withLock(func() {
			if bounded.bytes > maxWaitingBytes || bounded.bytes < maxWaitingBytes/2 {
				t.Errorf("%d bytes are held", bounded.bytes)
			}
		})
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
}

package admission

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
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

// network is a server whose connections are in memory and come from anywhere.
type network struct {
	*testing.T
	pipes
}

// serve starts a server with handler, and ends it with the test.
func serve(t *testing.T, maxConnections int, handler http.HandlerFunc) *network {
	t.Helper()
	n := &network{t, pipes{make(chan net.Conn), make(chan struct{})}}
	srv := &http.Server{Handler: handler, ReadHeaderTimeout: time.Hour}
	go Serve(srv, n, maxConnections)
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second) // net/http waits before it closes a connection
	})
	return n
}

// remote is a connection from an address.
type remote struct {
	net.Conn
	address net.Addr
}

func (r remote) RemoteAddr() net.Addr { return r.address }

// dial connects from an address, and sends a text there.
func (n *network) dial(from, text string) net.Conn {
	n.Helper()
	ours, theirs := net.Pipe()
	n.conns <- remote{theirs, net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(from), 1))}
	if _, err := io.WriteString(ours, text); err != nil {
		n.Fatal(err)
	}
	synctest.Wait()
	return ours
}

// wantCut demands whether the server has closed a connection on which it waits for more.
func (n *network) wantCut(conn net.Conn, want bool) {
	n.Helper()
	synctest.Wait()
	_ = conn.SetWriteDeadline(time.Now().Add(time.Millisecond))
	if _, err := conn.Write([]byte("a")); errors.Is(err, io.ErrClosedPipe) != want {
		n.Errorf("a write to the connection: %v, closed should be %v", err, want)
	}
}

func (n *network) wantAnswer(conn net.Conn) *http.Response {
	n.Helper()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || response.StatusCode != http.StatusOK {
		n.Fatal(response, err)
	}
	return response
}

const (
	begun  = "GET / HTTP/1.1\r\nX-A: "
	upload = "POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n"
	get    = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
)

// handle answers by the path of a request.
func handle(answer <-chan struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/body":
			_, _ = io.Copy(io.Discard, r.Body)
		case "/large":
			_, _ = io.WriteString(w, strings.Repeat("a", 100_000))
		case "/slow":
			<-answer
		}
	}
}

// TestServeBoundsConnections opens more connections than there may be: those without a
// request are closed before those with one, in each case the oldest first. One that
// is being answered stays, and what comes last is answered.
func TestServeBoundsConnections(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		n := serve(t, 6, handle(answer))
		dial := func(text string) net.Conn {
			conn := n.dial("192.0.2.1", text)
			time.Sleep(2 * grace)
			return conn
		}
		slow := dial("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
		body := dial(upload)
		large := dial("GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
		silent, half := dial(""), dial(begun)
		idle := dial("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		n.wantAnswer(idle)
		time.Sleep(2 * grace)
		for i, next := range []net.Conn{silent, half, idle, body} {
			last := dial(strings.Replace(upload, "/body", "/slow", 1))
			n.wantCut(next, true)
			if i == 0 {
				n.wantCut(half, false)
			}
			defer last.Close()
		}
		dial("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
		if text, _ := io.ReadAll(large); len(text) >= 100_000 {
			t.Errorf("the one that did not read got all of %d bytes", len(text))
		}
		close(answer)
		n.wantAnswer(slow)
	})
}

// TestServeIsFair has one client open connections past the limit: its own are closed,
// not another's that are idle, or that take an answer slowly.
func TestServeIsFair(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := serve(t, 20, handle(nil))
		idle := n.dial("2001:db8::1", begun)
		large := n.dial("2001:db8::1", "GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
		time.Sleep(2 * grace)
		for i := range 100 {
			text := []string{"", begun, upload}[i%3]
			n.dial(fmt.Sprintf("2001:db8:0:1::%x", i+1), text) // any address of its network
			time.Sleep(grace / 10)
		}
		n.wantCut(idle, false)
		if text, err := io.ReadAll(n.wantAnswer(large).Body); len(text) != 100_000 || err != nil {
			t.Errorf("the download was cut after %d bytes: %v", len(text), err)
		}
	})
}

// TestServeCutsWork has one client fill the server with requests that are worked on: it
// loses one of them for a request of another client.
func TestServeCutsWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		n := serve(t, 6, handle(answer))
		for range 6 {
			n.dial("192.0.2.1", "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
		}
		other := n.dial("192.0.2.2", get)
		n.wantAnswer(other)
		close(answer)
	})
}

// TestServePaces has clients take answers and send bodies at several rates: who is but
// slow gets on, and who is too slow, or stops, is cut.
func TestServePaces(t *testing.T) {
	t.Parallel()
	const length = 1_000_000
	for name, tt := range map[string]struct {
		rate, until  int           // bytes a second, until so many
		answer, body time.Duration // after which they are cut; 0: never
	}{
		"slow":     {rate: minRate * 11 / 10, until: length},
		"fast":     {rate: length, until: length},
		"trickled": {rate: 100, until: length, answer: answerGrace, body: bodyGrace},
		"too slow": {rate: minRate / 2, until: length, answer: 2 * answerGrace, body: 2 * bodyGrace},
		"stopped":  {rate: length, until: length / 2, answer: answerGrace + length/2/minRate*time.Second, body: bodyGrace + length/2/minRate*time.Second},
	} {
		check := func(t *testing.T, method string, want time.Duration, move func(conn net.Conn, bytes int64) error) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				type result struct {
					err  error
					took time.Duration
				}
				begun, ended := time.Now(), make(chan result, 1)
				n := serve(t, 5, func(w http.ResponseWriter, r *http.Request) {
					var err error
					if r.Method == http.MethodPost {
						_, err = io.Copy(io.Discard, r.Body)
					} else {
						_, err = io.WriteString(w, strings.Repeat("a", length))
					}
					ended <- result{err, time.Since(begun)}
				})
				conn := n.dial("192.0.2.1", fmt.Sprintf("%s / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", method, map[string]int{"POST": length}[method]))
				for moved := 0; moved < tt.until && move(conn, int64(tt.rate/10)) == nil; moved += tt.rate / 10 {
					time.Sleep(time.Second / 10)
				}
				time.Sleep(10 * time.Minute)
				const step = paceStep / minRate * time.Second
				end := <-ended
				err, took := end.err, end.took
				if cut := err != nil; cut != (want > 0) || cut && (took < want-step || took > want+step) {
					t.Errorf("it ended after %v with %v; to be cut after %v", took, err, want)
				}
			})
		}
		t.Run(name+" answer", func(t *testing.T) {
			check(t, http.MethodGet, tt.answer, func(conn net.Conn, bytes int64) error {
				_, err := io.CopyN(io.Discard, conn, bytes)
				return err
			})
		})
		t.Run(name+" body", func(t *testing.T) {
			check(t, http.MethodPost, tt.body, func(conn net.Conn, bytes int64) error {
				_, err := conn.Write(make([]byte, bytes))
				return err
			})
		})
	}
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
		for range 2 * maxHeld / headerCost / half {
			dial("GET / HTTP/1.1\r\nX-A: " + strings.Repeat("a", half))
		}
		time.Sleep(2 * grace)
		asking := dial("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		if response, err := http.ReadResponse(bufio.NewReader(asking), nil); err != nil || response.StatusCode != http.StatusNotFound {
			t.Error(response, err)
		}
		bounded.withLock(func() {
			if held := bounded.total.held; held > maxHeld || held < maxHeld/2 {
				t.Errorf("%d bytes are held", held)
			}
		})
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
	})
}

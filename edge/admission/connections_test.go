package admission

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
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
	listener *listener
}

// serve starts a server with handler, and ends it with the test.
func serve(t *testing.T, maxConnections int, handler http.HandlerFunc) *network {
	t.Helper()
	n := &network{T: t, pipes: pipes{make(chan net.Conn), make(chan struct{})}}
	n.listener = Listener(&n.pipes, maxConnections).(*listener)
	srv := &http.Server{Handler: handler, ReadHeaderTimeout: time.Hour}
	go srv.Serve(n.listener)
	t.Cleanup(func() {
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second) // net/http waits before it closes a connection
		n.listener.mu.Lock()
		defer n.listener.mu.Unlock()
		if len(n.listener.connections) > 0 || len(n.listener.networks) > 0 || n.listener.unsent != 0 {
			t.Errorf("%d connections are left, with %d bytes", len(n.listener.connections), n.listener.unsent)
		}
	})
	return n
}

// remote is a connection from an address.
type remote struct {
	net.Conn
	address net.Addr
}

func (r remote) RemoteAddr() net.Addr { return r.address }

// dial connects from an address, and sends a text there. Each connection is a moment
// younger than the last.
func (n *network) dial(from, text string) net.Conn {
	n.Helper()
	ours, theirs := net.Pipe()
	n.conns <- remote{theirs, net.TCPAddrFromAddrPort(netip.AddrPortFrom(netip.MustParseAddr(from), 1))}
	if _, err := io.WriteString(ours, text); err != nil && !errors.Is(err, io.ErrClosedPipe) {
		n.Fatal(err)
	}
	synctest.Wait()
	time.Sleep(time.Millisecond)
	n.Cleanup(func() { ours.Close() })
	return ours
}

// isCut reports whether the server has closed a connection on which it waits for more.
func isCut(conn net.Conn) bool {
	_ = conn.SetWriteDeadline(time.Now().Add(time.Millisecond))
	_, err := conn.Write([]byte("a"))
	return errors.Is(err, io.ErrClosedPipe)
}

// status reads an answer to its end, and returns its status: 0 where there is none.
func (n *network) status(conn net.Conn) int {
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		return 0
	}
	return response.StatusCode
}

func (n *network) wantAnswer(conn net.Conn) {
	n.Helper()
	if got := n.status(conn); got != http.StatusOK {
		n.Errorf("status %d", got)
	}
}

const (
	begun = "GET / HTTP/1.1\r\nX-A: "
	get   = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
	slow  = "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n"
)

// handle answers /slow once answer is closed, and /large with 1 MiB.
func handle(answer <-chan struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/large":
			_, _ = w.Write(bytes.Repeat([]byte("a"), 1<<20))
		case "/slow":
			<-answer
		}
	}
}

// TestConnectionsOverTheLimit opens more connections than there may be from one network:
// the one that has waited longest for its client goes, and none that is worked for.
func TestConnectionsOverTheLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		n := serve(t, 4, handle(answer))
		working := n.dial("192.0.2.1", slow)
		silent, half, idle := n.dial("192.0.2.1", ""), n.dial("192.0.2.1", begun), n.dial("192.0.2.1", get)
		n.wantAnswer(idle)
		for i, victim := range []net.Conn{silent, half, idle} {
			next := n.dial("192.0.2.1", slow)
			defer n.wantAnswer(next)
			if !isCut(victim) {
				t.Errorf("connection %d is open", i)
			}
		}
		if refused := n.dial("192.0.2.1", ""); !isCut(refused) {
			t.Error("there are more connections than may be, and each is worked for")
		}
		close(answer)
		n.wantAnswer(working)
	})
}

// TestLargestNetworkLoses opens connections from several networks: the network with most
// loses, however old the connections of others are.
func TestLargestNetworkLoses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := serve(t, 5, handle(nil))
		other := n.dial("192.0.2.9", "")
		var many []net.Conn
		for i := range 4 {
			many = append(many, n.dial(fmt.Sprintf("2001:db8:1:2::%d", i), "")) // one /64
		}
		last := n.dial("192.0.2.10", get)
		if isCut(other) || !isCut(many[0]) || isCut(many[1]) {
			t.Error("another connection was closed than the oldest of the largest network")
		}
		n.wantAnswer(last)
	})
}

// TestLargestNetworkLosesWork has a network whose connections are all worked for: it loses one
// of these, and no other network's.
func TestLargestNetworkLosesWork(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		n := serve(t, 4, handle(answer))
		idle := n.dial("192.0.2.9", "")
		for range 3 {
			n.dial("192.0.2.1", slow)
		}
		last := n.dial("192.0.2.10", get)
		if isCut(idle) {
			t.Error("the connection of a smaller network was closed")
		}
		n.wantAnswer(last)
		n.listener.mu.Lock()
		left := n.listener.networks[netip.MustParseAddr("192.0.2.1")]
		n.listener.mu.Unlock()
		if left != 2 {
			t.Errorf("the largest network has %d connections", left)
		}
		close(answer)
	})
}

// TestUnsentAnswers has clients that take nothing of their answers: past 32 MiB the largest
// network loses the oldest of these, and no connection that is idle.
func TestUnsentAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		n := serve(t, 500, handle(nil))
		idle := n.dial("192.0.2.1", "")
		begin := func(from string) net.Conn { // reads what net/http's own buffer holds, and no more
			conn := n.dial(from, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
			if _, err := io.ReadFull(conn, make([]byte, 4<<10)); err != nil {
				t.Error(err)
			}
			synctest.Wait()
			return conn
		}
		other := begin("192.0.2.2")
		var readers []net.Conn
		for range 40 {
			readers = append(readers, begin("192.0.2.1"))
		}
		n.listener.mu.Lock()
		unsent := n.listener.unsent
		n.listener.mu.Unlock()
		if unsent > maxUnsentBytes || unsent < maxUnsentBytes/2 {
			t.Errorf("%d bytes wait for their clients", unsent)
		}
		if isCut(idle) {
			t.Error("an idle connection was closed")
		}
		for name, of := range map[string]struct {
			conn  net.Conn
			whole bool
		}{"the oldest": {readers[0], false}, "the newest": {readers[39], true}, "another network's": {other, true}} {
			_ = of.conn.SetReadDeadline(time.Now().Add(time.Second))
			if rest, _ := io.ReadAll(of.conn); len(rest) >= 1<<20-4<<10 != of.whole {
				t.Errorf("%s has %d bytes", name, len(rest))
			}
		}
	})
}

package admission

import (
	"cmp"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"library-catalogue/server/caller"
)

const (
	// grace is how long a connection that has just begun to wait, or to hold bytes, is
	// let alone: a client nearby asks, or takes a page of 1,000 books, in a tenth of it.
	grace = 250 * time.Millisecond
	// maxHeld is how many bytes may be held for clients that are waited for: twice as
	// many as 500 readers of whole lists, to whom 32 kB go at a time.
	maxHeld = 32 << 20
	// fewHeld is how many a connection may hold in any case: those of such a reader.
	fewHeld = 32 << 10
	// headerCost is how many bytes net/http takes for one of headers that are many and
	// short.
	headerCost = 10
)

// Serve answers the connections of a listener until that or srv is closed. It bounds
// how many there are, what is held for their clients, and how slow these may be.
// Where there is too much, the network that has most of it loses a connection: one
// without a request before one with, and the one whose client the server has waited
// for longest; where all of it are worked for, one of these, if it has several.
func Serve(srv *http.Server, l net.Listener, maxConnections int) error {
	return newListener(srv, l, maxConnections).serve()
}

// listener accepts bounded connections for a server.
type listener struct {
	net.Listener
	srv *http.Server
	max int

	semaphore *semaphore // of requests whose cost is not known yet

	mu          sync.Mutex
	connections map[*connection]bool
	total       usage
	networks    map[netip.Addr]*usage
}

// usage is what connections take.
type usage struct{ connections, held int }

// connection is one of them.
type connection struct {
	net.Conn
	listener *listener
	network  netip.Addr

	received, sent pace // of the request: one goroutine reads, and one writes
	permit         atomic.Pointer[permit]

	// Under the lock of the listener.
	asking bool      // its next request has not come, or not all of its headers
	waited bool      // its client is waited for
	since  time.Time // that it is waited for, or that bytes are held
	held   int       // bytes that have come of headers, or are to go of an answer

	interrupted bool // nothing more is to be read
}

func newListener(srv *http.Server, l net.Listener, maxConnections int) *listener {
	srv.ConnState = func(conn net.Conn, state http.ConnState) { conn.(*connection).setState(state) }
	srv.ConnContext = withConnection
	return &listener{Listener: l, srv: srv, max: maxConnections, semaphore: newSemaphore(runtime.GOMAXPROCS(0)), connections: map[*connection]bool{}, networks: map[netip.Addr]*usage{}}
}

func (l *listener) serve() error { return l.srv.Serve(l) }

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &connection{Conn: conn, listener: l, network: caller.NetworkOf(conn)}, nil
}

// Read implements io.Reader.
func (c *connection) Read(p []byte) (int, error) {
	if len(p) == 1 { // net/http looks whether the client is still there
		return c.Conn.Read(p)
	}
	c.releasePermit()
	begun := time.Now()
	c.wait(begun, 0)
	if !c.asking { // for headers net/http has deadlines
		c.listener.withLock(func() {
			if !c.interrupted {
				_ = c.Conn.SetReadDeadline(c.received.deadline(begun, bodyGrace))
			}
		})
	}
	n, err := c.Conn.Read(p)
	c.received.add(n, time.Since(begun))
	c.resume(n)
	if n > 0 && (c.asking || c.received.bytes <= SmallBody) { // large bodies wait for a parser
		c.permit.Store(c.listener.semaphore.acquire(c.network))
	}
	return n, err
}

// releasePermit gives back what Read has acquired.
func (c *connection) releasePermit() {
	if p := c.permit.Swap(nil); p != nil {
		c.listener.semaphore.release(p)
	}
}

// Write implements io.Writer.
func (c *connection) Write(p []byte) (written int, err error) {
	c.releasePermit()
	for written < len(p) && err == nil {
		begun := time.Now()
		c.wait(begun, len(p)-written)
		_ = c.Conn.SetWriteDeadline(c.sent.deadline(begun, answerGrace))
		var n int
		n, err = c.Conn.Write(p[written:min(len(p), written+paceStep)])
		c.sent.add(n, time.Since(begun))
		written += n
	}
	c.resume(0)
	return written, err
}

// SetReadDeadline is called by net/http, and by a handler that wants to read no more.
func (c *connection) SetReadDeadline(t time.Time) error {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.interrupted = !t.IsZero() && !t.After(time.Now())
	return c.Conn.SetReadDeadline(t)
}

// CloseWrite is called after the last answer, half a second before the connection
// is closed (net/http). Nobody misses it, so it is the first to go.
func (c *connection) CloseWrite() error {
	c.listener.withLock(func() { c.asking, c.waited, c.since = true, true, time.Time{} })
	if conn, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return conn.CloseWrite()
	}
	return nil
}

// setState is called by net/http: a connection is active from the end of a
// request's headers on.
func (c *connection) setState(state http.ConnState) {
	l := c.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	switch state {
	case http.StateNew:
		c.asking = true
		l.connections[c] = true
		l.count(c, 1, 0)
	case http.StateActive:
		c.asking = false
		c.hold(0)
		c.received, c.sent = pace{}, pace{}
	case http.StateIdle:
		c.asking = true
	case http.StateClosed, http.StateHijacked:
		c.releasePermit()
		c.forget()
	}
}

func (l *listener) withLock(do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	do()
}

// wait notes that its client is waited for, to take so many bytes or to send some. That
// somebody else is closed for it waits until here, since only now the server has
// looked at what came.
func (c *connection) wait(now time.Time, going int) {
	l := c.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.held == 0 {
		c.since = now
	}
	c.waited = true
	if !c.asking {
		c.hold(going)
	}
	for l.total.connections > l.max && l.closeOne(now, func(u *usage) int { return u.connections }, 0) {
	}
	for l.total.held > maxHeld && l.closeOne(now, func(u *usage) int { return u.held }, fewHeld) {
	}
}

// resume notes that its client is waited for no more, after so many bytes have come.
func (c *connection) resume(came int) {
	c.listener.withLock(func() {
		c.waited = false
		if c.asking {
			c.hold(c.held + came*headerCost)
		} else {
			c.hold(0)
		}
	})
}

// hold notes how many bytes are held for it.
func (c *connection) hold(bytes int) {
	if c.listener.connections[c] {
		c.listener.count(c, 0, bytes-c.held)
		c.held = bytes
	}
}

// count adds to what is counted for a connection.
func (l *listener) count(c *connection, connections, held int) {
	u := l.networks[c.network]
	if u == nil {
		u = &usage{}
		l.networks[c.network] = u
	}
	for _, u := range []*usage{u, &l.total} {
		u.connections += connections
		u.held += held
	}
	if u.connections == 0 {
		delete(l.networks, c.network)
	}
}

// forget counts it no more.
func (c *connection) forget() {
	c.hold(0)
	if l := c.listener; l.connections[c] {
		delete(l.connections, c)
		l.count(c, -1, 0)
	}
}

// closeOne closes one of those whose clients are waited for and that hold enough, of
// the network that takes most. It reports whether there was one.
func (l *listener) closeOne(now time.Time, taken func(*usage) int, enough int) bool {
	busy := func(c *connection) int { // who has just connected is about to ask
		if c.asking && now.Sub(c.since) > grace {
			return 0
		}
		return 1
	}
	waited := func(c *connection) int {
		if c.waited {
			return 1
		}
		return 0
	}
	var first *connection
	for c := range l.connections {
		several := enough == 0 && l.networks[c.network].connections > 1
		if !c.waited && !several || c.held < enough || enough > 0 && now.Sub(c.since) <= grace {
			continue
		}
		if first == nil || cmp.Or(
			cmp.Compare(taken(l.networks[first.network]), taken(l.networks[c.network])),
			cmp.Compare(waited(first), waited(c)),
			cmp.Compare(busy(c), busy(first)),
			c.since.Compare(first.since),
		) < 0 {
			first = c
		}
	}
	if first == nil {
		return false
	}
	first.forget()
	_ = first.Conn.Close() // the server finds out
	return true
}

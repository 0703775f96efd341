package admission

import (
	"container/list"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// maxWaitingBytes is how many bytes may be held for clients that are waited for,
	// all together: of headers that are not complete, and of answers that are not
	// taken: of 200 clients with headers of full length. Past that those are closed
	// for which more than fewBytes are held, and for longer than byteGrace.
	maxWaitingBytes = 3 << 20
	fewBytes        = 4 << 10
	byteGrace       = 250 * time.Millisecond
)

// Serve answers the connections of a listener until that or srv is closed. It
// bounds how many there are, and what is held for them. Where that is too much, the
// one is closed that the server has waited for longest: for a request, for more of
// one, or for its client to take an answer. A client that means to ask something is
// waited for only for a moment.
func Serve(srv *http.Server, l net.Listener, maxConnections int) error {
	return newListener(srv, l, maxConnections).serve()
}

// listener accepts bounded connections for a server.
type listener struct {
	net.Listener
	srv *http.Server
	max int

	mu      sync.Mutex
	waiting list.List // of *connection: those that are waited for in their order, the longest first
	bytes   int       // that are held for them
}

// connection is one of them.
type connection struct {
	net.Conn
	listener *listener
	element  *list.Element // of waiting; nil where it is counted no more
	waited   bool          // for
	asking   bool          // its next request has not come, or not all of its headers: known to the goroutine that serves it
	bytes    int           // that have come of these, or are to go
	since    time.Time     // when there were none
}

func newListener(srv *http.Server, l net.Listener, maxConnections int) *listener {
	srv.ConnState = func(conn net.Conn, state http.ConnState) { conn.(*connection).setState(state) }
	return &listener{Listener: l, srv: srv, max: maxConnections}
}

func (l *listener) serve() error { return l.srv.Serve(l) }

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &connection{Conn: conn, listener: l}, nil
}

// Read implements io.Reader.
func (c *connection) Read(p []byte) (int, error) {
	if len(p) == 1 { // net/http looks whether the client is still there
		return c.Conn.Read(p)
	}
	c.listener.withLock(c.wait)
	n, err := c.Conn.Read(p)
	c.listener.withLock(func() {
		if c.asking {
			c.setBytes(c.bytes + n)
		}
		c.waited = false
	})
	return n, err
}

// Write implements io.Writer.
func (c *connection) Write(p []byte) (int, error) {
	c.listener.withLock(func() {
		c.setBytes(len(p))
		c.wait()
	})
	defer c.listener.withLock(func() {
		c.setBytes(0)
		c.waited = false
	})
	return c.Conn.Write(p)
}

// CloseWrite is called after the last answer, half a second before the connection
// is closed (net/http). Nobody misses it, so it is the first to go.
func (c *connection) CloseWrite() error {
	c.listener.withLock(func() {
		if c.element != nil && !c.waited {
			c.waited = true
			c.listener.waiting.MoveToFront(c.element)
		}
	})
	if conn, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return conn.CloseWrite()
	}
	return nil
}

func (l *listener) withLock(do func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	do()
}

// setBytes notes how many bytes are held for it.
func (c *connection) setBytes(bytes int) {
	if c.element != nil {
		if c.bytes == 0 {
			c.since = time.Now()
		}
		c.listener.bytes += bytes - c.bytes
		c.bytes = bytes
	}
}

// wait notes that its client is waited for. That somebody else is closed for it
// waits until here, since only now the server has looked at what came.
func (c *connection) wait() {
	if c.element != nil {
		c.waited = true
		c.listener.waiting.MoveToBack(c.element)
		c.listener.closeExcess()
	}
}

// setState is called by net/http: a connection is active from the end of a
// request's headers on.
func (c *connection) setState(state http.ConnState) {
	c.asking = state == http.StateNew || state == http.StateIdle
	switch state {
	case http.StateNew:
		c.listener.withLock(func() { c.element = c.listener.waiting.PushBack(c) })
	case http.StateActive:
		c.listener.withLock(func() { c.setBytes(0) })
	case http.StateClosed, http.StateHijacked:
		c.listener.withLock(c.forget)
	}
}

// forget counts it no more.
func (c *connection) forget() {
	if c.element != nil {
		c.setBytes(0)
		c.listener.waiting.Remove(c.element)
		c.element = nil
	}
}

// closeExcess closes those that have been waited for longest, as many as are too
// many, or as too much is held for.
func (l *listener) closeExcess() {
	for element := l.waiting.Front(); element != nil && (l.waiting.Len() > l.max || l.bytes > maxWaitingBytes); {
		conn := element.Value.(*connection)
		element = element.Next()
		if conn.waited && (l.waiting.Len() > l.max || conn.bytes > fewBytes && time.Since(conn.since) > byteGrace) {
			conn.forget()
			_ = conn.Conn.Close() // the server finds out
		}
	}
}

package server

import (
	"container/list"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// maxWaitingBytes is how many bytes may be held for clients that are waited for,
	// all together: of headers that are not complete, and of answers that are not
	// taken. Past that those are closed for which much is held, and not just now.
	maxWaitingBytes = 3 << 20
	muchHeld        = 4 << 10
	heldPatience    = 250 * time.Millisecond

	// longHeader is how many bytes of a request's headers are read as they come.
	// Each read of more waits for about longPause first: what is wrong with headers
	// net/http finds before anybody's rate is looked at, so a flood of long ones
	// would take all processors.
	longHeader = 8 << 10
	longPause  = 40 * time.Millisecond
)

// connections is a listener that bounds how many connections there are, and what
// is held for them. Where that is too much, the one is closed that the
// server has waited for longest: for a request, for more of one, or for its client
// to take an answer. A client that means to ask something is waited for only for a
// moment.
type connections struct {
	net.Listener
	most int

	mu    sync.Mutex
	queue list.List // of *connection: those that are waited for in their order, the longest first
	bytes int       // that are held for them
}

// connection is one of them.
type connection struct {
	deadlines
	all    *connections
	place  *list.Element // in the queue; nil where it is counted no more
	waited bool          // for
	asking bool          // its next request has not come, or not all of its headers: known to whoever serves it
	bytes  int           // that have come of these, or are to go
	since  time.Time     // when there were none
	held   []byte        // the beginning of a large part of an answer; nil while there is none
}

// Bound lets srv have so many connections at once that come by a listener.
func Bound(srv *http.Server, listener net.Listener, most int) net.Listener {
	srv.ConnContext = withConnection
	srv.ConnState = func(conn net.Conn, state http.ConnState) { conn.(*connection).state(state) }
	return &connections{Listener: listener, most: most}
}

// Accept implements net.Listener.
func (c *connections) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &connection{deadlines: deadlines{Conn: conn}, all: c}, nil
}

// Read implements io.Reader.
func (c *connection) Read(p []byte) (int, error) {
	if len(p) == 1 { // net/http looks whether the client is still there
		return c.deadlines.Read(p)
	}
	var long bool
	c.all.lockedly(func() {
		c.wait()
		long = c.asking && c.bytes >= longHeader
	})
	if long {
		time.Sleep(longPause/2 + rand.N(longPause)) // many that came together are not to go on together
	}
	n, err := c.deadlines.Read(p)
	c.all.lockedly(func() {
		if c.asking {
			c.hold(c.bytes + n)
		}
		c.waited = false
	})
	return n, err
}

// Write implements io.Writer.
func (c *connection) Write(p []byte) (int, error) {
	if len(c.held)+len(p) <= cap(c.held) { // the rest comes
		c.held = append(c.held, p...)
		return len(p), nil
	}
	c.all.lockedly(func() {
		c.hold(len(c.held) + len(p))
		c.wait()
	})
	defer c.all.lockedly(func() {
		c.hold(0)
		c.waited = false
	})
	return c.send(p)
}

// CloseWrite is called after the last answer, half a second before the connection
// is closed (net/http). Nobody misses it, so it is the first to go.
func (c *connection) CloseWrite() error {
	c.all.lockedly(func() {
		if c.place != nil && !c.waited {
			c.waited = true
			c.all.queue.MoveToFront(c.place)
		}
	})
	if conn, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return conn.CloseWrite()
	}
	return nil
}

func (c *connections) lockedly(do func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	do()
}

// hold notes how many bytes are held for it.
func (c *connection) hold(bytes int) {
	if c.place != nil {
		if c.bytes == 0 {
			c.since = time.Now()
		}
		c.all.bytes += bytes - c.bytes
		c.bytes = bytes
	}
}

// wait notes that its client is waited for. That somebody else is closed for it
// waits until here, since only now the server has looked at what came.
func (c *connection) wait() {
	if c.place != nil {
		c.waited = true
		c.all.queue.MoveToBack(c.place)
		c.all.bound()
	}
}

// state is what srv tells: a connection is active from the end of its headers on.
func (c *connection) state(state http.ConnState) {
	c.asking = state == http.StateNew || state == http.StateIdle
	switch state {
	case http.StateNew:
		c.all.lockedly(func() { c.place = c.all.queue.PushBack(c) })
	case http.StateActive:
		c.all.lockedly(func() { c.hold(0) })
	case http.StateClosed, http.StateHijacked:
		c.all.lockedly(c.end)
	}
}

// end counts it no more.
func (c *connection) end() {
	if c.place != nil {
		c.hold(0)
		c.all.queue.Remove(c.place)
		c.place = nil
	}
}

// bound closes those that have been waited for longest, as many as are too many,
// or as too much is held for.
func (c *connections) bound() {
	for place := c.queue.Front(); place != nil && (c.queue.Len() > c.most || c.bytes > maxWaitingBytes); {
		conn := place.Value.(*connection)
		place = place.Next()
		if conn.waited && (c.queue.Len() > c.most || conn.bytes > muchHeld && time.Since(conn.since) > heldPatience) {
			conn.end()
			_ = conn.Conn.Close() // the server finds out
		}
	}
}

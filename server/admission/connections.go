package admission

import (
	"cmp"
	"net"
	"net/netip"
	"sync"
	"time"

	"library-catalogue/server/caller"
)

const (
	// maxUnsent is how many bytes of answers may wait for their clients: twice as many as
	// 500 readers of whole lists hold, at 32 KiB each.
	maxUnsent = 32 << 20
	// probe is how many bytes net/http reads while it works on a request, to learn whether
	// the client is still there.
	probe = 1
)

// Listener bounds the connections of l. Past max connections, or 32 MiB of answers that
// clients do not take, the client network with most connections loses the one that has
// waited longest for its client, and where it waits for none, one that it works for.
func Listener(l net.Listener, max int) net.Listener {
	return &listener{Listener: l, max: max, connections: map[*connection]bool{}, networks: map[netip.Addr]int{}}
}

type listener struct {
	net.Listener
	max int

	mu          sync.Mutex
	connections map[*connection]bool
	networks    map[netip.Addr]int // connections of each
	unsent      int                // bytes of all connections
}

// working stands for the time of a connection that does not wait for its client: later than
// all others.
var working = time.Unix(1<<40, 0)

type connection struct {
	net.Conn
	listener *listener
	network  netip.Addr

	// Under the lock of listener.
	since  time.Time // the client is waited for; working while the server works for it
	unsent int       // bytes that the client is to take
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: conn, listener: l, network: caller.NetworkOf(conn), since: time.Now()}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.connections[c] = true
	l.networks[c.network]++
	if len(l.connections) > l.max {
		l.closeOne(func(c *connection) bool { return c.since != working || l.networks[c.network] > 1 })
	}
	return c, nil
}

// Read implements io.Reader.
func (c *connection) Read(p []byte) (int, error) {
	if len(p) == probe {
		return c.Conn.Read(p)
	}
	c.wait(0)
	defer c.resume()
	return c.Conn.Read(p)
}

// Write implements io.Writer.
func (c *connection) Write(p []byte) (int, error) {
	c.wait(len(p))
	defer c.resume()
	return c.Conn.Write(p)
}

// Close implements io.Closer.
func (c *connection) Close() error {
	c.listener.mu.Lock()
	c.listener.remove(c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite lets net/http close one direction, so that the client gets the end of an
// answer. It does so half a second before it closes the connection.
func (c *connection) CloseWrite() error {
	c.wait(0)
	if conn, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return conn.CloseWrite()
	}
	return nil
}

// wait notes that the client is waited for: to send bytes, or to take some.
func (c *connection) wait(unsent int) {
	l := c.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	c.since = time.Now()
	if !l.connections[c] {
		return
	}
	c.unsent = unsent
	if l.unsent += unsent; unsent > 0 && l.unsent > maxUnsent {
		l.closeOne(func(c *connection) bool { return c.unsent > 0 })
	}
}

// resume notes that the client is not waited for.
func (c *connection) resume() {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.since = working
	c.listener.unsent -= c.unsent
	c.unsent = 0
}

// closeOne closes an eligible connection, if there is one: of the largest network the one
// that has waited longest for its client.
func (l *listener) closeOne(eligible func(*connection) bool) {
	var victim *connection
	for c := range l.connections {
		if !eligible(c) {
			continue
		}
		if victim == nil || cmp.Or(
			cmp.Compare(l.networks[victim.network], l.networks[c.network]),
			c.since.Compare(victim.since),
		) < 0 {
			victim = c
		}
	}
	if victim != nil {
		l.remove(victim)
		_ = victim.Conn.Close() // net/http finds out
	}
}

// remove forgets a connection.
func (l *listener) remove(c *connection) {
	if !l.connections[c] {
		return
	}
	delete(l.connections, c)
	if l.networks[c.network]--; l.networks[c.network] == 0 {
		delete(l.networks, c.network)
	}
	l.unsent -= c.unsent
	c.unsent = 0
}

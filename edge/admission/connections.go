package admission

import (
	"cmp"
	"context"
	"net"
	"net/netip"
	"sync"
	"time"

	"library-catalogue/edge/caller"
)

const (
	// maxUnsentBytes is the maximum total of response bytes that wait for clients: twice the bytes of 500 readers of
	// whole lists, at 32 KiB each.
	maxUnsentBytes = 32 << 20
	// probeBytes is the size of net/http's background read, which detects a closed connection while a handler runs.
	probeBytes = 1
)

// Listener limits the connections of l, except those with streams (Exempt). Above max connections, or 32 MiB of
// unsent responses, it closes a connection of the client network with the most connections: the one that has waited
// longest for its client, or an active one if none waits.
func Listener(l net.Listener, max int) net.Listener {
	return &listener{Listener: l, max: max, connections: map[*connection]bool{}, networks: map[netip.Addr]int{}}
}

type listener struct {
	net.Listener
	max int

	mu          sync.Mutex
	connections map[*connection]bool
	networks    map[netip.Addr]int // number of connections
	unsent      int                // bytes of all connections
}

// active is the waitingSince of a connection that does not wait for its client. It is after all real times.
var active = time.Unix(1<<40, 0)

type connection struct {
	net.Conn
	listener *listener
	network  netip.Addr

	// Guarded by listener.mu.
	waitingSince time.Time // time since when the server waits for the client, or active
	unsent       int       // bytes that wait for the client
	exemptions   int       // streams on the connection
	closed       bool
}

func (l *listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &connection{Conn: conn, listener: l, network: caller.NetworkOf(conn), waitingSince: time.Now()}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(c)
	return c, nil
}

func (l *listener) add(c *connection) {
	l.connections[c] = true
	l.networks[c.network]++
	if len(l.connections) > l.max {
		l.closeOne(func(c *connection) bool { return c.waitingSince != active || l.networks[c.network] > 1 })
	}
}

type connectionKey struct{}

// ConnContext is the ConnContext of an http.Server on a Listener. Exempt needs it.
func ConnContext(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, conn)
}

// Exempt excludes the connection of a request from the limits of its Listener. Call release once, at the end of the
// stream; the last one ends the exemption.
func Exempt(ctx context.Context) (release func()) {
	c, ok := ctx.Value(connectionKey{}).(*connection)
	if !ok {
		return func() {}
	}
	l := c.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	c.exemptions++
	l.remove(c)
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if c.exemptions--; c.exemptions == 0 && !c.closed {
			l.add(c)
		}
	}
}

func (c *connection) Read(p []byte) (int, error) {
	if len(p) == probeBytes {
		return c.Conn.Read(p)
	}
	c.wait(0)
	defer c.resume()
	return c.Conn.Read(p)
}

func (c *connection) Write(p []byte) (int, error) {
	c.wait(len(p))
	defer c.resume()
	return c.Conn.Write(p)
}

func (c *connection) Close() error {
	c.listener.mu.Lock()
	c.closed = true
	c.listener.remove(c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite closes the write direction. net/http calls it half a second before Close, so that the client receives the
// end of a response.
func (c *connection) CloseWrite() error {
	c.wait(0)
	if conn, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return conn.CloseWrite()
	}
	return nil
}

// wait records that the server waits for the client to send data, or to receive unsent bytes.
func (c *connection) wait(unsent int) {
	l := c.listener
	l.mu.Lock()
	defer l.mu.Unlock()
	c.waitingSince = time.Now()
	if !l.connections[c] {
		return
	}
	c.unsent = unsent
	if l.unsent += unsent; unsent > 0 && l.unsent > maxUnsentBytes {
		l.closeOne(func(c *connection) bool { return c.unsent > 0 })
	}
}

// resume records that the server does not wait for the client.
func (c *connection) resume() {
	c.listener.mu.Lock()
	defer c.listener.mu.Unlock()
	c.waitingSince = active
	c.listener.unsent -= c.unsent
	c.unsent = 0
}

// closeOne closes the eligible connection of the largest network that has waited longest, if there is one.
func (l *listener) closeOne(eligible func(*connection) bool) {
	var victim *connection
	for c := range l.connections {
		if !eligible(c) {
			continue
		}
		if victim == nil || cmp.Or(
			cmp.Compare(l.networks[victim.network], l.networks[c.network]),
			c.waitingSince.Compare(victim.waitingSince),
		) < 0 {
			victim = c
		}
	}
	if victim != nil {
		l.remove(victim)
		_ = victim.Conn.Close() // net/http notices by a failed read or write
	}
}

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

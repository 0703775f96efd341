package db

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// connectTimeout bounds the opening of a connection.
const connectTimeout = 5 * time.Second

// ioTimeout bounds the wait for the server on one read or write. lib/pq does not
// come back from a dead network by itself, whatever the context says.
var ioTimeout = time.Minute

// dialer opens connections to PostgreSQL on which no read or write waits longer
// than ioTimeout.
type dialer struct {
	ioTimeout time.Duration
	waits     *waits
}

func (d dialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

func (d dialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}

func (d dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: connectTimeout, KeepAlive: 15 * time.Second}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c := &watchedConn{Conn: conn, dialer: d}
	d.waits.conns.Store(c, nil)
	return c, nil
}

// waits knows the connections, and so which of them waits for an answer. lib/pq
// reads from a connection only where the server owes one.
type waits struct{ conns sync.Map } // of *watchedConn

// longest tells for how long the server has owed an answer that it has not begun.
func (w *waits) longest() (longest time.Duration) {
	now := time.Now().UnixNano()
	w.conns.Range(func(conn, _ any) bool {
		if since := conn.(*watchedConn).since.Load(); since != 0 {
			longest = max(longest, time.Duration(now-since))
		}
		return true
	})
	return longest
}

type watchedConn struct {
	net.Conn
	dialer
	since atomic.Int64 // when the read began that waits now, in ns since 1970; 0: none does
}

func (c *watchedConn) Read(b []byte) (int, error) {
	now := time.Now()
	if err := c.SetReadDeadline(now.Add(c.ioTimeout)); err != nil {
		return 0, err
	}
	c.since.Store(now.UnixNano())
	defer c.since.Store(0)
	return c.Conn.Read(b)
}

func (c *watchedConn) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.ioTimeout)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

func (c *watchedConn) Close() error {
	c.waits.conns.Delete(c)
	return c.Conn.Close()
}

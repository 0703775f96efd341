package db

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
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
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	c := &watchedConn{Conn: conn, dialer: d, raw: raw}
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

// watchedConn is a connection on which database/sql never runs a statement twice.
// It would do so after driver.ErrBadConn, which lib/pq makes of an EOF, of a write
// of which nothing was sent, and of a fatal error that the server names. The server
// names none once it has run a statement, so only an EOF is to be called something
// else. What was sent nothing of is run on another connection, and so no statement
// fails because the server was started again since the last one.
type watchedConn struct {
	net.Conn
	dialer
	raw    syscall.RawConn
	since  atomic.Int64 // when the read began that waits now, in ns since 1970; 0: none does
	broken atomic.Bool
}

func (c *watchedConn) Read(b []byte) (int, error) {
	now := time.Now()
	if err := c.SetReadDeadline(now.Add(c.ioTimeout)); err != nil {
		return 0, err
	}
	c.since.Store(now.UnixNano())
	defer c.since.Store(0)
	n, err := c.Conn.Read(b)
	if err != nil {
		c.broken.Store(true)
	}
	if errors.Is(err, io.EOF) {
		err = &net.OpError{Op: "read", Net: c.RemoteAddr().Network(), Addr: c.RemoteAddr(), Err: errHungUp}
	}
	return n, err
}

func (c *watchedConn) Write(b []byte) (int, error) {
	if c.broken.Load() || hungUp(c.raw) {
		return 0, errHungUp
	}
	if err := c.SetWriteDeadline(time.Now().Add(c.ioTimeout)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

// errHungUp is the error of a connection that the server has closed.
var errHungUp = errors.New("the server has closed the connection")

func (c *watchedConn) Close() error {
	c.waits.conns.Delete(c)
	return c.Conn.Close()
}

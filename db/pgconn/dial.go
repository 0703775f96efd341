package pgconn

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

// connectTimeout bounds the opening of a connection: less than a client waits for
// an answer that says that the database is away.
const connectTimeout = 5 * time.Second

// dialer opens connections to PostgreSQL on which no read or write waits longer
// than ioTimeout. It implements pq.Dialer and pq.DialerContext.
type dialer struct {
	ioTimeout time.Duration
	conns     sync.Map // of *conn, those that are open
}

func (d *dialer) Dial(network, address string) (net.Conn, error) {
	return d.DialContext(context.Background(), network, address)
}

func (d *dialer) DialTimeout(network, address string, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	return d.DialContext(ctx, network, address)
}

func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	opened, err := (&net.Dialer{Timeout: connectTimeout, KeepAlive: 15 * time.Second}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	raw, err := opened.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	c := &conn{Conn: opened, dialer: d, raw: raw}
	d.conns.Store(c, nil)
	return c, nil
}

// longestWait returns for how long the server has owed an answer that it has not
// begun. lib/pq reads from a connection only where the server owes one.
func (d *dialer) longestWait() (longest time.Duration) {
	now := time.Now().UnixNano()
	d.conns.Range(func(c, _ any) bool {
		if since := c.(*conn).waitingSince.Load(); since != 0 {
			longest = max(longest, time.Duration(now-since))
		}
		return true
	})
	return longest
}

// conn is a connection on which database/sql never runs a statement twice. It would
// do so after driver.ErrBadConn, which lib/pq makes of an EOF, of a write of which
// nothing was sent, and of a fatal error that the server names. The server names
// none once it has run a statement, so only an EOF is to be called something else.
// What was sent nothing of is run on another connection, and so no statement fails
// because the server was started again since the last one.
type conn struct {
	net.Conn
	dialer       *dialer
	raw          syscall.RawConn
	waitingSince atomic.Int64 // when the present read began, in ns since 1970; 0: there is none
	broken       atomic.Bool
}

func (c *conn) Read(b []byte) (int, error) {
	now := time.Now()
	if err := c.SetReadDeadline(now.Add(c.dialer.ioTimeout)); err != nil {
		return 0, err
	}
	c.waitingSince.Store(now.UnixNano())
	defer c.waitingSince.Store(0)
	n, err := c.Conn.Read(b)
	if err != nil {
		c.broken.Store(true)
	}
	if errors.Is(err, io.EOF) {
		err = &net.OpError{Op: "read", Net: c.RemoteAddr().Network(), Addr: c.RemoteAddr(), Err: errClosedByServer}
	}
	return n, err
}

func (c *conn) Write(b []byte) (int, error) {
	if c.broken.Load() || closedByPeer(c.raw) {
		return 0, errClosedByServer
	}
	if err := c.SetWriteDeadline(time.Now().Add(c.dialer.ioTimeout)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

var errClosedByServer = errors.New("the server has closed the connection")

func (c *conn) Close() error {
	c.dialer.conns.Delete(c)
	return c.Conn.Close()
}

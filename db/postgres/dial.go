package postgres

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

// connectTimeout bounds the opening of a connection to one host: less than a client
// waits for an answer that says that the database is away.
const connectTimeout = 5 * time.Second

// opening is what a Connector and its dialer tell each other of a connection.
type opening struct {
	perHost time.Duration // for each host of the URL
	wire    *wire         // to the last host that was tried
}

type openingKey struct{}

// dialer opens connections to PostgreSQL: for a Connector, and for lib/pq where it
// asks the server to cancel a statement. It implements pq.Dialer and pq.DialerContext.
type dialer struct {
	wires sync.Map // of *wire, those that are open
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
	timeout := tidyTimeout
	o, _ := ctx.Value(openingKey{}).(*opening)
	if o != nil {
		timeout = min(connectTimeout, o.perHost)
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	opened, err := (&net.Dialer{KeepAlive: 15 * time.Second}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	raw, err := opened.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	w := &wire{Conn: opened, dialer: d, raw: raw, stop: func() bool { return true }}
	deadline, _ := ctx.Deadline()
	w.begin(context.WithoutCancel(ctx), deadline)
	d.wires.Store(w, nil)
	if o != nil {
		o.wire = w
	}
	return w, nil
}

// longestWait returns for how long the server has owed an answer that it has not
// begun. lib/pq reads from a connection only where the server owes one.
func (d *dialer) longestWait() (longest time.Duration) {
	now := time.Now().UnixNano()
	d.wires.Range(func(w, _ any) bool {
		if since := w.(*wire).waitingSince.Load(); since != 0 {
			longest = max(longest, time.Duration(now-since))
		}
		return true
	})
	return longest
}

// wire is a connection on which database/sql never runs a statement twice. It would
// do so after driver.ErrBadConn, which lib/pq makes of an EOF, of a write of which
// nothing was sent, and of a fatal error that the server names. The server names
// none once it has run a statement, so only an EOF is to be called something else.
// What was sent nothing of is run on another connection, and so no statement fails
// because the server was started again since the last one.
type wire struct {
	net.Conn
	dialer       *dialer
	raw          syscall.RawConn
	sent         bool         // something, since the present call began
	stop         func() bool  // keeps the present call's context from ending it
	waitingSince atomic.Int64 // when the present read began, in ns since 1970; 0: there is none
	broken       atomic.Bool

	mu       sync.Mutex
	calls    int       // that began
	deadline time.Time // of the present call
}

// begin begins a call. When its context is canceled, the server has a moment to say so
// to the statement.
func (w *wire) begin(ctx context.Context, deadline time.Time) {
	w.stop()
	w.mu.Lock()
	w.calls++
	call := w.calls
	w.deadline = deadline
	_ = w.Conn.SetDeadline(deadline) // which fails where it is closed already
	w.mu.Unlock()
	w.sent = false
	w.stop = context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.calls == call {
			w.shorten(time.Now().Add(tidyTimeout))
		}
	})
}

func (w *wire) shorten(deadline time.Time) {
	if deadline.Before(w.deadline) {
		w.deadline = deadline
		_ = w.Conn.SetDeadline(deadline)
	}
}

// SetDeadline is called by lib/pq where the URL has a connect_timeout: before the
// handshake, and after it to take the deadline away. It only ever shortens a call.
func (w *wire) SetDeadline(deadline time.Time) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !deadline.IsZero() {
		w.shorten(deadline)
	}
	return nil
}

func (w *wire) Read(b []byte) (int, error) {
	w.waitingSince.Store(time.Now().UnixNano())
	defer w.waitingSince.Store(0)
	n, err := w.Conn.Read(b)
	if err != nil {
		w.broken.Store(true)
	}
	if errors.Is(err, io.EOF) {
		err = w.hungUp("read")
	}
	return n, err
}

func (w *wire) Write(b []byte) (int, error) {
	if w.broken.Load() || closedByPeer(w.raw) {
		return 0, w.hungUp("write")
	}
	w.sent = true
	return w.Conn.Write(b)
}

func (w *wire) hungUp(operation string) error {
	return &net.OpError{Op: operation, Net: w.RemoteAddr().Network(), Addr: w.RemoteAddr(), Err: errClosedByServer}
}

var errClosedByServer = errors.New("the server has closed the connection")

func (w *wire) Close() error {
	w.broken.Store(true)
	w.dialer.wires.Delete(w)
	return w.Conn.Close()
}

package postgres

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"library-catalogue/task"
)

// connectTimeout bounds the connection to one host. It is shorter than clients wait for a response.
const connectTimeout = 5 * time.Second

// opening passes data of a connection between a Connector and its dialer.
type opening struct {
	perHost time.Duration // time for each host of the URL
	address string        // address of the last host tried
	wire    *wire         // connection to it
}

type openingKey struct{}

// dialer opens network connections to PostgreSQL: for a Connector, and for lib/pq's requests to
// cancel a statement. It implements pq.Dialer and pq.DialerContext.
type dialer struct {
	wires sync.Map // open *wire to address
	dials sync.Map // *context.CancelFunc of each pending DialContext to address
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
	timeout := cleanupTimeout
	o, _ := ctx.Value(openingKey{}).(*opening)
	if o != nil {
		timeout = min(connectTimeout, o.perHost)
		o.address = address
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	d.dials.Store(&cancel, address)
	defer d.dials.Delete(&cancel)
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
	d.wires.Store(w, address)
	if o != nil {
		o.wire = w
	}
	return w, nil
}

// hangUp closes the connections to an address, also those that are being opened. It reports whether
// there were any.
func (d *dialer) hangUp(address string) (found bool) {
	d.dials.Range(func(cancel, to any) bool {
		if to == address {
			(*cancel.(*context.CancelFunc))()
			found = true
		}
		return true
	})
	d.wires.Range(func(w, to any) bool {
		if to == address {
			_ = w.(*wire).Close() // lib/pq may have closed it
			found = true
		}
		return true
	})
	return found
}

// longestWait returns how long the oldest read has waited. lib/pq reads only while the server owes
// a response.
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

// wire is a network connection that keeps database/sql from running a statement twice. database/sql
// repeats a statement after driver.ErrBadConn, which lib/pq returns for
//   - EOF. The statement may have run, so wire returns another error. Under TLS it cannot, see conn.end.
//   - A write that sent nothing. The statement did not run and can be repeated, so a restart of the
//     server fails no statement.
//   - A fatal error of the server.
type wire struct {
	net.Conn
	dialer       *dialer
	raw          syscall.RawConn
	sent         bool         // bytes were sent in this call
	unsent       bool         // a pooler has said that it sent them to no server
	stop         func() bool  // detaches the context of this call
	waitingSince atomic.Int64 // start of this read in ns since 1970, or 0
	broken       atomic.Bool

	mu       sync.Mutex
	calls    int       // number of calls begun
	deadline time.Time // deadline of this call
}

// begin starts a call. After its context is canceled, the server has cleanupTimeout to respond.
func (w *wire) begin(ctx context.Context, deadline time.Time) {
	w.stop()
	w.mu.Lock()
	w.calls++
	call := w.calls
	w.deadline = deadline
	_ = w.Conn.SetDeadline(deadline) // fails only if it is closed
	w.mu.Unlock()
	w.sent, w.unsent = false, false
	w.stop = task.OnDone(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.calls == call {
			w.shorten(time.Now().Add(cleanupTimeout))
		}
	})
}

func (w *wire) shorten(deadline time.Time) {
	if deadline.Before(w.deadline) {
		w.deadline = deadline
		_ = w.Conn.SetDeadline(deadline)
	}
}

// SetDeadline can only shorten the deadline of a call. lib/pq calls it before and after the
// handshake if the URL has a connect_timeout.
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
	w.unsent = w.unsent || isUnsent(b[:n])
	if errors.Is(err, io.EOF) {
		err = w.hungUp("read")
	}
	return n, err
}

// isUnsent reports whether a message is the fatal error with which pgbouncer ends a client that waits for
// a server. lib/pq does not return it. It cannot be read under TLS.
func isUnsent(message []byte) bool {
	if len(message) < 5 || message[0] != 'E' {
		return false
	}
	text, isFatal := bytes.CutPrefix(message[5:], []byte("SFATAL\x00C08P01\x00M"))
	return isFatal &&
		(bytes.HasPrefix(text, []byte("query_wait_timeout\x00")) ||
			bytes.HasPrefix(text, []byte("server login has been failing, ")))
}

func (w *wire) Write(b []byte) (int, error) {
	if w.broken.Load() || closedByPeer(w.raw) {
		return 0, w.hungUp("write")
	}
	n, err := w.Conn.Write(b)
	w.sent = w.sent || n > 0
	return n, err
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

package server

import (
	"errors"
	"net"
	"os"
	"sync"
	"time"
)

// deadlines is a connection whose deadlines are set where somebody reads or writes
// until then. net/http moves them seven times a request, mostly on: that one was
// moved on is found out when the one before it has passed.
type deadlines struct {
	net.Conn
	read, write deadline
}

// deadline is one for reads or for writes of a connection.
type deadline struct {
	mu      sync.Mutex
	wanted  time.Time // zero: none
	set     time.Time // on the connection
	waiting int       // that read or write
}

// Read implements io.Reader.
func (d *deadlines) Read(p []byte) (n int, err error) {
	err = d.read.within(d.Conn.SetReadDeadline, func() (err error) {
		n, err = d.Conn.Read(p)
		return err
	})
	return n, err
}

// Write implements io.Writer.
func (d *deadlines) Write(p []byte) (n int, err error) {
	err = d.write.within(d.Conn.SetWriteDeadline, func() error {
		m, err := d.Conn.Write(p[n:])
		n += m
		return err
	})
	return n, err
}

// writeAll writes buffers by one call of the system, where the connection has one
// for several.
func (d *deadlines) writeAll(buffers net.Buffers) (n int, err error) {
	err = d.write.within(d.Conn.SetWriteDeadline, func() error {
		m, err := buffers.WriteTo(d.Conn) // which takes from them what was written
		n += int(m)
		return err
	})
	return n, err
}

// SetReadDeadline implements net.Conn.
func (d *deadlines) SetReadDeadline(t time.Time) error { return d.read.move(d.Conn.SetReadDeadline, t) }

// SetWriteDeadline implements net.Conn.
func (d *deadlines) SetWriteDeadline(t time.Time) error {
	return d.write.move(d.Conn.SetWriteDeadline, t)
}

// SetDeadline implements net.Conn.
func (d *deadlines) SetDeadline(t time.Time) error {
	return errors.Join(d.SetReadDeadline(t), d.SetWriteDeadline(t))
}

// move makes t the deadline, at once where somebody waits.
func (d *deadline) move(set func(time.Time) error, t time.Time) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wanted = t
	if d.waiting > 0 {
		return d.settle(set)
	}
	return nil
}

// settle sets the deadline, unless one that comes before it is set, and has not passed.
func (d *deadline) settle(set func(time.Time) error) error {
	passed := !d.set.IsZero() && !d.set.After(time.Now())
	sooner := !d.wanted.IsZero() && (d.set.IsZero() || d.set.After(d.wanted))
	if !passed && !sooner {
		return nil
	}
	d.set = d.wanted
	return set(d.wanted)
}

// within does what waits for the connection until the deadline. It goes on where it
// was, if the deadline was moved on meanwhile.
func (d *deadline) within(set func(time.Time) error, do func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.waiting++
	defer func() { d.waiting-- }()
	for {
		if err := d.settle(set); err != nil {
			return err
		}
		d.mu.Unlock()
		err := do()
		d.mu.Lock()
		if !errors.Is(err, os.ErrDeadlineExceeded) || !d.wanted.IsZero() && !d.wanted.After(time.Now()) {
			return err
		}
	}
}

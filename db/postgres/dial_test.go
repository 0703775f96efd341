package postgres

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"testing"
	"time"
)

// connected returns a wire and the server's side of it.
func connected(t *testing.T) (*dialer, *wire, net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	d := &dialer{}
	opened, err := d.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { opened.Close(); server.Close() })
	return d, opened.(*wire), server
}

// TestServerCloses reads after the server has closed the connection: the error must not
// make database/sql run the statement twice.
func TestServerCloses(t *testing.T) {
	t.Parallel()
	_, w, server := connected(t)
	server.Close()
	_, err := w.Read(make([]byte, 1))
	if _, network := errors.AsType[net.Error](err); !network || errors.Is(err, io.EOF) || errors.Is(err, driver.ErrBadConn) {
		t.Errorf("read: %v", err)
	}
	if _, err := w.Write([]byte("x")); err == nil || w.sent {
		t.Errorf("write: %v, sent: %t", err, w.sent)
	}
}

// TestHangUp closes the connections to one of two addresses, and ends those that are being opened.
func TestHangUp(t *testing.T) {
	t.Parallel()
	d, w, _ := connected(t)
	_, other, _ := connected(t)
	d.wires.Store(other, other.RemoteAddr().String())
	pending, cancel := context.WithCancel(t.Context())
	d.dials.Store(&cancel, w.RemoteAddr().String())
	w.begin(t.Context(), time.Now().Add(time.Hour))
	read := make(chan error)
	go func() { _, err := w.Read(make([]byte, 1)); read <- err }()
	if !d.hangUp(w.RemoteAddr().String()) {
		t.Error("it finds no connection")
	}
	if err := <-read; !errors.Is(err, net.ErrClosed) {
		t.Errorf("read: %v", err)
	}
	<-pending.Done()
	if other.broken.Load() {
		t.Error("the connection to another address is closed")
	}
}

// TestDeadline reads from a server that says nothing, until the call's deadline and until
// its context is canceled.
func TestDeadline(t *testing.T) {
	t.Parallel()
	d, w, _ := connected(t)
	w.begin(t.Context(), time.Now().Add(time.Millisecond))
	_ = w.SetDeadline(time.Time{}) // lib/pq cannot extend the deadline
	_, err := w.Read(make([]byte, 1))
	if timeout, ok := errors.AsType[net.Error](err); !ok || !timeout.Timeout() {
		t.Errorf("with a deadline: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w.begin(ctx, time.Now().Add(time.Hour))
	cancel()
	if _, err := w.Read(make([]byte, 1)); err == nil {
		t.Error("a canceled call reads")
	}
	if wait := d.longestWait(); wait != 0 {
		t.Errorf("a read has waited for %v", wait)
	}
}

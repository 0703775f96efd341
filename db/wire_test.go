package db_test

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
)

// wire passes on what a client and a server of PostgreSQL say, until it is cut.
type wire struct {
	url      string
	tls      *tls.Config // of the clients; nil: they do not use TLS
	next     atomic.Pointer[cut]
	cuts     atomic.Int32
	dead     atomic.Bool           // nothing is passed on, and nobody is told
	withheld bool                  // the server does not get the last of the texts
	last     string                // what the client gets instead of the response, before the connection ends
	end      func(client net.Conn) // ends the connection; nil: Close

	mu      sync.Mutex
	address string // of the server
	clients []net.Conn
}

// moveTo sends new connections to the server at another address. Open connections stay.
func (w *wire) moveTo(address string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.address = address
}

// socket returns the address of the server of a URL.
func socket(t *testing.T, server string) string {
	u, err := url.Parse(server)
	check(t, err)
	return filepath.Join(u.Query().Get("host"), ".s.PGSQL."+u.Query().Get("port"))
}

// hangUp says something to each client, and closes the connection.
func (w *wire) hangUp(last string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, client := range w.clients {
		_, _ = io.WriteString(client, last)
		client.Close()
	}
	w.clients = nil
}

// newWire starts a wire to a server.
func newWire(t *testing.T, server string) *wire { return startWire(t, server, &wire{}) }

// newTLSWire starts a wire whose clients use TLS, as PostgreSQL does not on a Unix socket.
func newTLSWire(t *testing.T, server string) *wire {
	certified := httptest.NewTLSServer(nil)
	defer certified.Close()
	return startWire(t, server, &wire{tls: certified.TLS})
}

func startWire(t *testing.T, server string, w *wire) *wire {
	u, err := url.Parse(server)
	check(t, err)
	query := u.Query()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(t, err)
	t.Cleanup(func() { listener.Close() })
	w.moveTo(socket(t, server))
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			w.mu.Lock()
			w.clients = append(w.clients, client)
			go w.pass(client, w.address)
			w.mu.Unlock()
		}
	}()
	host, port, _ := net.SplitHostPort(listener.Addr().String())
	query.Set("host", host)
	query.Set("port", port)
	if w.tls != nil {
		query.Set("sslmode", "require")
	}
	u.RawQuery = query.Encode()
	w.url = u.String()
	return w
}

// cut is the end of the connection of one client.
type cut struct {
	texts    []string // the client sends them in this order
	withheld bool
	last     string
	end      func(client net.Conn)
}

// cutAfter cuts the connection of the client that sends these texts in this order.
func (w *wire) cutAfter(texts ...string) { w.next.Store(&cut{texts, w.withheld, w.last, w.end}) }

func (w *wire) wasCut() bool { return w.cuts.Load() > 0 }

// script is the progress of a client through the texts of a cut.
type script struct {
	of   *cut
	sent int
}

// ends returns the cut if the client sent the last of its texts in this message.
func (s *script) ends(w *wire, message []byte) *cut {
	if of := w.next.Load(); of != s.of {
		*s = script{of: of}
	}
	if s.of == nil {
		return nil
	}
	for s.sent < len(s.of.texts) && bytes.Contains(message, []byte(s.of.texts[s.sent])) {
		s.sent++
	}
	if s.sent < len(s.of.texts) || !w.next.CompareAndSwap(s.of, nil) {
		return nil
	}
	return s.of
}

func (w *wire) pass(client net.Conn, address string) {
	defer client.Close()
	server, err := net.Dial("unix", address)
	if err != nil {
		return
	}
	defer server.Close()
	if w.tls != nil {
		if client, err = encrypted(client, w.tls); err != nil {
			return
		}
		defer client.Close()
	}
	var ended atomic.Pointer[cut]
	go func() {
		defer server.Close()
		buffer := make([]byte, 64<<10)
		for of := (script{}); ; {
			n, err := client.Read(buffer)
			if of := of.ends(w, buffer[:n]); of != nil {
				ended.Store(of)
				if of.withheld {
					return
				}
			}
			if _, failed := server.Write(buffer[:n]); err != nil || failed != nil {
				return
			}
		}
	}()
	buffer := make([]byte, 64<<10)
	for {
		n, err := server.Read(buffer)
		if of := ended.Load(); of != nil {
			w.cuts.Add(1)
			_, _ = io.WriteString(client, of.last)
			if of.end != nil {
				of.end(client)
			}
			return // the server has done it, and nobody hears
		}
		if w.dead.Load() && err == nil {
			continue
		}
		if _, failed := client.Write(buffer[:n]); failed != nil || errors.Is(err, io.EOF) || err != nil {
			return
		}
	}
}

// encrypted accepts TLS as PostgreSQL does, after a request of eight bytes.
func encrypted(client net.Conn, config *tls.Config) (net.Conn, error) {
	if _, err := io.ReadFull(client, make([]byte, 8)); err != nil {
		return nil, err
	}
	if _, err := io.WriteString(client, "S"); err != nil {
		return nil, err
	}
	return tls.Server(client, config), nil
}

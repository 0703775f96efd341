package server_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/edge/admission"
	"library-catalogue/edge/ratelimit"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

// wire is a network in memory, whose connections buffer nothing: what one end
// writes, the other has to read. It works where time is not real.
type wire struct {
	conns chan net.Conn
	done  chan struct{}
	store *db.Store // of the server
}

func (w *wire) Accept() (net.Conn, error) {
	select {
	case conn := <-w.conns:
		return conn, nil
	case <-w.done:
		return nil, net.ErrClosed
	}
}

func (w *wire) Close() error { close(w.done); return nil }

func (w *wire) Addr() net.Addr { return &net.TCPAddr{} }

// peer is a connection to a server.
type peer struct {
	net.Conn
	t     *testing.T
	since time.Time
}

func (w *wire) dial(t *testing.T) *peer {
	t.Helper()
	ours, theirs := net.Pipe()
	w.conns <- theirs
	t.Cleanup(func() { ours.Close() })
	return &peer{ours, t, time.Now()}
}

// trickle sends a text every second until it cannot. The caller waits for done.
func (p *peer) trickle(text string) (done func()) {
	var sending sync.WaitGroup
	sending.Go(func() {
		for p.send(text) == nil {
			time.Sleep(time.Second)
		}
	})
	return sending.Wait
}

func (p *peer) send(text string) error {
	_, err := io.WriteString(p, text)
	return err
}

// cutAfter demands that the server closes the connection when it is so old.
func (p *peer) cutAfter(age time.Duration) {
	p.t.Helper()
	_, err := io.Copy(io.Discard, p)
	if got := time.Since(p.since); got != age || err != nil && !errors.Is(err, io.ErrClosedPipe) {
		p.t.Errorf("the connection was cut after %v, want %v (%v)", got, age, err)
	}
}

// patiently runs fn with a server whose time is not real. Its catalogue has one
// book.
func patiently(t *testing.T, fn func(t *testing.T, w *wire), change ...func(*server.Config)) {
	t.Helper()
	verify := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(w, r.WithContext(model.WithCaller(r.Context(), model.Caller{})))
		})
	}
	synctest.Test(t, func(t *testing.T) {
		store := catalogtest.Open(t, catalogtest.SQLite(t))
		servertest.StoreBook(t, store)
		cfg := server.Config{Catalogue: resolvers.New(store), Authenticate: verify}
		for _, change := range change {
			change(&cfg)
		}
		srv, err := server.New(cfg)
		servertest.Must(t, err)
		w := &wire{make(chan net.Conn), make(chan struct{}), store}
		ended := make(chan error)
		go func() { ended <- srv.Serve(admission.Listener(w, 500)) }()
		fn(t, w)
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second) // net/http lets a connection linger before it closes it
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
}

// TestSlowHeaders sends a byte a second, and no more: it is not the last byte
// that counts.
func TestSlowHeaders(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]string{"nothing": "", "a line": "GET /api/books HTTP/1.1\r\n", "headers": "GET /api/books HTTP/1.1\r\nHost: x\r\nX-A: "} {
		t.Run(name, func(t *testing.T) {
			patiently(t, func(t *testing.T, w *wire) {
				c := w.dial(t)
				servertest.Must(t, c.send(begin))
				done := c.trickle("a")
				c.cutAfter(5 * time.Second)
				done()
			})
		})
	}
}

// TestSlowBodies announces a body and sends a byte of it a second.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	for _, target := range []string{"/graphql", "/api/books", "/api/nothing", "/healthz"} {
		for _, length := range []string{"Content-Length: 1000000", "Transfer-Encoding: chunked"} {
			t.Run(target+" "+length, func(t *testing.T) {
				patiently(t, func(t *testing.T, w *wire) {
					c := w.dial(t)
					servertest.Must(t, c.send("POST "+target+" HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"+length+"\r\n\r\n"))
					done := c.trickle("1\r\n{\r\n")
					if _, err := io.Copy(io.Discard, c); err != nil && !errors.Is(err, io.ErrClosedPipe) {
						t.Error(err)
					}
					if age := time.Since(c.since); age > 16*time.Second {
						t.Errorf("the connection was cut after %v", age)
					}
					done()
				})
			})
		}
	}
}

// TestSlowBodyOfARefusal trickles a body of a request that is refused before it is read.
func TestSlowBodyOfARefusal(t *testing.T) {
	t.Parallel()
	patiently(t, func(t *testing.T, w *wire) {
		first := w.dial(t)
		servertest.Must(t, first.send("GET /nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"))
		if _, err := io.Copy(io.Discard, first); err != nil {
			t.Fatal(err)
		}
		c := w.dial(t)
		servertest.Must(t, c.send("POST /api/books HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"))
		done := c.trickle("a")
		if _, err := io.Copy(io.Discard, c); err != nil && !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
		if age := time.Since(c.since); age > 11*time.Second {
			t.Errorf("the connection was cut after %v", age)
		}
		done()
	}, func(cfg *server.Config) { cfg.Rate = ratelimit.Rate{PerSecond: 0.001, Burst: 1} })
}

// TestIdleConnections lets a connection stay open after an answer.
func TestIdleConnections(t *testing.T) {
	t.Parallel()
	patiently(t, func(t *testing.T, w *wire) {
		c := w.dial(t)
		servertest.Must(t, c.send("GET /api/nothing HTTP/1.1\r\nHost: x\r\n\r\n"))
		response, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil || response.StatusCode != http.StatusNotFound {
			t.Fatal(response, err)
		}
		c.cutAfter(2 * time.Minute)
	})
}

// TestSlowReaders has 200 clients read a list for longer than anything else may take:
// each gets the whole, and others are answered meanwhile.
func TestSlowReaders(t *testing.T) {
	t.Parallel()
	patiently(t, func(t *testing.T, w *wire) {
		const rate = 20 << 10 // bytes a second
		description := strings.Repeat("d", 20_000)
		for range 100 {
			if _, err := w.store.Categories.Create(t.Context(), &model.CreateCategoryInput{Name: "C", Description: graphql.OmittableOf(&description)}); err != nil {
				t.Fatal(err)
			}
		}
		var readers sync.WaitGroup
		for range 200 {
			c := w.dial(t)
			readers.Go(func() {
				if err := c.send("GET /api/categories HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"); err != nil {
					t.Error(err)
				}
				read := 0
				for last := ""; ; time.Sleep(time.Second) {
					part := make([]byte, rate)
					n, err := io.ReadFull(c, part)
					read += n
					if err != nil {
						if last += string(part[:n]); !strings.HasSuffix(last, "]}\r\n0\r\n\r\n") {
							t.Errorf("after %v and %d bytes: %v", time.Since(c.since), read, err)
						}
						return
					}
					last = string(part)
				}
			})
		}
		time.Sleep(time.Minute)
		for _, target := range []string{"/api/books", "/api/categories?per_page=10", "/api/categories?sort=-id&per_page=1"} {
			c := w.dial(t)
			asked := time.Now()
			if err := c.send("GET " + target + " HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
				t.Error(err)
			}
			if response, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || response.StatusCode != http.StatusOK || time.Since(asked) > time.Second {
				t.Errorf("%s: %v after %v, %v", target, response, time.Since(asked), err)
			}
			c.Close()
		}
		readers.Wait()
	})
}

// TestHeadersThatAreTooLong: no more of them is read than New allows.
func TestHeadersThatAreTooLong(t *testing.T) {
	t.Parallel()
	patiently(t, func(t *testing.T, w *wire) {
		for size, want := range map[int]int{15_000: http.StatusNotFound, 30_000: http.StatusRequestHeaderFieldsTooLarge} {
			c := w.dial(t)
			go c.send("GET /api/nothing HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " + strings.Repeat(".", size) + "\r\n\r\n")
			response, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil || response.StatusCode != want {
				t.Errorf("%d bytes: %v, %v, want status %d", size, response, err, want)
			}
			c.Close()
		}
	})
}

// TestBodiesHeldBack has clients hold large bodies back, more than there is room for: those
// that come whole are answered, and those that wait for too long are refused. A byte every second keeps a body's place.
func TestBodiesHeldBack(t *testing.T) {
	t.Parallel()
	patiently(t, func(t *testing.T, w *wire) {
		const request = "POST %s HTTP/1.1\r\nHost: x\r\nX-Request-Id: test\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s"
		answer := func(c *peer) (*http.Response, string) {
			response, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				return nil, "" // it was cut
			}
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Error(err)
			}
			return response, string(body)
		}
		refusals := map[string]string{
			"/graphql":        `{"errors":[{"message":"The server is busy with other requests. Try again in a moment.","extensions":{"code":"UNAVAILABLE","requestId":"test","retryAfter":1}}]}`,
			"/api/categories": `{"success":false,"message":"The server is busy with other requests. Try again in a moment.","data":null}`,
		}
		late := map[string]int{"/graphql": http.StatusRequestTimeout, "/api/categories": http.StatusBadRequest}
		blank := strings.Repeat(" ", 1<<20-100)
		var refused atomic.Int64
		var held sync.WaitGroup
		for i := range 8 {
			target := []string{"/graphql", "/api/categories"}[i%2]
			c := w.dial(t)
			held.Go(func() {
				response, body := answer(c)
				if response == nil || response.StatusCode == late[target] {
					return
				}
				refused.Add(1)
				if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") != "1" || body != refusals[target] {
					t.Errorf("%s: status %d, %v: %s", target, response.StatusCode, response.Header, body)
				}
			})
			held.Go(func() {
				for err := c.send(fmt.Sprintf(request, target, 1<<20, blank)); err == nil; err = c.send(" ") { // the rest does not come in time
					time.Sleep(time.Second)
				}
			})
		}
		synctest.Wait()
		for target, body := range map[string]string{"/graphql": `{"query":"{ __typename }"}`, "/api/categories": `{"name":"C"}`} {
			for _, text := range []string{body, body + blank[:20_000]} {
				c := w.dial(t)
				go c.send(fmt.Sprintf(request, target, len(text), text))
				if response, body := answer(c); response == nil || response.StatusCode >= http.StatusBadRequest || time.Since(c.since) > 0 {
					t.Errorf("%s, %d bytes: %v: %s", target, len(text), response, body)
				}
			}
		}
		held.Wait()
		if n := refused.Load(); n != 4 { // two had room at first, and two after these were cut
			t.Errorf("%d of those that were held back were refused", n)
		}
	})
}

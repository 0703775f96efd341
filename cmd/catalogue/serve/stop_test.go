package serve

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"library-catalogue/edge/eventstream"
	"library-catalogue/edge/telemetry"
	"library-catalogue/server"
)

// wire is a listener in memory, whose connections buffer nothing.
type wire struct {
	connections chan net.Conn
	closed      chan struct{}
}

func (w *wire) Accept() (net.Conn, error) {
	select {
	case conn := <-w.connections:
		return conn, nil
	case <-w.closed:
		return nil, net.ErrClosed
	}
}

func (w *wire) Close() error   { close(w.closed); return nil }
func (w *wire) Addr() net.Addr { return &net.TCPAddr{} }

func (w *wire) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case w.connections <- theirs:
		return ours, nil
	case <-w.closed:
		return nil, net.ErrClosed
	}
}

// TestStop stops a server with a request under way and one that never ends: what it
// says of itself, whom it still answers, and when it ends.
func TestStop(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		second time.Duration // after the first signal; 0: there is none
		ends   time.Duration
	}{
		"one signal":                          {0, defaultDrainWait + drainTimeout},
		"another before the end":              {defaultDrainWait + time.Second, defaultDrainWait + time.Second},
		"another while connections are taken": {time.Second, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := slog.New(slog.DiscardHandler)
				observer := telemetry.New(telemetry.Config{Logger: log})
				release := make(chan struct{})
				mux := http.NewServeMux()
				mux.HandleFunc("/readyz", observer.Readyz)
				mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
					<-release
					_, _ = io.WriteString(w, "all of it")
				})
				mux.HandleFunc("/endless", func(_ http.ResponseWriter, r *http.Request) {
					<-r.Context().Done()
				})
				w := &wire{make(chan net.Conn), make(chan struct{})}
				client := &http.Client{Transport: &http.Transport{DialContext: w.dial, DisableKeepAlives: true}}
				get := func(path string) (status int, body string) {
					response, err := client.Get("http://x" + path)
					if err != nil {
						return 0, err.Error()
					}
					defer response.Body.Close()
					text, err := io.ReadAll(response.Body)
					if err != nil {
						return 0, err.Error()
					}
					return response.StatusCode, string(text)
				}
				ctx, stop := context.WithCancel(t.Context())
				again, ended, sent := make(chan os.Signal, 1), make(chan error, 1), make(chan error)
				srv := &http.Server{Handler: mux, ErrorLog: slog.NewLogLogger(log.Handler(), 0)}
				p := &process{Command: new(Command), listener: w, log: log}
				p.MaxConnections, p.DrainWait, p.cfg.Observer = 10, new(defaultDrainWait), observer
				go func() { ended <- p.run(ctx, &server.Server{Server: srv, Streams: eventstream.New(1)}, sent, again) }()

				if status, body := get("/readyz"); status != http.StatusOK {
					t.Errorf("ready: status %d: %s", status, body)
				}
				endless, err := w.dial(ctx, "", "")
				must(t, err)
				defer endless.Close()
				if _, err := io.WriteString(endless, "GET /endless HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
					t.Fatal(err)
				}
				slow := make(chan string, 1)
				go func() {
					_, body := get("/slow")
					slow <- body
				}()
				synctest.Wait()

				stop()
				begun := time.Now()
				synctest.Wait()
				if status, body := get("/readyz"); status != http.StatusServiceUnavailable || !strings.Contains(body, "The server is shutting down.") {
					t.Errorf("stopping: status %d: %s", status, body)
				}
				if tt.second > 0 {
					time.AfterFunc(tt.second, func() { again <- syscall.SIGTERM })
				} else {
					time.Sleep(defaultDrainWait - 1)
					if status, _ := get("/other"); status != http.StatusNotFound {
						t.Errorf("while connections are taken: status %d", status)
					}
					time.Sleep(time.Second)
					if status, _ := get("/other"); status != 0 {
						t.Errorf("after that: status %d", status)
					}
					close(release)
					close(sent)
					if body := <-slow; body != "all of it" {
						t.Errorf("the request under way got %q", body)
					}
				}
				if err := <-ended; err != nil {
					t.Errorf("ended with %v", err)
				}
				if took := time.Since(begun); took != tt.ends {
					t.Errorf("took %v, want %v", took, tt.ends)
				}
				if tt.second > 0 {
					close(release)
					<-slow
				}
			})
		})
	}
}

// must ends the test at an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

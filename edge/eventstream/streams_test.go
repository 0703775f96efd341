package eventstream

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"

	"library-catalogue/edge/caller"
	"library-catalogue/graph/model"
)

// serve sends one request over a pipe to a handler of event streams, and returns the client's end.
func serve(t *testing.T, s *Streams, ctx context.Context, fn func(context.Context, *Writer) error) net.Conn {
	t.Helper()
	ours, theirs := net.Pipe()
	listener := &one{conn: theirs, done: make(chan struct{})}
	srv := &http.Server{
		BaseContext: func(net.Listener) context.Context { return ctx },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := s.Serve(w, r, fn); err != nil {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
			}
		}),
	}
	go srv.Serve(listener)
	t.Cleanup(func() {
		ours.Close()
		srv.Close()
	})
	_, err := io.WriteString(ours, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	must(t, err)
	return ours
}

// one is a listener with one connection.
type one struct {
	conn net.Conn
	done chan struct{}
}

func (o *one) Accept() (net.Conn, error) {
	if conn := o.conn; conn != nil {
		o.conn = nil
		return conn, nil
	}
	<-o.done
	return nil, net.ErrClosed
}
func (o *one) Close() error   { close(o.done); return nil }
func (o *one) Addr() net.Addr { return &net.TCPAddr{} }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func answer(t *testing.T, conn net.Conn) (*http.Response, *bufio.Reader) {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	must(t, err)
	return response, bufio.NewReader(response.Body)
}

func until(ctx context.Context, _ *Writer) error {
	<-ctx.Done()
	return ctx.Err()
}

func begin(ctx context.Context, out *Writer) error {
	_ = out.Begin()
	return until(ctx, out)
}

// TestEvents reads events, and the comments while there is none.
func TestEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		conn := serve(t, New(1), t.Context(), func(ctx context.Context, out *Writer) error {
			must(t, out.Send(Event{Name: "change", ID: "7", Retry: time.Second, Data: []byte("a\nb")}))
			time.Sleep(40 * time.Second)
			return out.Send(Event{Data: []byte{}})
		})
		response, body := answer(t, conn)
		if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "text/event-stream" || response.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s %v", response.Status, response.Header)
		}
		text, err := io.ReadAll(body)
		must(t, err)
		want := ":\n\n" + "event: change\nid: 7\nretry: 1000\ndata: a\ndata: b\n\n" + ":\n\n" + ":\n\n" + "data: \n\n"
		if string(text) != want || time.Since(begun) != 40*time.Second {
			t.Errorf("%q after %s, want %q", text, time.Since(begun), want)
		}
	})
}

// TestEnds ends a stream by each side, and counts what the server cut.
func TestEnds(t *testing.T) {
	expires := func(ctx context.Context) context.Context {
		return model.WithCaller(ctx, model.Caller{Subject: "s", Expires: time.Now().Add(time.Minute)})
	}
	for name, tt := range map[string]struct {
		ctx    func(context.Context) context.Context
		stream func(context.Context, *Writer) error
		do     func(s *Streams, conn net.Conn)
		after  time.Duration
		reason string // of the cut
	}{
		"the client leaves":  {stream: begin, do: func(_ *Streams, conn net.Conn) { conn.Close() }},
		"the token expires":  {ctx: expires, stream: begin, after: time.Minute + model.TokenLeeway, reason: token},
		"the server stops":   {stream: begin, do: func(s *Streams, _ net.Conn) { must(t, s.Shutdown(context.Background())) }, reason: shutdown},
		"the client is slow": {stream: func(ctx context.Context, out *Writer) error { return out.Send(Event{Data: make([]byte, 1<<20)}) }, after: WriteTimeout, reason: slow},
		"the feed is faster": {stream: func(context.Context, *Writer) error { return model.Errorf(model.Unavailable, "slow") }, reason: slow},
		"nothing more comes": {stream: func(_ context.Context, out *Writer) error { return out.Begin() }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, ctx := New(1), t.Context()
				if tt.ctx != nil {
					ctx = tt.ctx(ctx)
				}
				ended := make(chan struct{})
				conn := serve(t, s, ctx, func(ctx context.Context, out *Writer) error {
					defer close(ended)
					return tt.stream(ctx, out)
				})
				begun := time.Now()
				if tt.reason == slow {
					go bufio.NewReader(conn).ReadString('\n') // and no more
				} else {
					go io.Copy(io.Discard, conn)
				}
				synctest.Wait()
				if tt.do != nil {
					tt.do(s, conn)
				}
				<-ended
				if took := time.Since(begun); took != tt.after {
					t.Errorf("ended after %s, want %s", took, tt.after)
				}
				synctest.Wait()
				registry := prometheus.NewRegistry()
				registry.MustRegister(s)
				families, err := registry.Gather()
				must(t, err)
				for _, metric := range families[0].GetMetric() {
					want := 0.0
					if metric.GetLabel()[0].GetValue() == tt.reason {
						want = 1
					}
					if metric.GetCounter().GetValue() != want {
						t.Errorf("%v, want %v", metric, want)
					}
				}
				if s.open != 0 || len(s.callers) != 0 {
					t.Errorf("%d streams of %d callers are left", s.open, len(s.callers))
				}
			})
		})
	}
}

// TestRefused opens more streams than allowed.
func TestRefused(t *testing.T) {
	t.Parallel()
	s := New(maxPerCaller + 1)
	for _, tt := range []struct {
		who  string
		n    int
		want error
	}{{"a", maxPerCaller, nil}, {"a", 1, errTooMany}, {"b", 1, nil}} {
		for range tt.n {
			_, end, err := s.Open(caller.With(t.Context(), caller.Subject(tt.who)))
			if !errors.Is(err, tt.want) {
				t.Fatalf("%s: %v, want %v", tt.who, err, tt.want)
			}
			if err == nil {
				defer end(nil)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("did not wait for the streams: %v", err)
	}
	if _, _, err := s.Open(caller.With(t.Context(), caller.Subject("c"))); !errors.Is(err, ErrStopping) {
		t.Errorf("a stream of a server that stops: %v", err)
	}
	if _, err := s.Hold(); !errors.Is(err, ErrStopping) {
		t.Errorf("a socket of a server that stops: %v", err)
	}
}

// TestReplaced opens streams of a full server: each ends one of the caller with most, until all have as many.
func TestReplaced(t *testing.T) {
	t.Parallel()
	s := New(4)
	var open []context.Context
	begin := func(who string) error {
		ctx, end, err := s.Open(caller.With(t.Context(), caller.Subject(who)))
		if err == nil {
			open = append(open, ctx)
			t.Cleanup(func() { end(nil) })
		}
		return err
	}
	for _, who := range []string{"a", "a", "a", "a", "b", "b"} {
		if err := begin(who); err != nil {
			t.Fatal(who, err)
		}
	}
	replaced := 0
	for i, ctx := range open {
		if err := context.Cause(ctx); err != nil {
			if replaced++; i >= 4 || !errors.Is(err, ErrReplaced) || reasonOf(err) != full {
				t.Errorf("stream %d: %v", i, err)
			}
		}
	}
	if replaced != 2 {
		t.Errorf("%d streams were ended, want 2", replaced)
	}
	if err := begin("b"); !errors.Is(err, errFull) {
		t.Errorf("as many streams: %v", err)
	}
}

// TestPanic ends a stream by a panic, and lets the time of its next comment pass.
func TestPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, out := New(1), httptest.NewRecorder()
		var kept *Writer
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
			_ = s.Serve(out, request, func(_ context.Context, w *Writer) error {
				kept = w
				must(t, w.Begin())
				panic("a resolver")
			})
		}()
		sent := out.Body.Len()
		time.Sleep(2 * heartbeat)
		synctest.Wait()
		if out.Body.Len() != sent {
			t.Errorf("sent %q after the end of the response", out.Body.Bytes()[sent:])
		}
		if err := kept.Send(Event{Data: []byte("late")}); !errors.Is(err, errClosed) || out.Body.Len() != sent {
			t.Errorf("sent an event after the end of the response: %v", err)
		}
		if s.Count() != 0 {
			t.Errorf("%d streams are left", s.Count())
		}
	})
}

// TestErrorBeforeBegin answers with an error what fails before the first event.
func TestErrorBeforeBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := serve(t, New(1), t.Context(), func(context.Context, *Writer) error { return model.Errorf(model.NotFound, "gone") })
		response, body := answer(t, conn)
		text, err := body.ReadString('\n')
		if response.StatusCode != http.StatusServiceUnavailable || !strings.Contains(text, "gone") {
			t.Errorf("%s %q %v", response.Status, text, err)
		}
	})
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestSessionEnds ends the session of a stream, which ends within a second. A caller without a session goes on.
func TestSessionEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Bool
		caller := model.WithCaller(t.Context(), model.Caller{Expires: time.Now().Add(time.Hour)})
		other, cancelOther := UntilExpiry(caller)
		ctx, cancel := UntilExpiry(model.WithStillValid(caller, func(context.Context) bool { return !ended.Load() }))
		time.Sleep(time.Minute)
		if ctx.Err() != nil {
			t.Error("it ended before its session")
		}
		ended.Store(true)
		time.Sleep(validInterval + time.Millisecond)
		if !errors.Is(context.Cause(ctx), ErrTokenExpired) || other.Err() != nil {
			t.Errorf("after a second: %v, %v", context.Cause(ctx), other.Err())
		}
		cancel()
		cancelOther()
	})
}

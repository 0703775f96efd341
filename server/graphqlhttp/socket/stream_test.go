package socket_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/edge/admission"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

// feed is a catalogue whose changes come from a test. nil ends the feed with an error.
type feed struct {
	*resolvers.Resolver
	changes chan *model.Change
	end     chan struct{} // closed at the end of the feed
}

func (f feed) Follow(ctx context.Context, args model.ChangeArgs, _ func(context.Context) (func(), error), fn func(context.Context, *model.ChangePage) error) error {
	if args.After != nil {
		return model.Errorf(model.PositionGone, "gone")
	}
	for {
		select {
		case change := <-f.changes:
			if change == panicking {
				panic("on purpose")
			}
			if change == nil {
				return model.Errorf(model.Unavailable, "resume")
			}
			if err := fn(ctx, &model.ChangePage{Nodes: []*model.Change{change}}); err != nil {
				return err
			}
		case <-f.end:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

var panicking = &model.Change{}

// service is a server in a synctest bubble, whose connections are pipes.
type service struct {
	*server.Server
	feed        feed
	connections chan net.Conn
	closed      chan struct{}
}

func (s *service) Accept() (net.Conn, error) {
	select {
	case conn := <-s.connections:
		return conn, nil
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

func (s *service) Close() error   { close(s.closed); return nil }
func (s *service) Addr() net.Addr { return &net.TCPAddr{} }

var ended atomic.Bool // the session of authenticate

// authenticate takes any subject as a token, which is valid for a minute. The token bad is refused.
func authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		switch subject, given := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); {
		case subject == "panic":
			panic("on purpose")
		case subject == "bad":
			ctx = model.WithTokenError(ctx, &model.TokenError{Code: model.TokenInvalid, Message: "The token is not valid.", Err: errors.New("bad")})
		case subject == "session": // until a test ends it
			ctx = model.WithStillValid(model.WithCaller(ctx, model.Caller{Subject: subject, Expires: time.Now().Add(time.Minute)}),
				func(context.Context) bool { return !ended.Load() })
		case given:
			ctx = model.WithCaller(ctx, model.Caller{Subject: subject, Expires: time.Now().Add(time.Minute)})
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// serve runs fn with a server whose time is not real. Its catalogue has one book.
func serve(t *testing.T, fn func(t *testing.T, s *service), change ...func(*server.Config)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		store := catalogtest.Open(t, catalogtest.SQLite(t))
		servertest.StoreBook(t, store)
		s := &service{
			feed:        feed{resolvers.New(store), make(chan *model.Change), make(chan struct{})},
			connections: make(chan net.Conn), closed: make(chan struct{}),
		}
		cfg := server.Config{Catalogue: s.feed, Authenticate: authenticate}
		for _, change := range change {
			change(&cfg)
		}
		var err error
		s.Server, err = server.New(cfg)
		servertest.Must(t, err)
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(admission.Listener(s, 500)) }()
		defer s.Server.Close()
		fn(t, s)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		servertest.Must(t, s.Shutdown(ctx))
		time.Sleep(time.Minute) // net/http and the client let connections linger
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
}

func (s *service) dialer() *http.Transport {
	return &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		s.connections <- theirs
		return ours, nil
	}}
}

// client is a WebSocket.
type client struct {
	t *testing.T
	*websocket.Conn
}

func (s *service) dial(t *testing.T, protocol string, header http.Header) *client {
	t.Helper()
	conn, response, err := websocket.Dial(t.Context(), "ws://x/graphql", &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: s.dialer()}, Subprotocols: strings.Fields(protocol), HTTPHeader: header,
	})
	if err != nil {
		t.Fatal(err, response)
	}
	conn.SetReadLimit(-1)
	t.Cleanup(func() { conn.CloseNow() })
	return &client{t, conn}
}

// connect is dial with a token, after connection_ack.
func (s *service) connect(t *testing.T, token string) *client {
	t.Helper()
	c := s.dial(t, "graphql-transport-ws", nil)
	c.send(`{"type":"connection_init","payload":{"Authorization":"Bearer ` + token + `"}}`)
	c.want(`{"type":"connection_ack"}`)
	return c
}

func (c *client) send(text string) {
	c.t.Helper()
	servertest.Must(c.t, c.Write(c.t.Context(), websocket.MessageText, []byte(text)))
}

// want reads a message. In a want … stands for any text.
func (c *client) want(want string) {
	c.t.Helper()
	_, text, err := c.Read(c.t.Context())
	begin, end, open := strings.Cut(want, "…")
	if err != nil || string(text) != want && !(open && strings.HasPrefix(string(text), begin) && strings.HasSuffix(string(text), end)) {
		c.t.Fatalf("%s %v, want %s", text, err, want)
	}
}

// wantClose reads a close code, which came after a time.
func (c *client) wantClose(code websocket.StatusCode, reason string) {
	c.t.Helper()
	_, text, err := c.Read(c.t.Context())
	closed, _ := errors.AsType[websocket.CloseError](err)
	if closed.Code != code || !strings.HasPrefix(closed.Reason, reason) {
		c.t.Fatalf("%s %v, want %d %s", text, err, code, reason)
	}
}

const (
	hello     = `{"type":"connection_init"}`
	ackText   = `{"type":"connection_ack"}`
	follow    = `{"id":"1","type":"subscribe","payload":{"query":"subscription { changes { position actor book { name genre { name } } } }"}}`
	positions = `{"id":"1","type":"subscribe","payload":{"query":"subscription { changes { position } }"}}`
	position  = `{"id":"1","type":"next","payload":{"data":{"changes":{"position":"7"}}}}`
	typename  = `{"id":"2","type":"subscribe","payload":{"query":"{ __typename }","operationName":null,"variables":null}}`
	change    = `{"id":"1","type":"next","payload":{"data":{"changes":{"position":"7","actor":null,"book":{"name":"B","genre":{"name":"G"}}}}}}`
	completed = `{"type":"complete","id":"1"}`
)

var one = &model.Change{Position: "7", Type: "BOOK", RowID: 1, Operation: "CREATE", Book: &model.Book{ID: 1, Name: "B", GenreID: 1}}

// TestProtocol sends messages, and reads the messages and the close code that follow.
func TestProtocol(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		protocol string // graphql-transport-ws if empty
		header   string // Authorization of the handshake
		send     []string
		want     []string
		after    time.Duration
		code     websocket.StatusCode
		reason   string
	}{
		"another subprotocol": {protocol: "graphql-ws", code: 4406, reason: "Subprotocol not acceptable"},
		"no init":             {after: 3 * time.Second, code: 4408, reason: "Connection initialisation timeout"},
		"pings without init":  {send: []string{`{"type":"ping"}`, `{"type":"ping","payload":{"a":1}}`}, want: []string{`{"type":"pong"}`, `{"type":"pong","payload":{"a":1}}`}, after: 3 * time.Second, code: 4408},
		"subscribe first":     {send: []string{typename}, code: 4401, reason: "Unauthorized"},
		"init twice":          {send: []string{hello, hello}, want: []string{ackText}, code: 4429, reason: "Too many initialisation requests"},
		"not JSON":            {send: []string{`{`}, code: 4400},
		"not an object":       {send: []string{`[]`}, code: 4400},
		"no type":             {send: []string{`{}`}, code: 4400},
		"an unknown type":     {send: []string{`{"type":"start"}`}, code: 4400},
		"a type of servers":   {send: []string{hello, `{"type":"connection_ack"}`}, want: []string{ackText}, code: 4400},
		"a payload of init":   {send: []string{`{"type":"connection_init","payload":1}`}, code: 4400},
		"subscribe, no id":    {send: []string{hello, `{"type":"subscribe","payload":{"query":"{ __typename }"}}`}, want: []string{ackText}, code: 4400},
		"subscribe, no query": {send: []string{hello, `{"id":"1","type":"subscribe","payload":{}}`}, want: []string{ackText}, code: 4400},
		"subscribe, nothing":  {send: []string{hello, `{"id":"1","type":"subscribe"}`}, want: []string{ackText}, code: 4400},
		"query of a number":   {send: []string{hello, `{"id":"1","type":"subscribe","payload":{"query":5}}`}, want: []string{ackText}, code: 4400},
		"variables in a list": {send: []string{hello, `{"id":"1","type":"subscribe","payload":{"query":"{ __typename }","variables":[]}}`}, want: []string{ackText}, code: 4400},
		"complete, no id":     {send: []string{hello, `{"type":"complete"}`}, want: []string{ackText}, code: 4400},
		"an id twice":         {send: []string{hello, follow, follow}, want: []string{ackText}, code: 4409, reason: "Subscriber for 1 already exists"},
		"a long id twice": {
			send: []string{hello, strings.Replace(follow, `"1"`, `"`+strings.Repeat("i", 500)+`"`, 1), strings.Replace(follow, `"1"`, `"`+strings.Repeat("i", 500)+`"`, 1)},
			want: []string{ackText}, code: 4409, reason: "Subscriber for iii",
		},
		"too large":            {send: []string{`{"type":"ping","payload":{"a":"` + strings.Repeat("a", 64<<10) + `"}}`}, code: websocket.StatusMessageTooBig},
		"a bad token":          {send: []string{`{"type":"connection_init","payload":{"authorization":"Bearer bad"}}`}, code: 4403, reason: "The token is not valid."},
		"a token of a number":  {send: []string{`{"type":"connection_init","payload":{"authorization":5}}`}, code: 4400},
		"a bad header":         {header: "Bearer bad", send: []string{hello}, code: 4403, reason: "The token is not valid."},
		"another in the init":  {header: "Bearer bad", send: []string{`{"type":"connection_init","payload":{"headers":{"authorization":"Bearer s"}}}`}, want: []string{ackText}, after: 90 * time.Second, code: 4403},
		"the token expires":    {send: []string{`{"type":"connection_init","payload":{"Authorization":"Bearer s"}}`, follow}, want: []string{ackText}, after: 90 * time.Second, code: 4403, reason: "The token has expired."},
		"the header expires":   {header: "Bearer s", send: []string{hello, follow}, want: []string{ackText}, after: 90 * time.Second, code: 4403},
		"complete and anew":    {send: []string{hello, follow, completed, follow, `{}`}, want: []string{ackText}, code: 4400},
		"complete of nothing":  {send: []string{hello, completed, `{}`}, want: []string{ackText}, code: 4400},
		"a pong nobody wanted": {send: []string{`{"type":"pong"}`, `{}`}, code: 4400},
	} {
		t.Run(name, func(t *testing.T) {
			serve(t, func(t *testing.T, s *service) {
				protocol := tt.protocol
				if protocol == "" {
					protocol = "graphql-transport-ws"
				}
				header := http.Header{}
				if tt.header != "" {
					header.Set("Authorization", tt.header)
				}
				begun := time.Now()
				c := s.dial(t, protocol, header)
				go func() {
					for _, text := range tt.send {
						if c.Write(t.Context(), websocket.MessageText, []byte(text)) != nil {
							return
						}
					}
				}()
				for _, want := range tt.want {
					c.want(want)
				}
				c.wantClose(tt.code, tt.reason)
				if took := time.Since(begun); took != tt.after {
					t.Errorf("closed after %s, want %s", took, tt.after)
				}
			})
		})
	}
}

// TestBinary sends a message that is not text.
func TestBinary(t *testing.T) {
	t.Parallel()
	serve(t, func(t *testing.T, s *service) {
		c := s.dial(t, "graphql-transport-ws", nil)
		servertest.Must(t, c.Write(t.Context(), websocket.MessageBinary, []byte(hello)))
		c.wantClose(4400, "Send messages as text.")
	})
}

// TestOperations runs operations to their ends.
func TestOperations(t *testing.T) {
	t.Parallel()
	serve(t, func(t *testing.T, s *service) {
		c := s.connect(t, "writer")
		c.send(`{"id":"q","type":"subscribe","payload":{"query":"query ($id: ID!) { book(id: $id) { name } viewer { subject } }","variables":{"id":1}}}`)
		c.want(`{"id":"q","type":"next","payload":{"data":{"book":{"name":"B"},"viewer":{"subject":"writer"}}}}`)
		c.want(`{"type":"complete","id":"q"}`)
		c.send(`{"id":"q","type":"subscribe","payload":{"query":"mutation { updateBook(input: {id: 1, patch: {name: \"N\"}}) { book { name } } }"}}`)
		c.want(`{"id":"q","type":"next","payload":{"data":{"updateBook":{"book":{"name":"N"}}}}}`)
		c.want(`{"type":"complete","id":"q"}`)
		c.send(`{"id":"q","type":"subscribe","payload":{"query":"{ nothing }"}}`)
		c.want(`{"id":"q","type":"error","payload":[{"message":"Cannot query field…`)
		c.send(`{"id":"q","type":"subscribe","payload":{"query":"subscription { changes(after: \"x\") { position } }"}}`)
		c.want(`{"id":"q","type":"error","payload":[{"message":"gone","extensions":{"code":"POSITION_GONE","requestId":"…`)

		c.send(follow)
		for range 3 {
			s.feed.changes <- one
			c.want(change)
		}
		c.send(follow)
		c.wantClose(4409, "Subscriber for 1 already exists")
	})
}

// TestEndOfFeed ends subscriptions by the feed.
func TestEndOfFeed(t *testing.T) {
	t.Parallel()
	serve(t, func(t *testing.T, s *service) {
		c := s.connect(t, "reader")
		c.send(follow)
		s.feed.changes <- nil
		c.want(`{"id":"1","type":"error","payload":[{"message":"resume",…`)
		c.send(follow)
		s.feed.changes <- one
		c.want(change)
		close(s.feed.end)
		c.want(completed)
	})
}

// TestComplete ends a subscription by the client. Its change does not reach the client.
func TestComplete(t *testing.T) {
	t.Parallel()
	serve(t, func(t *testing.T, s *service) {
		c := s.connect(t, "reader")
		c.send(follow)
		s.feed.changes <- one
		c.want(change)
		c.send(completed)
		c.send(typename)
		c.want(`{"id":"2","type":"next","payload":{"data":{"__typename":"Query"}}}`)
		c.want(`{"type":"complete","id":"2"}`)
		synctest.Wait()
		select {
		case s.feed.changes <- one:
			t.Error("the subscription runs")
		default:
		}
	})
}

// TestReusedID completes an operation whose message waits for a slow client: it does not reach the next operation with
// its id.
func TestReusedID(t *testing.T) {
	t.Parallel()
	serve(t, func(t *testing.T, s *service) {
		c := s.connect(t, "reader")
		c.send(positions)
		s.feed.changes <- one
		synctest.Wait()
		c.send(typename)
		synctest.Wait()
		c.send(`{"type":"complete","id":"2"}`)
		c.send(`{"id":"2","type":"subscribe","payload":{"query":"{ other: __typename }"}}`)
		synctest.Wait()
		c.want(position)
		c.want(`{"id":"2","type":"next","payload":{"data":{"other":"Query"}}}`)
		c.want(`{"type":"complete","id":"2"}`)
	})
}

// TestManyOperations runs as many operations as a socket may have, and one more.
func TestManyOperations(t *testing.T) {
	t.Parallel()
	serve(t, func(t *testing.T, s *service) {
		c := s.connect(t, "reader")
		for i := range 101 {
			c.send(strings.Replace(follow, `"1"`, `"`+strings.Repeat("i", i+1)+`"`, 1))
		}
		c.want(`{"id":"` + strings.Repeat("i", 101) + `","type":"error","payload":[{"message":"A WebSocket may have 100 running operations.…"retryAfter":1}}]}`)
		synctest.Wait()
		other := s.connect(t, "reader")
		other.send(follow)
		other.want(`{"id":"1","type":"error","payload":[{"message":"A caller may have 100 open subscriptions and event streams.…"retryAfter":1}}]}`)
		other.send(typename)
		other.want(`{"id":"2","type":"next",…`)
	})
}

// TestShutdown stops the server while a subscription and a query run.
func TestShutdown(t *testing.T) {
	t.Parallel()
	serve(t, func(t *testing.T, s *service) {
		c := s.connect(t, "reader")
		c.send(positions)
		s.feed.changes <- one
		synctest.Wait() // the change is on its way
		ended := make(chan error, 1)
		go func() { ended <- s.Shutdown(context.Background()) }()
		synctest.Wait()
		c.want(position)
		c.wantClose(websocket.StatusGoingAway, "The server is shutting down.")
		servertest.Must(t, <-ended)
	})
}

// wantCut waits until the only stream is cut.
func (s *service) wantCut(t *testing.T, after time.Duration) {
	t.Helper()
	time.Sleep(after - time.Nanosecond)
	if synctest.Wait(); s.Streams.Count() != 1 {
		t.Error("cut too early")
	}
	time.Sleep(time.Nanosecond)
	if synctest.Wait(); s.Streams.Count() != 0 {
		t.Error("not cut")
	}
}

// TestSlowClient does not read what it subscribed to.
func TestSlowClient(t *testing.T) {
	t.Parallel()
	serve(t, func(t *testing.T, s *service) {
		c := s.connect(t, "reader")
		c.send(positions)
		s.feed.changes <- one
		s.wantCut(t, 10*time.Second)
	})
}

// TestLostClient leaves without a word: a ping finds out.
func TestLostClient(t *testing.T) {
	t.Parallel()
	serve(t, func(t *testing.T, s *service) {
		c := s.connect(t, "reader")
		c.send(positions)
		s.wantCut(t, 20*time.Second) // a ping takes 5 s at most
	})
}

// TestOrigin opens sockets from web pages.
func TestOrigin(t *testing.T) {
	t.Parallel()
	serve(t, func(t *testing.T, s *service) {
		for origin, status := range map[string]int{"http://x": 101, "https://app.example": 101, "https://other.example": 403, "null": 403} {
			conn, response, err := websocket.Dial(t.Context(), "ws://x/graphql", &websocket.DialOptions{
				HTTPClient: &http.Client{Transport: s.dialer()}, Subprotocols: []string{"graphql-transport-ws"}, HTTPHeader: http.Header{"Origin": {origin}},
			})
			if response == nil || response.StatusCode != status {
				t.Errorf("%s: %v %v, want %d", origin, response, err, status)
			}
			if conn != nil {
				conn.CloseNow()
			}
		}
	}, func(cfg *server.Config) { cfg.Origins = []string{"https://app.example"} })
}

// TestPanics lets the feed of a socket and of an event stream panic, and the authentication of another socket. The
// clients get an Internal error, and no stream is left.
func TestPanics(t *testing.T) {
	t.Parallel()
	serve(t, func(t *testing.T, s *service) {
		c := s.connect(t, "reader")
		c.send(follow)
		s.feed.changes <- panicking
		c.want(`{"id":"1","type":"error","payload":[{"message":"Internal server error",…`)
		c.send(follow) // the id is free
		s.feed.changes <- one
		c.want(change)
		c.send(completed)

		_, events := s.request(t, http.MethodGet, subscription, "text/event-stream")
		wantEvents(t, events, ":\n\n")
		synctest.Wait()
		s.feed.changes <- panicking
		wantEvents(t, events, "event: next\ndata: {\"errors\":[{\"message\":\"Internal server error\"")
		if text, err := io.ReadAll(events); err != nil || !strings.HasSuffix(string(text), lastEvent) {
			t.Errorf("%q %v", text, err)
		}

		other := s.dial(t, "graphql-transport-ws", nil)
		other.send(`{"type":"connection_init","payload":{"authorization":"Bearer panic"}}`)
		other.wantClose(websocket.StatusInternalError, "Internal server error")
		synctest.Wait()
		if n := s.Streams.Count(); n != 0 {
			t.Errorf("%d streams are left", n)
		}
	})
}

func TestMain(m *testing.M) { servertest.Main(m) }

package server_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/coder/websocket"

	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/edge/admission"
	"library-catalogue/edge/eventstream"
	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

const (
	abusers    = 40
	abuseRound = 900 // streams; without soak a tenth
	abuseBooks = 3_000
)

// TestStreamsUnderAbuse opens event streams and sockets that leave at random moments, by closing or by a reset, while
// the catalogue is written. Afterwards goroutines and memory are as before, and nothing has panicked. It runs alone,
// because it counts goroutines.
func TestStreamsUnderAbuse(t *testing.T) { //nolint:paralleltest // counts goroutines
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := servertest.Serve(t, url)
		c.Shelves(t)
		a := &abuse{Client: c, streams: eventstream.New(eventstream.DefaultMax)}
		a.fill(t)
		a.listen(t)
		a.round(t, abusers) // opens connections of the database and fills caches
		goroutines, heap := a.left(t, 1<<30)
		for range dbtest.Runs(10) {
			a.round(t, dbtest.Runs(abuseRound))
		}
		after, memory := a.left(t, goroutines)
		t.Logf("%d goroutines, then %d; %d heap objects, then %d", goroutines, after, heap, memory)
		if memory > heap+heap/5+20_000 {
			t.Errorf("%d objects on the heap, and %d before", memory, heap)
		}
		if lines := c.Log.Find("panic"); lines != "" {
			t.Errorf("the log has %.2000s", lines)
		}
		servertest.Must(t, a.server.Shutdown(t.Context())) // waits for all streams
	})
}

// abuse is a server on a port of this machine.
type abuse struct {
	*servertest.Client
	server  *server.Server
	streams *eventstream.Streams
	address string
	oldest  string // position
}

// fill stores books, so that a stream reads for a while before it follows.
func (a *abuse) fill(t *testing.T) {
	t.Helper()
	ctx := model.WithCaller(t.Context(), model.Caller{Subject: "import"})
	page, err := a.Store.Changes(ctx, model.ChangeArgs{First: 1})
	servertest.Must(t, err)
	a.oldest = page.Position
	var forms []model.Form
	for i := range abuseBooks {
		form, err := model.ParseForm(fmt.Appendf(nil, `{"name":"Book %d","description":%q,"pages":100,"published_at":"2000-01-01","author":"A B","price":"1.00","genre":"G","category":"C"}`, i, strings.Repeat("x", 300)))
		servertest.Must(t, err)
		forms = append(forms, form)
	}
	_, err = resolvers.New(a.Store).ImportBooks(ctx, forms)
	servertest.Must(t, err)
}

func (a *abuse) listen(t *testing.T) {
	t.Helper()
	log := a.Log.Logger()
	var err error
	a.server, err = server.New(server.Config{
		Logger: log, Observer: telemetry.New(telemetry.Config{Logger: log}), Catalogue: a.Catalogue, Authenticate: a.Authenticate, Streams: a.streams,
	})
	servertest.Must(t, err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	servertest.Must(t, err)
	a.address = listener.Addr().String()
	ended := make(chan error, 1)
	go func() { ended <- a.server.Serve(admission.Listener(listener, 1_000)) }()
	t.Cleanup(func() {
		_ = a.server.Close()
		<-ended
	})
}

// round runs streams, abusers at once, while a writer writes.
func (a *abuse) round(t *testing.T, streams int) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	written := make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			if _, err := a.Store.Books.Update(ctx, 1, &model.BookPatch{Name: graphql.OmittableOf(new(fmt.Sprint("Book ", i)))}, nil); err != nil {
				written <- err
				return
			}
		}
	}()
	next := make(chan int)
	var running sync.WaitGroup
	for i := range abusers {
		running.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), uint64(streams)))
			for n := range next {
				leave := time.Now().Add(time.Duration(random.IntN(100)) * time.Millisecond)
				if n%3 == 0 {
					a.socket(ctx, random, leave)
				} else {
					a.eventStream(n%3 == 1, random, leave)
				}
			}
		})
	}
	for n := range streams {
		next <- n
	}
	close(next)
	running.Wait()
	stop()
	if err := <-written; ctx.Err() == nil {
		t.Error(err)
	}
}

const followed = `subscription { changes(after: %q) { position book { name genre { name category { name } } } } }`

// eventStream reads a stream of /api/changes or of GraphQL until leave.
func (a *abuse) eventStream(graphQL bool, random *rand.Rand, leave time.Time) {
	conn, err := net.Dial("tcp", a.address)
	if err != nil {
		return // the next one may connect
	}
	target := "/api/changes?after=" + a.oldest
	if graphQL {
		target = "/graphql?query=" + url.QueryEscape(fmt.Sprintf(followed, a.oldest))
	}
	_ = conn.SetDeadline(leave)
	_, _ = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n", target)
	for buffer := make([]byte, 1+random.IntN(8<<10)); err == nil; {
		_, err = conn.Read(buffer)
	}
	if random.IntN(2) == 0 {
		_ = conn.(*net.TCPConn).SetLinger(0) // Close resets the connection
	}
	_ = conn.Close()
}

// socket follows the changes several times over a WebSocket until leave.
func (a *abuse) socket(ctx context.Context, random *rand.Rand, leave time.Time) {
	ctx, cancel := context.WithDeadline(ctx, leave)
	defer cancel()
	var under net.Conn
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (conn net.Conn, err error) {
		under, err = new(net.Dialer).DialContext(ctx, network, address)
		return under, err
	}}
	defer transport.CloseIdleConnections()
	conn, _, err := websocket.Dial(ctx, "ws://"+a.address+"/graphql", &websocket.DialOptions{
		HTTPClient: &http.Client{Transport: transport}, Subprotocols: []string{"graphql-transport-ws"},
	})
	if err != nil {
		return
	}
	defer conn.CloseNow()
	_ = conn.Write(ctx, websocket.MessageText, []byte(`{"type":"connection_init"}`))
	for i := range 1 + random.IntN(3) {
		text := fmt.Sprintf(`{"id":"%d","type":"subscribe","payload":{"query":%q}}`, i, fmt.Sprintf(followed, a.oldest))
		_ = conn.Write(ctx, websocket.MessageText, []byte(text))
	}
	if random.IntN(2) == 0 {
		_ = conn.Write(ctx, websocket.MessageText, []byte(`{"type":"complete","id":"0"}`))
	}
	for err == nil {
		_, _, err = conn.Read(ctx)
	}
	if random.IntN(2) == 0 {
		_ = under.(*net.TCPConn).SetLinger(0)
	}
}

// left waits until the streams have ended and at most most goroutines are left. It returns the numbers of goroutines
// and of objects on the heap.
func (a *abuse) left(t *testing.T, most int) (goroutines int, objects uint64) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	limit := time.After(30 * time.Second)
	for settled := 0; settled < 20; { // 200 ms without a change
		select {
		case <-tick.C:
		case <-limit:
			var stacks bytes.Buffer
			_ = pprof.Lookup("goroutine").WriteTo(&stacks, 1)
			t.Fatalf("%d streams and %d goroutines are left, want at most %d:\n%s", a.streams.Count(), runtime.NumGoroutine(), most, stacks.String())
		}
		now := runtime.NumGoroutine()
		if settled++; now != goroutines || now > most || a.streams.Count() > 0 {
			settled = 0
		}
		goroutines = now
	}
	runtime.GC()
	runtime.GC() // also what finalizers kept
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return goroutines, memory.HeapObjects
}

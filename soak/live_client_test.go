package soak

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// liveDocument is a query of GraphQL without its braces, or a path of REST.
type liveDocument struct {
	text       string
	isOfWriter bool
	states     []string // answers since the last check; of a writer's document, after each write
}

func (d *liveDocument) isREST() bool { return strings.HasPrefix(d.text, "/") }

// liveClient follows a document, each stream through a random gateway.
type liveClient struct {
	*liveDocument
	isSocket, reports bool // by WebSocket; with positions

	mu   sync.Mutex
	got  []string // messages since the last check
	last string   // message of the open stream; "" without one
	tick int64    // of the last position
}

// streams and messages count those of all clients.
var streams, messages atomic.Int64

// follow opens streams until the test ends.
func (c *liveClient) follow(t *testing.T) {
	for t.Context().Err() == nil {
		ctx, cancel := context.WithCancel(t.Context())
		gateway := gateways[rand.IntN(len(gateways))]
		if streams.Add(1); c.isSocket {
			c.readSocket(t, ctx, gateway)
		} else {
			c.readEvents(t, ctx, gateway)
		}
		cancel()
		c.mu.Lock()
		c.last = ""
		c.mu.Unlock()
		pause(t.Context(), 200*time.Millisecond)
	}
}

// readSocket reads messages by a WebSocket until it ends.
func (c *liveClient) readSocket(t *testing.T, ctx context.Context, gateway string) {
	conn, _, err := websocket.Dial(ctx, "ws://"+gateway+"/graphql",
		&websocket.DialOptions{Subprotocols: []string{"graphql-transport-ws"}})
	if err != nil {
		return
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(1 << 20)
	query, _ := json.Marshal("query @live {" + c.text + "}")
	for _, message := range []string{`{"type":"connection_init"}`,
		`{"id":"1","type":"subscribe","payload":{"query":` + string(query) + `}}`} {
		if conn.Write(ctx, websocket.MessageText, []byte(message)) != nil {
			return
		}
	}
	for {
		var message struct {
			Type    string
			Payload json.RawMessage
		}
		_, text, err := conn.Read(ctx)
		if err != nil {
			return
		}
		if err := json.Unmarshal(text, &message); err != nil {
			t.Errorf("%s: %v: %.300s", c.text, err, text)
		}
		switch message.Type {
		case "connection_ack":
			continue
		case "next":
			text = message.Payload
		}
		if !c.receive(t, "", text) {
			return
		}
	}
}

// readEvents reads messages by an event stream until it ends.
func (c *liveClient) readEvents(t *testing.T, ctx context.Context, gateway string) {
	path := c.text
	if !c.isREST() {
		path = queryPath("query @live {" + path + "}")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+gateway+path, nil)
	if err != nil {
		t.Error(err)
		return
	}
	request.Header = http.Header{"Accept": {"text/event-stream"}}
	if c.reports {
		request.Header.Set("Catalogue-Position", "report")
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		if response.StatusCode < http.StatusBadGateway {
			t.Errorf("%s: %s", c.text, response.Status)
		}
		return
	}
	event, total := "", ""
	for lines := bufio.NewReader(response.Body); ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		switch field, value, _ := strings.Cut(strings.TrimSpace(line), ": "); {
		case field == "":
			event = ""
		case field == "event":
			event = value
		case field == "data" && event == "page":
			var page struct{ Total json.Number }
			if err := json.Unmarshal([]byte(value), &page); err != nil {
				t.Errorf("%s: %v: %s", c.text, err, value)
			}
			total = page.Total.String()
		case field == "data" && value != "" && !c.receive(t, total, []byte(value)):
			return
		}
	}
}

// receive takes a message. It returns false if that ends the stream.
func (c *liveClient) receive(t *testing.T, total string, text []byte) bool {
	messages.Add(1)
	state, position, err := stateOf(text)
	if err != nil {
		if !strings.Contains(string(text), "UNAVAILABLE") && !strings.Contains(string(text), "ry again") {
			t.Errorf("%s: %v: %.300s", c.text, err, text)
		}
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if state = total + state; state == c.last {
		t.Errorf("%s: the same message again: %.300s", c.text, state)
	}
	c.last, c.got = state, append(c.got, state)
	if !c.reports {
		return true
	}
	tick, err := strconv.ParseInt(strings.TrimSuffix(position, ".0"), 10, 64)
	if err != nil || tick < c.tick {
		t.Errorf("%s: position %q after %d.0", c.text, position, c.tick)
	}
	c.tick = tick
	return true
}

// has reports whether a state is the last message of the open stream.
func (c *liveClient) has(state string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last == state
}

// compare compares the messages since the last check with the states in their order. Those of shared documents have
// more states than are known.
func (c *liveClient) compare(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	states := c.states
	for _, message := range c.got {
		i := slices.Index(states, message)
		if i < 0 && c.isOfWriter {
			t.Errorf("%s: a message is no later state: %.500s", c.text, message)
			break
		}
		states = states[max(i, 0):]
	}
	c.got = nil
}

// stateOf returns the data and the position of a response. It fails for one that is not complete.
func stateOf(text []byte) (state, position string, err error) {
	var body struct {
		Data       json.RawMessage
		Errors     []any
		Extensions struct{ Position string }
	}
	err = json.Unmarshal(text, &body)
	state = string(body.Data)
	if err == nil && (body.Errors != nil || state == "" || state == "null") {
		err = errors.New("not the whole answer")
	}
	return state, body.Extensions.Position, err
}

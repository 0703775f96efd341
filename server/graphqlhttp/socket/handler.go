// Package socket serves GraphQL over WebSocket, by the protocol graphql-transport-ws
// (github.com/enisdenjo/graphql-ws, PROTOCOL.md).
package socket

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coder/websocket"

	"library-catalogue/edge/eventstream"
	"library-catalogue/edge/telemetry"
	"library-catalogue/server/graphqlhttp"
)

const (
	subprotocol = "graphql-transport-ws"
	// maxMessageBytes is the maximum size of a message from a client.
	maxMessageBytes = 64 << 10
	// messagePrice is the price of a message that is no operation, such as a ping: a tenth of a unit.
	messagePrice = 10
	// maxOperations is the maximum number of running operations of a socket.
	maxOperations = 100
	// initWait is the time in which a client must send connection_init.
	initWait = 3 * time.Second
	// pingInterval is the interval of the server's pings, so that proxies keep the socket and lost clients are noticed.
	pingInterval = 15 * time.Second
)

// Config holds the parts of a Handler.
type Config struct {
	Executor *graphqlhttp.Handler
	Streams  *eventstream.Streams
	// Authenticate puts the caller of a request into its context.
	Authenticate func(http.Handler) http.Handler
	// Operation is the middleware of each operation: telemetry and rate limit. refuse sends an error to the client.
	Operation func(next http.Handler, refuse func(http.ResponseWriter, *http.Request, error)) http.Handler
}

// Handler accepts WebSockets. The caller checks the Origin.
type Handler struct {
	Config
	operations http.Handler
	unsent     unsent
}

// New returns a Handler.
func New(cfg Config) *Handler {
	return &Handler{Config: cfg, operations: cfg.Operation(http.HandlerFunc(serveOperation), refuse),
		unsent: unsent{sockets: map[*socket]int{}}}
}

// IsUpgrade reports whether a request is the handshake of a WebSocket (RFC 6455, section 4.1).
func IsUpgrade(r *http.Request) bool {
	return r.Method == http.MethodGet && slices.ContainsFunc(r.Header["Upgrade"], func(value string) bool {
		return strings.EqualFold(value, "websocket")
	})
}

// ServeHTTP implements http.Handler. It returns when the socket is closed.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	release, err := h.Streams.Hold()
	if err != nil {
		graphqlhttp.WriteError(w, r, err)
		return
	}
	defer release()
	telemetry.RequestOf(r.Context()).Stream.Store(true)
	// The Origin was checked.
	conn, err := websocket.Accept(w, r,
		&websocket.AcceptOptions{Subprotocols: []string{subprotocol}, InsecureSkipVerify: true})
	if err != nil {
		return // Accept has written the response
	}
	conn.SetReadLimit(maxMessageBytes)
	ctx, cancel := context.WithCancelCause(r.Context())
	s := &socket{
		Handler: h, conn: conn, ctx: ctx, cancel: cancel,
		request: &http.Request{Method: "SUBSCRIBE", URL: r.URL, RemoteAddr: r.RemoteAddr, Header: traced(r.Header)},
		running: map[string]*operation{}, ready: make(chan struct{}), writing: make(chan struct{}, 1),
	}
	s.serve(r.WithContext(ctx))
}

// traced returns the headers of a trace (www.w3.org/TR/trace-context).
func traced(header http.Header) http.Header {
	out := http.Header{}
	for _, name := range []string{"Traceparent", "Tracestate"} {
		if values := header[name]; values != nil {
			out[name] = values
		}
	}
	return out
}

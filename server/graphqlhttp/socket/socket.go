package socket

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/coder/websocket"

	"library-catalogue/edge/caller"
	"library-catalogue/edge/eventstream"
	"library-catalogue/edge/ratelimit"
	"library-catalogue/graph/model"
	"library-catalogue/server/graphqlhttp"
	"library-catalogue/task"
)

// socket is an accepted WebSocket. One goroutine reads messages, one watches the time, and each operation has its own.
type socket struct {
	*Handler
	conn    *websocket.Conn
	request *http.Request   // template of the requests of operations
	ctx     context.Context // context of all operations; the close code is sent after its end
	cancel  context.CancelCauseFunc

	ready   chan struct{}   // closed after connection_ack
	caller  context.Context // has the caller, until the token expires; set before ready is closed
	writing chan struct{}   // has a value during a write

	mu       sync.Mutex
	running  map[string]*operation // by id
	draining bool                  // no more operations start
	ended    sync.WaitGroup        // operations; none is added while draining
}

func (s *socket) serve(r *http.Request) {
	if s.conn.Subprotocol() != subprotocol {
		s.close(badSubprotocol, "Subprotocol not acceptable")
		return
	}
	watched := task.Go(s.ctx, func() error {
		err := task.Run(s.ctx, s.watch)
		if err != nil {
			_ = s.conn.CloseNow() // read returns
		}
		return err
	})
	err := task.Run(s.ctx, func() error { return s.read(r) })
	s.cancel(err)
	if c, ok := errors.AsType[*closing](err); ok {
		s.close(c.code, c.reason)
	} else if model.IsCode(err, model.Internal) { // a panic
		s.close(websocket.StatusInternalError, model.AsError(err).Message)
	}
	s.drain()
	<-watched
	_ = s.conn.CloseNow() // it may be closed
}

// read handles messages until the socket is closed. It charges for a large message before it parses it, and waits until
// the caller can pay.
func (s *socket) read(r *http.Request) error {
	var meter ratelimit.Meter
	for {
		kind, text, err := s.conn.Read(context.Background())
		if err != nil {
			return err
		}
		payer := cmp.Or(s.caller, s.ctx)
		if err := meter.PayInput(payer, len(text)); err != nil {
			return err
		}
		m, err := parse(kind, text)
		if err != nil {
			return err
		}
		if m.Type != "subscribe" { // which the rate limit charges as a request
			if err := meter.Pay(payer, messagePrice); err != nil {
				return err
			}
		}
		switch m.Type {
		case "connection_init":
			err = s.initialise(r, m)
		case "ping":
			err = s.write(s.ctx, pong(m))
		case "subscribe":
			err = s.subscribe(m)
		case "complete":
			s.complete(*m.ID)
		}
		if err != nil {
			return err
		}
	}
}

// initialise authenticates the client by connection_init, or by the header of the handshake.
func (s *socket) initialise(r *http.Request, m message) error {
	if s.caller != nil {
		return &closing{tooManyInits, "Too many initialisation requests"}
	}
	token, err := m.authorization()
	if err != nil {
		return &closing{badMessage, "authorization must be a string, like Bearer TOKEN."}
	}
	s.caller = r.Context()
	if token != "" {
		given := r.Clone(r.Context())
		given.Header["Authorization"] = []string{token}
		authenticated := http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { s.caller = r.Context() })
		s.Authenticate(authenticated).ServeHTTP(graphqlhttp.Discard{}, given)
	}
	if refused := model.TokenErrorOf(s.caller); refused != nil {
		return &closing{forbidden, refused.Message}
	}
	var expire context.CancelFunc
	s.caller, expire = eventstream.UntilExpiry(s.caller)
	task.OnDone(s.ctx, expire)
	if err := s.write(s.ctx, ack); err != nil {
		return err
	}
	close(s.ready)
	return nil
}

// watch closes the socket when connection_init or a pong is late, the token expires or the server stops.
func (s *socket) watch() error {
	late := time.NewTimer(initWait)
	defer late.Stop()
	pings := time.NewTicker(pingInterval)
	defer pings.Stop()
	ready := s.ready
	var expired <-chan struct{}
	for {
		select {
		case <-s.ctx.Done():
			return nil
		case <-s.Streams.Stopping().Done():
			s.drain()
			s.close(websocket.StatusGoingAway, "The server is shutting down.")
			return nil
		case <-late.C:
			if ready != nil {
				s.close(initTimeout, "Connection initialisation timeout")
				return nil
			}
		case <-ready:
			ready, expired = nil, s.caller.Done()
		case <-expired:
			s.cancel(context.Cause(s.caller)) // before the close, so that operations send no more
			s.close(forbidden, eventstream.ErrTokenExpired.Message)
			return nil
		case <-pings.C:
			ctx, cancel := context.WithTimeout(s.ctx, eventstream.WriteTimeout)
			err := s.conn.Ping(ctx)
			cancel()
			if err != nil {
				_ = s.conn.CloseNow() // read returns
				return nil
			}
		}
	}
}

// owner returns the caller of the socket, who is unknown before connection_init.
func (s *socket) owner() caller.Key {
	if s.caller == nil {
		return caller.Key{}
	}
	return caller.Of(s.caller)
}

// write sends a message, unless ctx ends before its turn. A client that does not take it in time loses the socket.
func (s *socket) write(ctx context.Context, text []byte) error {
	if victim := s.unsent.add(s, len(text)); victim != nil {
		task.Go(s.ctx, victim.conn.CloseNow) // it waits for the socket's writes, which then fail
	}
	defer s.unsent.done(s, len(text))
	limited, cancel := context.WithTimeout(context.Background(), eventstream.WriteTimeout)
	defer cancel()
	s.writing <- struct{}{}
	defer func() { <-s.writing }()
	if ctx.Err() != nil {
		return nil
	}
	err := s.conn.Write(limited, websocket.MessageText, text)
	if err != nil && limited.Err() != nil {
		err = os.ErrDeadlineExceeded
	}
	if err != nil {
		s.cancel(err)
		_ = s.conn.CloseNow() // read returns
	}
	return err
}

// drain waits for the running operations. No more operations start. Subscriptions end when the socket or the server
// does.
func (s *socket) drain() {
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	s.ended.Wait()
}

// close sends a close code, waits 5 s for the client's, and closes the socket.
func (s *socket) close(code websocket.StatusCode, reason string) {
	_ = s.conn.Close(code, reason[:min(len(reason), maxReasonLength)]) // the client may have left
}

// refuse sends an error that happened before the operation, or a panic.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	o := operationOf(r.Context())
	e := model.AsError(err)
	status := http.StatusInternalServerError
	if e.Code == model.RateLimited {
		status = http.StatusTooManyRequests
	}
	w.WriteHeader(status)
	o.finish(r.Context(), result(o.id, o.Executor.DispatchError(r.Context(), graphqlhttp.ErrorsOf(e))))
}

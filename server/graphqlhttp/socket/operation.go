package socket

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/coder/websocket"

	"library-catalogue/edge/eventstream"
	"library-catalogue/graph/model"
	"library-catalogue/server/graphqlhttp"
	"library-catalogue/task"
)

// operation is an operation that a client has subscribed to.
type operation struct {
	*socket
	id      string
	payload json.RawMessage
	cancel  context.CancelFunc
}

type operationKey struct{}

func operationOf(ctx context.Context) *operation { return ctx.Value(operationKey{}).(*operation) }

var errTooManyOperations = model.Errorf(model.RateLimited,
	"A WebSocket may have %d running operations. Complete one first.", maxOperations)

// subscribe starts an operation.
func (s *socket) subscribe(m message) error {
	if s.caller == nil {
		return &closing{unauthorized, "Unauthorized"}
	}
	o := &operation{socket: s, id: *m.ID, payload: m.Payload}
	ctx, cancel := context.WithCancel(context.WithValue(s.caller, operationKey{}, o))
	o.cancel = cancel
	err := s.add(o, func() error {
		defer cancel()
		// as for a request
		if stillValid := model.StillValid(ctx); stillValid != nil && !stillValid(ctx) && ctx.Err() == nil {
			s.cancel(eventstream.ErrTokenExpired)
			s.close(forbidden, eventstream.ErrTokenExpired.Message)
			return nil
		}
		s.operations.ServeHTTP(graphqlhttp.Discard{}, s.request.WithContext(ctx))
		return nil
	})
	if errors.Is(err, errTooManyOperations) {
		cancel()
		return s.write(s.ctx, result(o.id, s.Executor.DispatchError(s.caller, graphqlhttp.ErrorsOf(err))))
	}
	return err
}

// add runs an operation. While the socket drains it does not, because the client subscribes again at its next
// connection.
func (s *socket) add(o *operation, run func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.draining:
		return nil
	case s.running[o.id] != nil:
		return &closing{duplicateID, "Subscriber for " + o.id + " already exists"}
	case len(s.running) >= maxOperations:
		return errTooManyOperations
	}
	s.running[o.id] = o
	s.ended.Add(1)
	task.Go(s.ctx, func() error {
		defer s.ended.Done()
		err := task.Run(s.ctx, run)
		if err != nil { // a panic that its middleware did not answer
			s.cancel(err)
			s.close(websocket.StatusInternalError, model.AsError(err).Message)
		}
		return err
	})
	return nil
}

// complete ends an operation that the client no longer wants, and makes its id free.
func (s *socket) complete(id string) {
	s.mu.Lock()
	o := s.running[id]
	delete(s.running, id)
	s.mu.Unlock()
	if o != nil {
		o.cancel()
	}
}

// finish makes the operation's id free, and sends its last message unless the client, the token or the server ended it.
func (o *operation) finish(ctx context.Context, text []byte) {
	o.mu.Lock()
	owner := o.running[o.id] == o
	if owner {
		delete(o.running, o.id)
	}
	o.mu.Unlock()
	if owner {
		_ = o.write(ctx, text) // the socket ends after an error
	}
}

// serveOperation runs the operation of a request and sends its results.
func serveOperation(_ http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	o := operationOf(ctx)
	created, errs := o.Executor.CreateOperation(ctx, o.payload, nil)
	if errs != nil {
		o.finish(ctx, result(o.id, o.Executor.DispatchError(ctx, errs)))
		return
	}
	last := complete(o.id)
	next, ctx := o.Executor.DispatchOperation(ctx, created)
	for response := next(ctx); response != nil; response = next(ctx) {
		if response.Data == nil {
			last = result(o.id, response)
		} else {
			_ = o.write(ctx, result(o.id, response)) // the socket ends after an error
		}
	}
	cause := context.Cause(ctx)
	if errors.Is(cause, eventstream.ErrReplaced) {
		last = result(o.id, o.Executor.DispatchError(r.Context(), graphqlhttp.ErrorsOf(cause)))
	} else if _, cut := errors.AsType[*model.Error](cause); cut { // the socket closes
		return
	}
	o.finish(r.Context(), last)
}

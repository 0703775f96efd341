package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"

	"library-catalogue/graph/model"
)

const (
	// smallBody is how many bytes of a body are not counted: so many, every
	// request may have.
	smallBody = 8 << 10
	// largeBodies is how many bodies of full length may be held at once.
	largeBodies = 4
)

// errBodies is for a body for which there is no room.
var errBodies = model.Errorf(model.Unavailable, "Too many large requests are being read. Try again in a moment.")

// bodies bounds what the bodies of all requests cost together: the memory that
// they are held in while clients send them, and the work on large ones, of which
// parsing takes many times the memory. Small ones are not concerned.
type bodies struct {
	largest   int64        // bytes that one may have
	room      atomic.Int64 // bytes that may yet be held
	admission *admission   // to the work on large ones
}

// newBodies makes room for bodies of at most so many bytes each.
func newBodies(largest int, admission *admission) *bodies {
	b := &bodies{largest: int64(max(largest, smallBody)), admission: admission}
	b.room.Store(largeBodies * b.largest)
	return b
}

func (b *bodies) bound(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if 0 <= r.ContentLength && r.ContentLength <= smallBody {
			next.ServeHTTP(w, r)
			return
		}
		held := &heldBody{ReadCloser: r.Body, ctx: r.Context(), bodies: b, most: b.largest}
		if r.ContentLength >= 0 {
			held.most = min(held.most, r.ContentLength)
		}
		defer held.release()
		r = r.WithContext(context.WithValue(r.Context(), heldBodyKey{}, held))
		r.Body = held
		next.ServeHTTP(answering{w, held.release}, r)
	})
}

// answering gives up what a request takes when it is answered: a client that is
// slow to read the answer keeps nobody waiting.
type answering struct {
	http.ResponseWriter
	release func()
}

func (a answering) WriteHeader(status int) {
	a.release()
	a.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (a answering) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// heldBody is a body that takes room for all that it may become, from when more of
// it was read than of a small one until its request is answered.
type heldBody struct {
	io.ReadCloser
	*bodies
	ctx   context.Context
	most  int64 // bytes that it may have
	read  int64
	held  int64
	leave func() // ends the turn that it has; nil without one
}

// Read implements io.Reader. The end of a body that takes room comes when it is
// the body's turn.
func (h *heldBody) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	h.read += int64(n)
	if h.read > smallBody && h.held == 0 {
		h.held = h.most
		if h.room.Add(-h.held) < 0 {
			return 0, errBodies // nobody may think that so much was read and all is well
		}
	}
	if errors.Is(err, io.EOF) && h.held > 0 && h.leave == nil {
		leave, busy := h.admission.takeLarge(h.ctx)
		if busy != nil {
			return n, busy
		}
		h.leave = leave
	}
	return n, err
}

func (h *heldBody) release() {
	h.room.Add(h.held)
	h.held = 0
	h.leaveTurn()
}

func (h *heldBody) leaveTurn() {
	if h.leave != nil {
		h.leave()
		h.leave = nil
	}
}

package admission

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync/atomic"

	"library-catalogue/graph/model"
)

const (
	// SmallBody is how many bytes of a body are not counted: so many, every request
	// may have.
	SmallBody = 8 << 10
	// largeBodies is how many bodies of full length may be held at once.
	largeBodies = 4
	// bodyCost is how many bytes of a body make a unit of cost: one with the longest
	// description that a book may have is light work, and of bodies of a MiB, each of
	// which takes some 20 MiB when it is parsed, three are worked on at once.
	bodyCost = 64
)

// ErrBodies refuses a body for which there is no room.
var ErrBodies = model.Errorf(model.Unavailable, "Too many large requests are being read. Try again in a moment.")

// Bodies bounds what the bodies of all requests cost together: the memory that
// they are held in while clients send them, and the work on large ones, of which
// parsing takes many times the memory. Small ones are not concerned.
type Bodies struct {
	controller *Controller  // of the work on large ones
	room       atomic.Int64 // bytes that may yet be held
}

// Bodies returns what bounds bodies, of which the largest may have so many bytes.
func (c *Controller) Bodies(largest int) *Bodies {
	b := &Bodies{controller: c}
	b.room.Store(largeBodies * int64(max(largest, SmallBody)))
	return b
}

// Middleware bounds the bodies of an endpoint, each of at most so many bytes: next
// refuses longer ones by itself.
func (b *Bodies) Middleware(maxBody int) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if 0 <= r.ContentLength && r.ContentLength <= SmallBody {
				next.ServeHTTP(w, r)
				return
			}
			body := &reservedBody{ReadCloser: r.Body, bodies: b, ctx: r.Context(), max: int64(max(maxBody, SmallBody))}
			if r.ContentLength >= 0 {
				body.max = min(body.max, r.ContentLength)
			}
			defer body.release()
			r = r.WithContext(context.WithValue(r.Context(), bodyKey{}, body))
			r.Body = body
			next.ServeHTTP(ReleaseOnAnswer(w, body.release), r)
		})
	}
}

type bodyKey struct{}

// ReleaseParser lets the next body be parsed, where that of the request was large:
// it is to be called before the request waits for anything else.
func ReleaseParser(ctx context.Context) {
	if body, ok := ctx.Value(bodyKey{}).(*reservedBody); ok {
		body.endWork()
	}
}

// reservedBody is a body that takes room for all that it may become, from when more
// of it was read than of a small one until its request is answered.
type reservedBody struct {
	io.ReadCloser
	bodies      *Bodies
	ctx         context.Context
	max         int64 // bytes that it may have
	read        int64
	reserved    int64
	releaseWork func() // nil while it does not hold a place for the work on it
}

// Read implements io.Reader. The end of a body that takes room comes when the work
// on it may begin.
func (b *reservedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	if b.read > SmallBody && b.reserved == 0 {
		b.reserved = b.max
		if b.bodies.room.Add(-b.reserved) < 0 {
			return 0, ErrBodies // nobody may think that so much was read and all is well
		}
	}
	if errors.Is(err, io.EOF) && b.reserved > 0 && b.releaseWork == nil {
		release, busy := b.bodies.controller.AcquireParser(b.ctx, b.read/bodyCost)
		if busy != nil {
			return n, busy
		}
		b.releaseWork = release
	}
	return n, err
}

func (b *reservedBody) release() {
	b.bodies.room.Add(b.reserved)
	b.reserved = 0
	b.endWork()
}

func (b *reservedBody) endWork() {
	if b.releaseWork != nil {
		b.releaseWork()
		b.releaseWork = nil
	}
}

package admission

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/server/caller"
)

const (
	// SmallBody is how many bytes of a body are not counted: so many, every request
	// may have.
	SmallBody = 8 << 10
	// largeBodies is how many bodies of full length there is room for: 16 MB by default,
	// more than honest clients send in the tenth of a second that one takes.
	largeBodies = 16
	// bodyCost is how many bytes of a body make a unit of cost: one with the longest
	// description that a book may have is light work, and of bodies of a MiB, each of
	// which takes some 20 MiB when it is parsed, three are worked on at once.
	bodyCost = 64
)

// ErrBodies refuses a body for which there is no room.
var ErrBodies = model.Errorf(model.Unavailable, "Too many large requests are being read. Try again in a moment.")

// Bodies bounds what the bodies of all requests cost together: the memory for what has
// come of them, and the work on large ones, of which parsing takes many times the
// memory. Small ones are not concerned.
//
// Where there is no room for more, one that is still coming is refused: of a request
// without a token before one with, and the slowest, where the rate of each is divided
// by how many its caller sends.
type Bodies struct {
	controller *Controller // of the work on large ones
	max        int64       // bytes that may be held

	mu     sync.Mutex
	held   int64
	coming map[*largeBody]bool
}

// Bodies returns what bounds bodies, of which the largest may have so many bytes.
func (c *Controller) Bodies(largest int) *Bodies {
	return &Bodies{controller: c, max: largeBodies * int64(max(largest, SmallBody)), coming: map[*largeBody]bool{}}
}

// Middleware bounds the bodies of requests.
func (b *Bodies) Middleware(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if 0 <= r.ContentLength && r.ContentLength <= SmallBody {
			next.ServeHTTP(w, r)
			return
		}
		body := &largeBody{
			ReadCloser: r.Body, bodies: b, ctx: r.Context(), begun: time.Now(), caller: caller.Of(r.Context()),
			interrupt: func() { _ = http.NewResponseController(w).SetReadDeadline(time.Now()) },
		}
		if _, err := model.Caller(r.Context()); err == nil {
			body.tokens = 1
		}
		defer body.release()
		r = r.WithContext(context.WithValue(r.Context(), bodyKey{}, body))
		r.Body = body
		next.ServeHTTP(ReleaseOnAnswer(w, body.release), r)
	})
}

type bodyKey struct{}

// ReleaseParser lets the next body be parsed, where that of the request was large:
// it is to be called before the request waits for anything else.
func ReleaseParser(ctx context.Context) {
	if body, ok := ctx.Value(bodyKey{}).(*largeBody); ok {
		body.endWork()
	}
}

// largeBody is a body that may be large. What has come of it is held until its
// request is answered.
type largeBody struct {
	io.ReadCloser
	bodies      *Bodies
	ctx         context.Context
	begun       time.Time
	caller      caller.Caller
	tokens      int    // that are valid: 0 or 1
	interrupt   func() // ends a Read
	read        int64
	releaseWork func() // nil while it does not hold a place for the work on it

	// Under the lock of bodies.
	held    int64
	refused bool
}

// Read implements io.Reader. The end of a large body comes when the work on it may
// begin.
func (b *largeBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	if b.read <= SmallBody {
		return n, err
	}
	ended := errors.Is(err, io.EOF)
	if !b.bodies.hold(b, b.read, !ended) {
		return 0, ErrBodies // nobody may think that so much was read and all is well
	}
	if ended && b.releaseWork == nil {
		release, busy := b.bodies.controller.AcquireParser(b.ctx, b.read/bodyCost)
		if busy != nil {
			return n, busy
		}
		b.releaseWork = release
	}
	return n, err
}

// hold notes how much of a body is held, and whether more is to come. It reports
// whether there is room for it.
func (b *Bodies) hold(body *largeBody, bytes int64, more bool) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if body.refused {
		return false
	}
	b.set(body, bytes, true)
	for b.held > b.max {
		b.refuse()
	}
	if body.refused {
		return false
	}
	b.set(body, bytes, more)
	return true
}

func (b *Bodies) set(body *largeBody, bytes int64, coming bool) {
	b.held += bytes - body.held
	body.held = bytes
	if coming {
		b.coming[body] = true
	} else {
		delete(b.coming, body)
	}
}

// refuse refuses one of those that are coming.
func (b *Bodies) refuse() {
	sent := map[caller.Caller]float64{}
	for body := range b.coming {
		sent[body.caller]++
	}
	now := time.Now()
	var first *largeBody
	for body := range b.coming {
		if first == nil || cmp.Or(
			cmp.Compare(body.tokens, first.tokens),
			cmp.Compare(body.rate(now)/sent[body.caller], first.rate(now)/sent[first.caller]),
		) < 0 {
			first = body
		}
	}
	first.refused = true
	b.set(first, 0, false)
	first.interrupt()
}

// rate returns how many bytes a second have come of a body, which takes a moment.
func (b *largeBody) rate(now time.Time) float64 {
	return float64(b.held) / max(now.Sub(b.begun), time.Millisecond).Seconds()
}

func (b *largeBody) release() {
	b.bodies.mu.Lock()
	b.bodies.set(b, 0, false)
	b.bodies.mu.Unlock()
	b.endWork()
}

func (b *largeBody) endWork() {
	if b.releaseWork != nil {
		b.releaseWork()
		b.releaseWork = nil
	}
}

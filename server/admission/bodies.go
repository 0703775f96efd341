package admission

import (
	"io"
	"net/http"
	"time"
)

const (
	// SmallBody is how much of a body needs no room: a book with the longest description,
	// each character in one byte, has less.
	SmallBody = 24 << 10
	// roomForBodies is how much the larger bodies share. JSON takes up to 20 times its
	// length while it is parsed.
	roomForBodies = 4 << 20
	// DefaultBodyTimeout is the time for a body to arrive: 1 MiB at 100 KiB a second.
	DefaultBodyTimeout = 10 * time.Second
)

// BodyTimeout is a middleware that gives bodies a time to arrive. A later one, further in,
// replaces it.
func BodyTimeout(timeout time.Duration) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength != 0 {
				setBodyTimeout(w, timeout)
			}
			next.ServeHTTP(w, r)
		})
	}
}

// setBodyTimeout sets a deadline that net/http lifts at the end of the body.
func setBodyTimeout(w http.ResponseWriter, timeout time.Duration) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(timeout)) // only tests have writers without one
}

// Bodies is a middleware that bounds the memory of bodies, of which the largest may have
// max bytes. Those over 24 KiB share room of 4 MiB, until the handler returns or calls
// ReleaseBody. A Read that waits for room too long returns ErrBusy.
func (c *Controller) Bodies(max int) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			room := r.ContentLength
			if room < 0 || room > int64(max) {
				room = int64(max)
			}
			if room <= SmallBody {
				next.ServeHTTP(w, r)
				return
			}
			b := &body{ReadCloser: r.Body, queue: c.bodies, writer: w, request: r, room: room}
			defer b.releaseRoom()
			r = r.WithContext(r.Context())
			r.Body = b
			next.ServeHTTP(w, r)
		})
	}
}

// ReleaseBody gives back the room of a body that was parsed. Call it before the request
// waits for anything else.
func ReleaseBody(r *http.Request) {
	if b, ok := r.Body.(*body); ok {
		b.releaseRoom()
	}
}

// body is a body that may be large.
type body struct {
	io.ReadCloser
	queue   *Queue
	writer  http.ResponseWriter
	request *http.Request
	room    int64 // bytes that it may have
	read    int64
	release func() // nil before it holds room
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	switch {
	case b.release != nil:
	case b.read < SmallBody:
		p = p[:min(int64(len(p)), SmallBody-b.read)]
	default:
		release, err := b.queue.Acquire(b.request.Context(), b.room)
		if err != nil {
			return 0, err
		}
		b.release = release
		setBodyTimeout(b.writer, DefaultBodyTimeout) // without the wait
	}
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	return n, err
}

func (b *body) releaseRoom() {
	if b.release != nil {
		b.release()
	}
}

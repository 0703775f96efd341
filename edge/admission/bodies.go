package admission

import (
	"io"
	"net/http"
	"time"
)

const (
	// SmallBody is the maximum size of a body that needs no permits. An ASCII book with the longest description
	// is smaller.
	SmallBody = 24 << 10
	// maxTotalBodyBytes is the total size of larger bodies that are read at once. Parsed JSON takes up to 20 times its
	// length.
	maxTotalBodyBytes = 4 << 20
	// DefaultBodyTimeout limits the time to receive a body: 1 MiB at 100 KiB/s.
	DefaultBodyTimeout = 10 * time.Second
	// idleBodyTimeout limits the time without a byte of a body that holds permits.
	idleBodyTimeout = 2 * time.Second
)

// BodyTimeout is middleware that limits the time to receive a body. An inner BodyTimeout replaces an outer one.
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

// setBodyTimeout sets a read deadline. net/http removes it at the end of the body.
func setBodyTimeout(w http.ResponseWriter, timeout time.Duration) {
	// only writers in tests do not support it
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(timeout))
}

// Bodies is middleware that limits the memory of bodies. A body over 24 KiB needs permits for its size, of at most
// maxBytes, from a total of 4 MiB. The permits are released when the handler returns or calls ReleaseBody. Read returns
// ErrBusy if it waits too long for permits.
func (c *Controller) Bodies(maxBytes int) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			size := r.ContentLength
			if size < 0 || size > int64(maxBytes) {
				size = int64(maxBytes)
			}
			if size <= SmallBody {
				next.ServeHTTP(w, r)
				return
			}
			b := &body{ReadCloser: r.Body, queue: c.bodies, writer: w, request: r, permits: size}
			defer b.releasePermits()
			r = r.WithContext(r.Context())
			r.Body = b
			next.ServeHTTP(w, r)
		})
	}
}

// ReleaseBody releases the permits of a parsed body. Call it before the request waits for anything else.
func ReleaseBody(r *http.Request) {
	if b, ok := r.Body.(*body); ok {
		b.releasePermits()
	}
}

// body is a body that may be large.
type body struct {
	io.ReadCloser
	queue   *Queue
	writer  http.ResponseWriter
	request *http.Request
	permits int64 // one per byte
	read    int64
	release func()    // nil before the permits are held
	end     time.Time // when the body must have arrived, once the permits are held
}

func (b *body) Read(p []byte) (int, error) {
	switch {
	case b.release != nil:
	case b.read < SmallBody:
		p = p[:min(int64(len(p)), SmallBody-b.read)]
	default:
		release, err := b.queue.Acquire(b.request.Context(), b.permits)
		if err != nil {
			// so that net/http reads the rest and the client gets the response
			setBodyTimeout(b.writer, idleBodyTimeout)
			return 0, err
		}
		b.release, b.end = release, time.Now().Add(DefaultBodyTimeout) // excludes the wait
	}
	if b.release != nil { // others wait for its permits
		setBodyTimeout(b.writer, min(idleBodyTimeout, time.Until(b.end)))
	}
	n, err := b.ReadCloser.Read(p)
	b.read += int64(n)
	return n, err
}

func (b *body) releasePermits() {
	if b.release != nil {
		b.release()
	}
}

package eventstream

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"library-catalogue/task"
)

// MediaType is the media type of server-sent events.
const MediaType = "text/event-stream"

const (
	// heartbeat is the time after which an idle stream sends a comment, so that proxies keep it and lost clients are
	// noticed. Proxies often wait for 30 s.
	heartbeat = 15 * time.Second
	// WriteTimeout is the time in which a client must take a message.
	WriteTimeout = 10 * time.Second
)

// Event is a server-sent event (HTML Living Standard, section 9.2). Empty fields are omitted.
type Event struct {
	Name  string
	ID    string        // the client sends the last one as Last-Event-ID
	Retry time.Duration // delay before the client connects again
	Data  []byte        // nil: no data, so that clients dispatch no event
}

// AppendTo appends the text of the event.
func (e Event) AppendTo(dst []byte) []byte {
	dst = appendField(dst, "event", e.Name)
	dst = appendField(dst, "id", e.ID)
	if e.Retry > 0 {
		dst = appendField(dst, "retry", strconv.FormatInt(e.Retry.Milliseconds(), 10))
	}
	if e.Data != nil {
		for line := range bytes.SplitSeq(e.Data, []byte("\n")) {
			dst = append(dst, "data: "...)
			dst = append(append(dst, line...), '\n')
		}
	}
	return append(dst, '\n')
}

func appendField(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	return append(dst, name+": "+value+"\n"...)
}

// comment is an event without fields, which clients ignore.
const comment = ":\n\n"

// maxBuffer is the maximum capacity in bytes of the buffer of an idle stream.
const maxBuffer = 4 << 10

// errClosed is the error of an event after the end of its response.
var errClosed = errors.New("the event stream has ended")

// Writer writes the events of one response. It sends a comment every 15 s. It is safe for concurrent use.
type Writer struct {
	ctx     context.Context // ends with the stream
	w       http.ResponseWriter
	control *http.ResponseController
	cancel  context.CancelCauseFunc
	idle    *time.Timer

	mu     sync.Mutex
	buffer []byte
	begun  bool
	closed bool
	err    error // first failure
}

// newWriter returns a Writer that calls cancel when a write fails.
func newWriter(ctx context.Context, w http.ResponseWriter, cancel context.CancelCauseFunc) *Writer {
	return &Writer{ctx: ctx, w: w, control: http.NewResponseController(w), cancel: cancel}
}

// Begin sends the header of the response and a first comment. Send calls it if necessary.
func (w *Writer) Begin() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.begin()
}

func (w *Writer) begin() error {
	if w.closed {
		return errClosed
	}
	if w.begun {
		return w.err
	}
	w.begun = true
	header := w.w.Header()
	header.Set("Content-Type", MediaType)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // nginx
	w.w.WriteHeader(http.StatusOK)
	w.idle = task.AfterFunc(w.ctx, heartbeat, w.beat)
	w.buffer = append(w.buffer, comment...)
	return w.flush()
}

// Send sends an event. It returns the error of the first failed write.
func (w *Writer) Send(e Event) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.begin(); err != nil {
		return err
	}
	w.buffer = e.AppendTo(w.buffer)
	w.idle.Reset(heartbeat)
	return w.flush()
}

// beat keeps an idle stream open.
func (w *Writer) beat() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.err != nil {
		return
	}
	w.buffer = append(w.buffer, comment...)
	w.idle.Reset(heartbeat)
	_ = w.flush() // the context ends
}

// flush sends the buffer.
func (w *Writer) flush() error {
	if w.err == nil {
		_ = w.control.SetWriteDeadline(time.Now().Add(WriteTimeout)) // a writer in a test has none
		_, w.err = w.w.Write(w.buffer)
		if err := w.control.Flush(); w.err == nil {
			w.err = err
		}
		if w.err != nil {
			w.cancel(w.err)
		}
	}
	if w.buffer = w.buffer[:0]; cap(w.buffer) > maxBuffer {
		w.buffer = nil
	}
	return w.err
}

// close ends the comments. It returns whether the response has begun, and the first failure.
func (w *Writer) close() (begun bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if w.begun {
		w.idle.Stop()
		_ = w.control.SetWriteDeadline(time.Time{}) // for the next request of the connection
	}
	return w.begun, w.err
}

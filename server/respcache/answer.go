package respcache

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"

	"library-catalogue/server/telemetry"
)

// answer is an answer with status 200, as it was sent: compressed, where its client
// wanted that.
type answer struct {
	revision  int64
	operation *telemetry.Operation
	header    http.Header // the part of it that belongs to the answer
	body      []byte
}

// answerHeaders are the headers that belong to an answer, and not to the request.
// Content-Length is that of the body.
var answerHeaders = []string{
	"Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Security-Policy", "Content-Type", "Etag", "Link", "Referrer-Policy", "Vary",
	"X-Total-Count",
}

func (a *answer) write(w http.ResponseWriter, r *http.Request) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(a.body) // a client that has gone needs no answer
	}
}

// tee passes an answer on and fills a copy of it, once Keep has made one.
type tee struct {
	http.ResponseWriter
	begun bool
	copy  *answer // nil where the answer cannot be cached
	key   variant // of the copy
	limit int     // bytes that it may have
}

// teeOf returns the tee that Record put beneath a writer, and nil where it did not.
func teeOf(w http.ResponseWriter) *tee {
	for {
		switch inner := w.(type) {
		case *tee:
			return inner
		case interface{ Unwrap() http.ResponseWriter }:
			w = inner.Unwrap()
		default:
			return nil
		}
	}
}

func (t *tee) WriteHeader(status int) {
	if !t.begun && status != http.StatusOK {
		t.drop()
	}
	if !t.begun && t.copy != nil {
		for _, name := range answerHeaders {
			if values := t.Header()[name]; values != nil {
				t.copy.header[name] = slices.Clone(values)
			}
		}
	}
	t.begun = t.begun || status >= http.StatusOK
	t.ResponseWriter.WriteHeader(status)
}

func (t *tee) Write(b []byte) (int, error) {
	if !t.begun {
		t.WriteHeader(http.StatusOK)
	}
	n, err := t.ResponseWriter.Write(b)
	switch {
	case t.copy == nil:
	case err != nil || len(t.copy.body)+n > t.limit:
		t.drop()
	default:
		t.copy.body = append(t.copy.body, b...)
	}
	return n, err
}

// drop gives up the copy, whose bytes would be held as long as the answer is sent.
func (t *tee) drop() {
	if t.copy != nil {
		t.copy.body = nil
		t.copy = nil
	}
}

// finish completes the copy of an answer that was sent to its end.
func (t *tee) finish() {
	t.copy.body = bytes.Clone(t.copy.body) // without the room that it had to grow
	t.copy.header["Content-Length"] = []string{strconv.Itoa(len(t.copy.body))}
}

// Unwrap lets http.ResponseController reach the connection.
func (t *tee) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// Flush implements http.Flusher. What is flushed before its end is long, and copies of
// it for many slow clients would take much memory.
func (t *tee) Flush() {
	t.drop()
	_ = http.NewResponseController(t.ResponseWriter).Flush()
}

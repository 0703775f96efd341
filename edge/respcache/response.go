package respcache

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"

	"library-catalogue/edge/telemetry"
)

// response is a cached response with status 200.
type response struct {
	revision  int64
	operation *telemetry.Operation
	header    http.Header
	body      []byte // compressed if header has Content-Encoding
}

// cachedHeaders are the headers that are stored with a response. The others belong to one request.
var cachedHeaders = []string{
	"Cache-Control", "Content-Disposition", "Content-Encoding", "Content-Security-Policy", "Content-Type", "Etag",
	"Link", "Referrer-Policy", "Vary",
	"X-Total-Count",
}

func (c *response) write(w http.ResponseWriter, r *http.Request) {
	for name, values := range c.header {
		w.Header()[name] = values
	}
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(c.body) // the client may be gone
	}
}

// tee copies a response while it is written, if Keep has set copy.
type tee struct {
	http.ResponseWriter
	begun    bool
	copy     *response // nil if the response is not cached
	key      variant   // cache key of the copy
	maxBytes int       // maximum size of its body
}

// teeOf returns the tee that Record has put below w, or nil.
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
		for _, name := range cachedHeaders {
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
	case err != nil || len(t.copy.body)+n > t.maxBytes:
		t.drop()
	default:
		t.copy.body = append(t.copy.body, b...)
	}
	return n, err
}

// drop discards the copy and frees its memory.
func (t *tee) drop() {
	if t.copy != nil {
		t.copy.body = nil
		t.copy = nil
	}
}

// finish completes the copy after the whole response was written.
func (t *tee) finish() {
	t.copy.body = bytes.Clone(t.copy.body) // trims the capacity
	t.copy.header["Content-Length"] = []string{strconv.Itoa(len(t.copy.body))}
}

// Unwrap lets http.ResponseController reach the connection.
func (t *tee) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// FlushError lets http.ResponseController flush. It drops the copy, because flushed responses are long and copies of
// them for many slow clients would take much memory.
func (t *tee) FlushError() error {
	t.drop()
	return http.NewResponseController(t.ResponseWriter).Flush()
}

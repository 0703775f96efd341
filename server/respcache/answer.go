package respcache

import (
	"net/http"
	"slices"

	"library-catalogue/server/telemetry"
)

// answer is an answer with status 200.
type answer struct {
	revision  int64
	operation *telemetry.Operation
	header    http.Header // the part of it that belongs to the answer
	body      []byte
}

// answerHeaders are the headers that belong to an answer, and not to the request.
var answerHeaders = []string{"Cache-Control", "Content-Length", "Content-Type", "Etag", "Link", "X-Total-Count"}

func (a *answer) write(w http.ResponseWriter, r *http.Request) {
	for name, values := range a.header {
		w.Header()[name] = values
	}
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(a.body) // a client that has gone needs no answer
	}
}

// tee passes an answer on and keeps a copy of it, up to a limit.
type tee struct {
	http.ResponseWriter
	limit  int
	begun  bool
	answer *answer // nil where the answer cannot be cached
}

func (t *tee) WriteHeader(status int) {
	if !t.begun && status == http.StatusOK {
		t.answer = &answer{header: http.Header{}}
		for _, name := range answerHeaders { // now, since compression changes them
			if values := t.Header().Values(name); values != nil {
				t.answer.header[name] = slices.Clone(values)
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
	case t.answer == nil:
	case err != nil || len(t.answer.body)+n > t.limit:
		t.answer = nil
	default:
		t.answer.body = append(t.answer.body, b...)
	}
	return n, err
}

// Unwrap lets http.ResponseController reach the connection.
func (t *tee) Unwrap() http.ResponseWriter { return t.ResponseWriter }

// Flush implements http.Flusher.
func (t *tee) Flush() { _ = http.NewResponseController(t.ResponseWriter).Flush() }

package server

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/http"

	"library-catalogue/graph/model"
)

type requestIDKey struct{}

// requestID takes the client's id where it is short and printable, else makes one.
func requestID(given string) string {
	if given == "" || len(given) > 64 {
		return rand.Text()
	}
	for _, c := range []byte(given) {
		if c <= ' ' || c > '~' {
			return rand.Text()
		}
	}
	return given
}

func requestIDOf(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// recorder notes the status of an answer and sends what it cost with it.
type recorder struct {
	http.ResponseWriter
	stats  *model.Stats
	method string
	status int
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status == http.StatusSwitchingProtocols {
		w.status = status
	}
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
		statements := w.stats.Statements()
		plural := "s"
		if statements == 1 {
			plural = ""
		}
		timing := fmt.Sprintf(`db;desc="%d statement%s";dur=%.2f`,
			statements, plural, float64(w.stats.DatabaseTime().Microseconds())/1000)
		if w.stats.Planned() {
			timing += `, plan`
		}
		if w.stats.Cached() {
			timing += `, cache`
		}
		w.Header().Set("Server-Timing", timing)
		protect(w.Header(), w.method, status)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Flush implements http.Flusher, which the compressing writer looks for.
func (w *recorder) Flush() {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	_ = http.NewResponseController(w.ResponseWriter).Flush() // a writer that cannot has nothing to flush
}

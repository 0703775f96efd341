package server

import "net/http"

var (
	noStore = []string{"no-store"}
	noSniff = []string{"nosniff"}
)

// headers sets the headers that keep an answer from being taken for another: no one
// stores it, but the answer of a read whose handler says how, and no browser guesses
// its type.
func headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(&headerWriter{w, reads(r.Method)}, r)
	})
}

// reads reports whether a method asks for what is there: HEAD is GET whose content
// net/http keeps back.
func reads(method string) bool { return method == http.MethodGet || method == http.MethodHead }

type headerWriter struct {
	http.ResponseWriter
	read bool
}

// WriteHeader is called for every answer: by telemetry at the latest.
func (w *headerWriter) WriteHeader(status int) {
	if status >= http.StatusOK {
		header := w.Header()
		header["X-Content-Type-Options"] = noSniff
		if !w.read || status >= http.StatusBadRequest || header["Cache-Control"] == nil {
			header["Cache-Control"] = noStore
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *headerWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

package server

import "net/http"

var (
	noStore = []string{"no-store"}
	noSniff = []string{"nosniff"}
)

// setHeaders sets the headers that keep an answer from being taken for another: no one
// stores it, but the answer of a read whose handler says how, and no browser guesses
// its type.
func setHeaders(r *http.Request, header http.Header, status int) {
	header["X-Content-Type-Options"] = noSniff
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if !reads || status >= http.StatusBadRequest || header["Cache-Control"] == nil {
		header["Cache-Control"] = noStore
	}
}

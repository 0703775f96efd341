package server

import "net/http"

var (
	noStore = []string{"no-store"}
	noSniff = []string{"nosniff"}
)

// setHeaders sets the headers of every response. Browsers must not guess its type. Caches must not store it, unless
// it is a successful read and its handler has set Cache-Control.
func setHeaders(r *http.Request, header http.Header, status int) {
	header["X-Content-Type-Options"] = noSniff
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if !reads || status >= http.StatusBadRequest || header["Cache-Control"] == nil {
		header["Cache-Control"] = noStore
	}
}

package server

import (
	"net/http"
	"strings"

	"library-catalogue/edge/auth"
	"library-catalogue/edge/httpcond"
)

var (
	noStore        = []string{"no-store"}
	privateNoStore = []string{"private, no-store"}
	noSniff        = []string{"nosniff"}
)

// headersWith returns a function that sets the headers of every response. Browsers must not guess its type. Caches must
// not store it, unless it is a successful read and its handler has set Cache-Control. With cookies, a response that
// may depend on one says so, and one to a request with one is private. Assets are public.
func headersWith(cookies *auth.Cookies) func(r *http.Request, header http.Header, status int) {
	return func(r *http.Request, header http.Header, status int) {
		header["X-Content-Type-Options"] = noSniff
		if !httpcond.IsRead(r.Method) || status >= http.StatusBadRequest || header["Cache-Control"] == nil {
			header["Cache-Control"] = noStore
		}
		if cookies == nil || !cookiesCount(r) || strings.HasPrefix(header["Cache-Control"][0], "public") {
			return
		}
		if cookies.Has(r) {
			header["Cache-Control"] = privateNoStore
		}
		if !strings.Contains(strings.Join(header["Vary"], ","), "Cookie") { // pages have said so
			header.Add("Vary", "Cookie")
		}
	}
}

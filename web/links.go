package web

import (
	"net/http"
	"strings"
)

// links are the ways into the service, for programs.
const links = `{"name":"Library Catalogue","graphql":"/graphql","playground":"/playground","rest":{"books":"/api/books","genres":"/api/genres","categories":"/api/categories"},` +
	`"docs":"/api/docs","openapi":["/openapi.yaml","/openapi.json"],"health":{"live":"/livez","ready":"/readyz"}}` + "\n"

// Links answers with the ways into the service as JSON.
func Links(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(links))
}

// WantsPage reports whether a request comes from a browser's address field or a link:
// only these ask for HTML by name.
func WantsPage(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// linksOr answers a request for JSON with Links, and every other with the page.
func linksOr(page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept")
		if wantsJSON(r) {
			Links(w, r)
			return
		}
		page.ServeHTTP(w, r)
	})
}

// wantsJSON reports whether a request asks for JSON and not for a page.
func wantsJSON(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "application/json") && !WantsPage(r)
}

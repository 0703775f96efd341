package web

import (
	"net/http"
	"strings"
)

// links are the paths of the interfaces in JSON.
const links = `{"name":"Library Catalogue","graphql":"/graphql","playground":"/playground","rest":{"books":"/api/books","genres":"/api/genres","categories":"/api/categories"},` +
	`"docs":"/api/docs","openapi":["/openapi.yaml","/openapi.json"],"health":{"live":"/livez","ready":"/readyz"}}` + "\n"

// Links responds with the paths of the interfaces in JSON.
func Links(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write([]byte(links))
}

// WantsPage reports whether a request is a browser's navigation. Only these accept text/html explicitly.
func WantsPage(r *http.Request) bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && strings.Contains(r.Header.Get("Accept"), "text/html")
}

// linksOr responds to a request for JSON with Links, and calls page for others.
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

// wantsJSON reports whether a request accepts JSON and is no navigation.
func wantsJSON(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "application/json") && !WantsPage(r)
}

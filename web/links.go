package web

import (
	"net/http"
	"strings"

	"library-catalogue/graph/model"
	"library-catalogue/graph/model/citation"
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
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) &&
		strings.Contains(r.Header.Get("Accept"), "text/html")
}

// linksOr responds to a request for JSON with Links, and calls page for others.
func linksOr(page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept")
		if strings.Contains(r.Header.Get("Accept"), "application/json") && !WantsPage(r) {
			Links(w, r)
			return
		}
		page.ServeHTTP(w, r)
	})
}

// citedOr redirects a request for a citation of a book to /api, by the suffix of its path or by Accept. It calls page
// for others.
func citedOr(page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept")
		for _, f := range citation.Formats {
			id, hasSuffix := strings.CutSuffix(r.PathValue("id"), f.Suffix)
			accepted := strings.Contains(r.Header.Get("Accept"), f.MediaType()) && !WantsPage(r)
			if (hasSuffix || accepted) && model.ParseID(id) > 0 {
				http.Redirect(w, r, "/api/books/"+id+f.Suffix, http.StatusSeeOther)
				return
			}
		}
		page.ServeHTTP(w, r)
	})
}

// robots returns the handler of robots.txt (RFC 9309).
func robots(cfg Config) http.HandlerFunc {
	text := "User-agent: *\nDisallow: /api\nDisallow: /graphql\nDisallow: /playground\nDisallow: /login\nDisallow: " +
		"/books/new\n"
	if cfg.PublicURL != "" && !cfg.Off {
		text += "Sitemap: " + cfg.PublicURL + "/sitemap.xml\n"
	}
	if cfg.NoRobots {
		text = "User-agent: *\nDisallow: /\n"
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = w.Write([]byte(text))
	}
}

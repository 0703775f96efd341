package web

import (
	"bytes"
	"net/http"

	swagger "github.com/swaggest/swgui/v5emb"
)

// docsPolicy is contentPolicy for Swagger UI, which sets styles of its elements and
// has pictures within its own.
const docsPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// docsPath is where the reference of /api is.
const docsPath = "/api/docs"

// docs answers with Swagger UI over /openapi.yaml: its files come with swgui, the
// page around them is ours, since theirs has a script within.
func (p *Pages) docs() (http.Handler, error) {
	var page bytes.Buffer
	if err := p.templates["docs.html"].ExecuteTemplate(&page, "docs", nil); err != nil {
		return nil, err
	}
	files := swagger.New("", "", docsPath)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", docsPolicy)
		if r.URL.Path != docsPath && r.URL.Path != docsPath+"/" {
			header.Set("Cache-Control", "public, max-age=86400")
			files.ServeHTTP(w, r)
			return
		}
		header.Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(page.Bytes())
	}), nil
}

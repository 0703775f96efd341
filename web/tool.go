package web

import (
	"bytes"
	"net/http"

	swagger "github.com/swaggest/swgui/v5emb"
)

// toolPolicy is contentPolicy for third-party tools, which need inline styles and embedded images and fonts.
const toolPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"font-src data:; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// tool is the page of a third-party tool, which draws into the element ID.
type tool struct {
	Title, ID       string
	Styles, Scripts []string // URLs
	Module          string   // URL of a module
	Files           string   // JSON, for the module
	Links           []link   // in the header
	Unscripted      string   // URL of an alternative without scripts
}

type link struct{ URL, Name string }

// tool returns the handler of a tool's page with a Content-Security-Policy.
func (p *Pages) tool(t tool, policy string) (http.Handler, error) {
	var page bytes.Buffer
	english, err := p.templates["en"]()
	if err != nil {
		return nil, err
	}
	if err := english["tool.html"].ExecuteTemplate(&page, "tool", t); err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", policy)
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Referrer-Policy", "same-origin")
		_, _ = w.Write(page.Bytes())
	}), nil
}

// docsPath is the path of the API reference.
const docsPath = "/api/docs"

// routeDocs adds Swagger UI for /openapi.yaml. Its files come from swgui. The page is ours, because swgui's page has an
// inline script.
func (p *Pages) routeDocs() error {
	page, err := p.tool(tool{
		Title: "API reference", ID: "swagger-ui",
		Styles:     []string{docsPath + "/swagger-ui.css", p.assets.url("docs.css")},
		Scripts:    []string{docsPath + "/swagger-ui-bundle.js", p.assets.url("docs.js")},
		Links:      []link{{"/openapi.yaml", "openapi.yaml"}, {"/openapi.json", "openapi.json"}},
		Unscripted: "/openapi.yaml",
	}, toolPolicy)
	if err != nil {
		return err
	}
	files := swagger.New("", "", docsPath)
	p.mux.Handle("GET /api/docs", page)
	p.mux.Handle("GET /api/docs/{$}", page)
	p.mux.HandleFunc("GET /api/docs/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "public, max-age=86400")
		files.ServeHTTP(w, r)
	})
	p.mux.Handle("GET /docs", http.RedirectHandler(docsPath, http.StatusFound))
	return nil
}

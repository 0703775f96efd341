package web

import (
	"bytes"
	"net/http"

	swagger "github.com/swaggest/swgui/v5emb"
)

// toolPolicy is contentPolicy for third-party tools, which need inline styles and embedded images and fonts.
const toolPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src data:; connect-src 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// tool is the page of a third-party tool, which draws into the element ID.
type tool struct {
	Title, ID       string
	Styles, Scripts []string // URLs
	Links           []named  // links in the header; ID is the URL
	Unscripted      string   // URL of an alternative without scripts
}

// tool returns the handler of a tool's page.
func (p *Pages) tool(t tool) (http.Handler, error) {
	var page bytes.Buffer
	if err := p.templates["tool.html"].ExecuteTemplate(&page, "tool", t); err != nil {
		return nil, err
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		header := w.Header()
		header.Set("Content-Security-Policy", toolPolicy)
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Referrer-Policy", "same-origin")
		_, _ = w.Write(page.Bytes())
	}), nil
}

// docsPath is the path of the API reference.
const docsPath = "/api/docs"

// docs returns the handler of Swagger UI for /openapi.yaml. Its files come from swgui. The page is ours, because swgui's
// page has an inline script.
func (p *Pages) docs() (http.Handler, error) {
	page, err := p.tool(tool{
		Title: "API reference", ID: "swagger-ui", Styles: []string{docsPath + "/swagger-ui.css", p.assets.url("docs.css")},
		Scripts: []string{docsPath + "/swagger-ui-bundle.js", p.assets.url("docs.js")},
		Links:   []named{{"/openapi.yaml", "openapi.yaml"}, {"/openapi.json", "openapi.json"}}, Unscripted: "/openapi.yaml",
	})
	files := swagger.New("", "", docsPath)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == docsPath || r.URL.Path == docsPath+"/" {
			page.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Cache-Control", "public, max-age=86400")
		files.ServeHTTP(w, r)
	}), err
}

// playground returns the handler of GraphiQL if it was built, else of a plain form.
func (p *Pages) playground() (http.Handler, error) {
	if p.assets.files[graphiQL] == nil {
		return p.drawn(func(*http.Request) (*page, error) {
			return &page{name: "playground.html", Title: "Playground", Section: "developers", Script: "playground.js"}, nil
		}), nil
	}
	return p.tool(tool{
		Title: "Playground", ID: "graphiql", Styles: []string{p.assets.url("graphiql.css")}, Scripts: []string{p.assets.url(graphiQL)},
		Links: []named{{docsPath, "API reference"}}, Unscripted: "/developers",
	})
}

package web

import (
	"bytes"
	"net/http"

	swagger "github.com/swaggest/swgui/v5emb"
)

// toolPolicy is contentPolicy for the tools of others, which set styles of their
// elements, and have pictures and fonts within their own.
const toolPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src data:; connect-src 'self'; " +
	"base-uri 'none'; frame-ancestors 'none'"

// tool is a page around a tool of others, which is in the element with its ID.
type tool struct {
	Title, ID       string
	Styles, Scripts []string // addresses
	Links           []named  // what else is to be read, by addresses
	Unscripted      string   // where to look without scripts
}

// tool answers with the page of a tool.
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

// docsPath is where the reference of /api is.
const docsPath = "/api/docs"

// docs answers with Swagger UI over /openapi.yaml: its files come with swgui, the
// page around them is ours, since theirs has a script within.
func (p *Pages) docs() (http.Handler, error) {
	page, err := p.tool(tool{
		Title: "API reference", ID: "swagger-ui", Styles: []string{docsPath + "/swagger-ui.css"},
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

// playground answers with GraphiQL where it was built, else with an editor of our own.
func (p *Pages) playground() (http.Handler, error) {
	if p.assets.files[graphiQL] == nil {
		return p.drawn(func(*http.Request) (*page, error) {
			return &page{name: "playground.html", Title: "Playground", Section: "developers"}, nil
		}), nil
	}
	return p.tool(tool{
		Title: "Playground", ID: "graphiql", Styles: []string{p.assets.url("graphiql.css")}, Scripts: []string{p.assets.url(graphiQL)},
		Links: []named{{docsPath, "API reference"}}, Unscripted: "/developers",
	})
}

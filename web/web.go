// Package web serves the pages of the catalogue, the playground and the API reference. The server renders a page from
// the response to one GraphQL request. Reading works without scripts; they make navigation faster.
package web

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"strings"

	"library-catalogue/graph/model"
)

// Config configures the pages.
type Config struct {
	Query Query
	// Cache is middleware that may cache a page that depends on its URL and the catalogue only.
	Cache func(http.Handler) http.Handler
	// Constant is middleware for a handler with a constant response.
	Constant func(http.Handler) http.Handler
	Logger   *slog.Logger
	Login    *Login // nil: users enter a token
	// PublicURL is the origin of absolute addresses, such as https://books.example; empty: pages have none.
	PublicURL string
	NoRobots  bool // robots.txt disallows all
	// PlaygroundCDN lets browsers load GraphiQL from a CDN if it is not built in.
	PlaygroundCDN bool
	Off           bool // only the playground and the API reference; / responds with Links
}

// Query runs a GraphQL query with variables in JSON. It returns the data, and the newest position that it has if that is
// wanted, or the first error of the response. ctx is that of the request for the page.
type Query = func(ctx context.Context, document string, variables []byte, wantsPosition bool) (data []byte, position string, err error)

//go:embed templates queries
var files embed.FS

// Pages serves the pages.
type Pages struct {
	source
	log       *slog.Logger
	assets    assets
	templates map[string]*template.Template
	login     *Login
	publicURL string
	mux       http.ServeMux
}

// New returns the pages.
func New(cfg Config) (*Pages, error) {
	assets, err := readAssets()
	if err != nil {
		return nil, err
	}
	p := &Pages{source: source{query: cfg.Query}, log: cfg.Logger, assets: assets, login: cfg.Login, publicURL: cfg.PublicURL}
	if p.templates, err = parseTemplates(assets, p.login != nil); err != nil {
		return nil, err
	}
	if p.documents, err = readQueries(); err != nil {
		return nil, err
	}
	reference, err := p.docs()
	if err != nil {
		return nil, err
	}
	if err := p.routePlayground(cfg.PlaygroundCDN); err != nil {
		return nil, err
	}
	if p.login != nil {
		p.mux.Handle("GET /login", p.drawn(p.logIn))
	}
	p.mux.Handle("GET /api/docs", reference)
	p.mux.Handle("GET /api/docs/", reference)
	p.mux.Handle("GET /docs", http.RedirectHandler(docsPath, http.StatusFound))
	assets.route(&p.mux, cfg.Constant)
	p.mux.Handle("GET /favicon.ico", http.RedirectHandler(assets.url("icon.svg"), http.StatusFound))
	p.mux.HandleFunc("GET /robots.txt", robots(cfg))
	if cfg.Off {
		p.mux.HandleFunc("GET /{$}", Links)
		return p, nil
	}
	cached := cfg.Cache
	p.mux.Handle("GET /{$}", linksOr(cached(p.drawn(p.books))))
	p.mux.Handle("GET /books/{id}", citedOr(cached(p.drawn(p.book))))
	p.mux.Handle("GET /books/{id}/history", p.drawn(p.history)) // not cached, because the log changes without the revision
	p.mux.Handle("GET /books/{id}/edit", cached(p.drawn(p.editBook)))
	p.mux.Handle("GET /books/new", cached(p.drawn(p.newBook)))
	p.mux.Handle("GET /genres", cached(p.drawn(p.genres)))
	p.mux.Handle("GET /import", p.drawn(p.importFile))
	p.mux.Handle("GET /developers", p.drawn(p.developers)) // not cached, because it has the host of the request
	p.mux.Handle("GET /", p.drawn(p.notFound))
	return p, nil
}

// ServeHTTP implements http.Handler.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.mux.ServeHTTP(w, r) }

// contentPolicy allows resources of this server only, without inline scripts and styles and without frames (Content
// Security Policy Level 3).
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// page has the data of a template.
type page struct {
	status   int    // 0: 200
	name     string // of the template
	policy   string // Content-Security-Policy; empty: contentPolicy
	Title    string
	Section  string // current section of the menu
	Search   string // value of the search field
	Query    string // playground's URL for the page's query
	Script   string // module that only some pages need, loaded after page.js
	Live     string // the book whose changes the page follows, or all; empty: none
	Position string // of the newest change that a live page has
	Main     any
}

// drawn returns a handler for the page that draw returns.
func (p *Pages) drawn(draw func(*http.Request) (*page, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		view, err := draw(r)
		if to, ok := errors.AsType[redirect](err); ok {
			http.Redirect(w, r, string(to), http.StatusSeeOther)
			return
		}
		if err != nil {
			p.Fail(w, r, err)
			return
		}
		p.write(w, view)
	})
}

// redirect is an error with the canonical URL of the page.
type redirect string

func (r redirect) Error() string { return "moved to " + string(r) }

func (p *Pages) write(w http.ResponseWriter, view *page) {
	var text bytes.Buffer
	if err := p.templates[view.name].ExecuteTemplate(&text, "layout.html", view); err != nil {
		p.log.Error("rendering a page failed", "page", view.name, "error", err)
		http.Error(w, "The page could not be rendered.", http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", cmp.Or(view.policy, contentPolicy))
	header.Set("Referrer-Policy", "same-origin")
	if view.status == 0 {
		view.status = http.StatusOK
	}
	w.WriteHeader(view.status)
	_, _ = w.Write(text.Bytes()) // the client may be gone
}

// failureView has the data of the page for an error.
type failureView struct {
	Message string
	Retry   string // address to try again; empty: it would fail again
}

// Fail writes the page for an error. A Retry-After header in the response sets the delay that the page names.
func (p *Pages) Fail(w http.ResponseWriter, r *http.Request, err error) {
	e := model.AsError(err)
	view := &page{name: "failure.html", Title: "Something went wrong"}
	main := failureView{Message: e.Message, Retry: "/" + strings.TrimLeft(r.URL.RequestURI(), "/")} // "//x" would be another site
	switch e.Code {
	case model.NotFound:
		view.status, view.Title, main.Retry = http.StatusNotFound, "Page not found", ""
	case model.BadUserInput, model.CostLimitExceeded, model.DepthLimitExceeded:
		view.status, view.Title, main.Retry = http.StatusBadRequest, "Invalid address", ""
	case model.PositionGone:
		view.status, view.Title, main.Retry = http.StatusGone, "No longer kept", ""
		main.Message = "The log of changes does not keep this part of the history."
	case model.RateLimited:
		view.status, view.Title = http.StatusTooManyRequests, "Too many requests"
		main.Message = "The catalogue limits the requests of each reader. Try again in " + w.Header().Get("Retry-After") + " s."
	case model.Unavailable:
		view.status, view.Title = http.StatusServiceUnavailable, "The catalogue is temporarily unavailable"
		w.Header().Set("Retry-After", "1")
	default:
		view.status = http.StatusInternalServerError
		p.log.ErrorContext(r.Context(), "reading a page failed", "error", err)
	}
	view.Main = main
	p.write(w, view)
}

func (p *Pages) notFound(*http.Request) (*page, error) {
	return nil, model.Errorf(model.NotFound, "There is no page at this address.")
}

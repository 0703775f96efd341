// Package web is what people see in a browser: the pages of the catalogue, the
// playground and the reference of the API. A page is drawn by the server from the
// answer to one GraphQL request; scripts make it quick and are not needed to read.
package web

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"html/template"
	"log/slog"
	"net/http"

	"library-catalogue/graph/model"
)

// Config is what the pages are made of.
type Config struct {
	// GraphQL answers the requests of the pages, each in the context of the request
	// for the page.
	GraphQL http.Handler
	// Cache may cache the answers of pages that follow from their address and the
	// catalogue alone.
	Cache func(http.Handler) http.Handler
	// Constant makes what a handler answers without a look at its request an answer that
	// never changes.
	Constant func(http.Handler) http.Handler
	Logger   *slog.Logger
	Login    *Login // nil: people give a token of their own
	Off      bool   // no pages but the playground and the reference: / answers Links
}

//go:embed templates queries
var files embed.FS

// Pages answers requests for pages.
type Pages struct {
	graphQL   http.Handler
	log       *slog.Logger
	assets    assets
	templates map[string]*template.Template
	queries   map[string]string
	login     *Login
	mux       http.ServeMux
}

// New returns the pages.
func New(cfg Config) (*Pages, error) {
	assets, err := readAssets()
	if err != nil {
		return nil, err
	}
	p := &Pages{graphQL: cfg.GraphQL, log: cfg.Logger, assets: assets, login: cfg.Login}
	if p.templates, err = parseTemplates(assets, p.login != nil); err != nil {
		return nil, err
	}
	if p.queries, err = readQueries(); err != nil {
		return nil, err
	}
	reference, err := p.docs()
	if err != nil {
		return nil, err
	}
	playground, err := p.playground()
	if err != nil {
		return nil, err
	}
	p.mux.Handle("GET /playground", playground)
	if p.login != nil {
		p.mux.Handle("GET /login", p.drawn(p.logIn))
	}
	p.mux.Handle("GET /api/docs", reference)
	p.mux.Handle("GET /api/docs/", reference)
	p.mux.Handle("GET /docs", http.RedirectHandler(docsPath, http.StatusFound))
	assets.route(&p.mux, cfg.Constant)
	p.mux.Handle("GET /favicon.ico", http.RedirectHandler(assets.url("icon.svg"), http.StatusFound))
	p.mux.HandleFunc("GET /robots.txt", robots)
	if cfg.Off {
		p.mux.HandleFunc("GET /{$}", Links)
		return p, nil
	}
	p.mux.Handle("GET /{$}", linksOr(cfg.Cache(p.drawn(p.books))))
	p.mux.Handle("GET /books/{id}", cfg.Cache(p.drawn(p.book)))
	p.mux.Handle("GET /books/{id}/edit", cfg.Cache(p.drawn(p.editBook)))
	p.mux.Handle("GET /books/new", cfg.Cache(p.drawn(p.newBook)))
	p.mux.Handle("GET /genres", cfg.Cache(p.drawn(p.genres)))
	p.mux.Handle("GET /import", p.drawn(p.importFile))
	p.mux.Handle("GET /developers", p.drawn(p.developers)) // it says by what host it was asked for
	p.mux.Handle("GET /", p.drawn(p.notFound))
	return p, nil
}

// ServeHTTP implements http.Handler.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.mux.ServeHTTP(w, r) }

// contentPolicy lets a page load what this server has, and nothing else: no script
// or style within the page, no frame around it (Content Security Policy Level 3).
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// page is what a template is drawn with.
type page struct {
	status  int
	name    string // of the template
	policy  string // its Content-Security-Policy; empty: contentPolicy
	Title   string
	Section string // of the menu
	Search  string // in the field of the header
	Query   string // of the playground: the GraphQL request that the page was drawn from
	Main    any
}

// drawn answers with the page that draw returns.
func (p *Pages) drawn(draw func(*http.Request) (*page, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		view, err := draw(r)
		if to, ok := errors.AsType[redirect](err); ok {
			http.Redirect(w, r, string(to), http.StatusSeeOther)
			return
		}
		if err != nil {
			view = p.failure(r, err)
		}
		p.write(w, view)
	})
}

// redirect is the address under which the same is found, as an error.
type redirect string

func (r redirect) Error() string { return "moved to " + string(r) }

func (p *Pages) write(w http.ResponseWriter, view *page) {
	var text bytes.Buffer
	if err := p.templates[view.name].ExecuteTemplate(&text, "layout.html", view); err != nil {
		p.log.Error("a page could not be drawn", "page", view.name, "error", err)
		http.Error(w, "The page could not be drawn.", http.StatusInternalServerError)
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

// failure returns the page that says what went wrong.
func (p *Pages) failure(r *http.Request, err error) *page {
	e := model.AsError(err)
	view := &page{name: "failure.html", Title: "Something went wrong", Main: e.Message}
	switch e.Code {
	case model.NotFound:
		view.status, view.Title = http.StatusNotFound, "This place on the shelf is empty"
	case model.BadUserInput:
		view.status, view.Title = http.StatusBadRequest, "This address has a slip in it"
	case model.RateLimited:
		view.status, view.Title = http.StatusTooManyRequests, "Too many requests"
	case model.Unavailable:
		view.status, view.Title = http.StatusServiceUnavailable, "The catalogue is away for a moment"
	default:
		view.status = http.StatusInternalServerError
		p.log.ErrorContext(r.Context(), "a page could not be read", "error", err)
	}
	return view
}

func (p *Pages) notFound(*http.Request) (*page, error) {
	return nil, model.Errorf(model.NotFound, "There is no page at this address. It may have a slip in it.")
}

func robots(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("User-agent: *\nDisallow: /graphql\nDisallow: /playground\nDisallow: /login\nDisallow: /books/new\n"))
}

// Package web serves the pages of the catalogue, the playground and the API reference. The server renders a page from
// the response to one GraphQL request. Reading works without scripts; they make navigation faster.
package web

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"library-catalogue/accounts"
	"library-catalogue/graph/model"
	"library-catalogue/web/book"
	"library-catalogue/web/language"
	"library-catalogue/web/list"
	"library-catalogue/web/people"
	"library-catalogue/web/view"
)

// Config configures the pages.
type Config struct {
	Query view.Query
	// Cache is middleware that may cache a page that depends on its URL and the catalogue only.
	Cache func(http.Handler) http.Handler
	// Constant is middleware for a handler with a constant response.
	Constant func(http.Handler) http.Handler
	Logger   *slog.Logger
	Login    *Login            // nil: no OpenID provider
	Accounts *accounts.Service // nil: no accounts
	// PublicURL is the origin of absolute addresses, such as https://books.example; empty: pages have none.
	PublicURL string
	Encodings []string // that an import may have
	ReadValue book.ReadValue
	Covers    Covers
	Lookup    bool // other libraries are asked for the book of an ISBN
	NoRobots  bool // robots.txt disallows all
	// PlaygroundCDN lets browsers load GraphiQL from a CDN if it is not built in.
	PlaygroundCDN bool
	Webhooks      people.Webhooks // nil: they are not shown
	Off           bool            // only the playground and the API reference; / responds with Links
}

//go:embed templates queries
var files embed.FS

// Pages serves the pages.
type Pages struct {
	log       *slog.Logger
	assets    assets
	templates map[string]func() (templates, error) // by language
	login     *Login
	accounts  *accounts.Service // nil: none
	publicURL string
	covers    Covers
	mux       http.ServeMux
}

// New returns the pages.
func New(cfg Config) (*Pages, error) {
	assets, err := readAssets()
	if err != nil {
		return nil, err
	}
	p := &Pages{log: cfg.Logger, assets: assets, login: cfg.Login, accounts: cfg.Accounts,
		publicURL: cfg.PublicURL, covers: cfg.Covers}
	p.templates = templatesByLanguage(assets, p.login != nil, p.covers)
	queries, err := readQueries()
	if err != nil {
		return nil, err
	}
	source := view.Source{Query: cfg.Query, Documents: queries}
	if err := p.routeDocs(); err != nil {
		return nil, err
	}
	if err := p.routePlayground(cfg.PlaygroundCDN); err != nil {
		return nil, err
	}
	if p.login != nil || p.accounts != nil {
		p.route("GET /login", p.logIn)
	}
	if err := p.routeChooser(); err != nil {
		return nil, err
	}
	assets.route(&p.mux, cfg.Constant)
	p.mux.Handle("GET /favicon.ico", http.RedirectHandler(assets.url("icon.svg"), http.StatusFound))
	p.mux.HandleFunc("GET /robots.txt", robots(cfg))
	if cfg.Off {
		p.mux.HandleFunc("GET /{$}", Links)
		return p, nil
	}
	lists := list.Pages{Source: source}
	books := book.Pages{Source: source, PublicURL: cfg.PublicURL, Encodings: cfg.Encodings, ReadValue: cfg.ReadValue,
		Lookup: cfg.Lookup}
	cached := cfg.Cache
	p.route("GET /{$}", lists.Books, linksOr, cached)
	p.route("GET /print", lists.Print, cached)
	p.route("GET /labels", lists.Labels, cached)
	p.route("GET /genres", lists.Genres, cached)
	p.route("GET /books/{id}", books.Book, citedOr, cached)
	p.route("GET /books/{id}/edit", books.Edit, p.forWriters, cached)
	p.route("GET /books/{id}/history", books.History) // not cached, because the log changes without the revision
	p.route("GET /books/new", books.New, p.forWriters, cached)
	p.route("GET /isbn/{isbn}", books.ISBN, cached)
	p.route("GET /import", books.Import, p.forWriters)
	p.route("GET /developers", p.developers) // not cached, because it has the host of the request
	p.route("GET /", p.notFound)
	p.mux.Handle("GET /books/values", language.Middleware(http.HandlerFunc(books.Values)))
	if p.accounts != nil {
		own := people.Pages{Service: cfg.Accounts, Source: source, Webhooks: cfg.Webhooks}
		p.route("GET /welcome", own.Welcome, noReferrer)
		p.route("GET /account", own.Account)
		p.route("GET /admin", own.Admin)
		p.route("GET /changes", own.Log)
		p.route("GET /changes/books", books.Changed)
		p.route("GET /troubles", own.Troubles)
	}
	return p, nil
}

// route adds a page in middleware, the first outermost.
func (p *Pages) route(
	pattern string, draw func(*http.Request) (*view.Page, error), stages ...func(http.Handler) http.Handler,
) {
	page := p.drawn(draw)
	for _, stage := range slices.Backward(stages) {
		page = stage(page)
	}
	p.mux.Handle(pattern, language.Middleware(page))
}

// ServeHTTP implements http.Handler.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.mux.ServeHTTP(w, r) }

// contentPolicy allows resources of this server only, without inline scripts and styles and without frames (Content
// Security Policy Level 3).
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; " +
	"manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// drawn returns a handler for the page that draw returns.
func (p *Pages) drawn(draw func(*http.Request) (*view.Page, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, err := draw(r)
		if to, ok := errors.AsType[view.RedirectError](err); ok {
			http.Redirect(w, r, string(to), http.StatusSeeOther)
			return
		}
		if err != nil {
			p.Fail(w, r, err)
			return
		}
		p.write(w, r, page)
	})
}

func (p *Pages) write(w http.ResponseWriter, r *http.Request, page *view.Page) {
	page.Viewer, page.Here = view.ViewerOf(r.Context(), p.accounts != nil), cmp.Or(page.Here, localURI(r))
	p.setAddresses(page, language.Asked(r))
	if page.Covers {
		page.Policy = p.covers.policy
	}
	var text bytes.Buffer
	all, err := p.templates[language.Of(r).Tag]()
	if err == nil {
		err = all[page.Name].ExecuteTemplate(&text, "layout.html", page)
	}
	if err != nil {
		p.log.Error("rendering a page failed", "page", page.Name, "error", err)
		http.Error(w, "The page could not be rendered.", http.StatusInternalServerError)
		return
	}
	header := w.Header()
	header.Add("Vary", "Accept-Language, Cookie")
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", cmp.Or(page.Policy, contentPolicy))
	if header.Get("Referrer-Policy") == "" {
		header.Set("Referrer-Policy", "same-origin")
	}
	if page.Status == 0 {
		page.Status = http.StatusOK
	}
	w.WriteHeader(page.Status)
	_, _ = w.Write(text.Bytes()) // the client may be gone
}

// localURI returns the address of a request without the language. "//x" would be another site.
func localURI(r *http.Request) string {
	u := *r.URL
	if strings.Contains(u.RawQuery, language.Parameter+"=") {
		query := u.Query()
		query.Del(language.Parameter)
		u.RawQuery = query.Encode()
	}
	return "/" + strings.TrimLeft(u.RequestURI(), "/")
}

// setAddresses sets the canonical address of a page, and those in all languages, which must be absolute. asked is the
// language in its address, or nil.
func (p *Pages) setAddresses(page *view.Page, asked *language.Language) {
	if page.Path == "" {
		return
	}
	page.Canonical = p.publicURL + page.Path
	if p.publicURL == "" {
		return
	}
	page.Alternates = []view.Alternate{{Language: "x-default", URL: page.Canonical}}
	separator := "?"
	if strings.Contains(page.Path, "?") {
		separator = "&"
	}
	in := page.Canonical + separator + language.Parameter + "="
	for _, l := range language.All() {
		page.Alternates = append(page.Alternates, view.Alternate{Language: l.Tag, URL: in + l.Tag})
	}
	if asked != nil {
		page.Canonical = in + asked.Tag
	}
}

// noReferrer keeps the address of a page from others.
func noReferrer(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Referrer-Policy", "no-referrer")
		next.ServeHTTP(w, r)
	})
}

// forWriters refuses people who may only read.
func (p *Pages) forWriters(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if v := view.ViewerOf(r.Context(), p.accounts != nil); !v.ShowsWrites() {
			p.Fail(w, r,
				model.Errorf(model.Forbidden, "Your account can only read. Ask an admin to make you an editor."))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// failureView has the data of the page for an error.
type failureView struct {
	Message string
	Retry   string // address to try again; empty: it would fail again
}

// Fail writes the page for an error.
func (p *Pages) Fail(w http.ResponseWriter, r *http.Request, err error) {
	language.Choose(r) // a refused request has not passed the middleware
	in, e := language.Of(r), model.AsError(err)
	page, title := &view.Page{Name: "failure.html"}, language.Key("Something went wrong")
	main := failureView{Message: in.Message(e.Text()), Retry: localURI(r)}
	if e.Code == model.RateLimited || e.Code == model.Unavailable {
		w.Header().Set("Retry-After", strconv.Itoa(model.RetryAfter(err)))
	}
	switch e.Code {
	case model.NotFound:
		page.Status, title, main.Retry = http.StatusNotFound, "Page not found", ""
	case model.BadUserInput, model.CostLimitExceeded, model.DepthLimitExceeded:
		page.Status, title, main.Retry = http.StatusBadRequest, "Invalid address", ""
	case model.Forbidden:
		page.Status, title, main.Retry = http.StatusForbidden, "Not permitted", ""
	case model.PositionGone:
		page.Status, title, main.Retry = http.StatusGone, "No longer kept", ""
		main.Message = in.Text("The log of changes does not keep this part of the history.")
	case model.RateLimited:
		page.Status, title = http.StatusTooManyRequests, "Too many requests"
		main.Message = in.Text("The catalogue limits the requests of each reader. Try again in %s s.",
			w.Header().Get("Retry-After"))
	case model.Unavailable:
		page.Status, title = http.StatusServiceUnavailable, "The catalogue is temporarily unavailable"
	default:
		page.Status = http.StatusInternalServerError
		p.log.ErrorContext(r.Context(), "reading a page failed", "error", err)
	}
	page.Title, page.Main = in.Text(title), main
	p.write(w, r, page)
}

func (p *Pages) notFound(*http.Request) (*view.Page, error) {
	return nil, model.Errorf(model.NotFound, "There is no page at this address.")
}

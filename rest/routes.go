package rest

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"library-catalogue/edge/envelope"
	"library-catalogue/graph/model"
)

// routes returns all routes under /api, and /sitemap.xml. HEAD uses the routes of GET.
func (h *handler) routes() []route {
	var routes []route
	books := h.books()
	for _, res := range []*resource{books, h.genres(), h.categories()} {
		path := "/api/" + res.name
		routes = append(routes,
			route{"GET", path, res, h.getList},
			route{"POST", path, res, h.post},
			route{"GET", path + "/{id}", res, h.get},
			route{"PUT", path + "/{id}", res, h.put},
			route{"DELETE", path + "/{id}", res, h.delete},
		)
	}
	routes = append(routes, route{"GET", "/api/changes", nil, h.getChanges})
	if h.options.Lookup {
		routes = append(routes, route{"GET", "/api/lookup", books, h.getLookup})
	}
	if h.options.Accounts != nil {
		routes = append(routes, route{"POST", "/api/login", nil, h.logIn}, route{"POST", "/api/logout", nil, h.logOut})
	}
	if h.options.PublicURL != "" {
		routes = append(routes, route{"GET", "/sitemap.xml", books, h.sitemap})
	}
	for _, other := range h.options.Routes {
		serve := func(w http.ResponseWriter, r *http.Request, _ *resource, id string) error {
			return other.Serve(w, r, id)
		}
		routes = append(routes, route{other.Method, other.Pattern, nil, serve})
	}
	return routes
}

type route struct {
	method   string
	pattern  string
	resource *resource
	serve    serveFunc
}

// serveFunc writes a response or returns an error. id is empty if the pattern has no {id}.
type serveFunc func(w http.ResponseWriter, r *http.Request, res *resource, id string) error

// ServeHTTP implements http.Handler. It sets the request's Pattern. It does not use net/http's mux, which responds to
// unclean paths without an envelope.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-cache") // clients may store it but must revalidate it
	requested := strings.Trim(r.URL.EscapedPath(), "/")
	inFormat, path := withSuffix(r, requested)
	pattern, id := patternOf(path)
	routes := h.byPattern[pattern]
	if routes == nil {
		h.writeError(w, r, model.Errorf(model.NotFound, "The route %s could not be found.", requested))
		return
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	i := slices.IndexFunc(routes, func(route route) bool { return route.method == method })
	if i < 0 {
		methodNotAllowed(w, r, path, routes)
		return
	}
	r.Pattern = r.Method + " " + pattern
	switch err := routes[i].serve(w, inFormat, routes[i].resource, id); {
	case errors.Is(err, http.ErrAbortHandler):
		// The handlers return this error and do not panic. In Go 1.26 and 1.27 a panic can crash the program if it
		// passes a deferred call with a struct as the first argument, because the runtime reads collected memory.
		panic(http.ErrAbortHandler)
	case err != nil:
		h.writeError(w, r, err)
	}
}

// patternOf returns the pattern of an escaped path, and its id. An escaped slash does not separate segments. A path
// with one outside the id has no pattern.
func patternOf(path string) (pattern, id string) {
	segments := strings.Split(path, "/")
	if len(segments) >= 3 {
		id, _ = url.PathUnescape(segments[2]) // EscapedPath has no invalid escapes
		segments[2] = "{id}"
	}
	for _, segment := range segments {
		name, _ := url.PathUnescape(segment)
		if strings.Contains(name, "/") {
			return "", ""
		}
		pattern += "/" + name
	}
	return pattern, id
}

func methodNotAllowed(w http.ResponseWriter, r *http.Request, path string, routes []route) {
	var methods []string
	for _, route := range routes {
		methods = append(methods, route.method)
		if route.method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	allowed := strings.Join(methods, ", ")
	w.Header().Set("Allow", allowed)
	envelope.WriteError(w, r, envelope.Error(http.StatusMethodNotAllowed,
		"The "+r.Method+" method is not supported for route "+path+". Supported methods: "+allowed+"."))
}

// writeError writes an error response and logs server errors.
func (h *handler) writeError(w http.ResponseWriter, r *http.Request, err error) {
	if cause, ok := errors.AsType[*model.Error](context.Cause(r.Context())); ok {
		err = cause // err is a consequence of it
	}
	_, expected := errors.AsType[*model.RetryError](err)
	switch status := envelope.StatusOf(err); {
	case status == http.StatusForbidden:
		w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope"`) // RFC 6750, section 3.1
	case status >= http.StatusInternalServerError && !expected:
		h.logFailure(w, r, model.AsError(err))
	}
	envelope.WriteError(w, r, err)
}

// logFailure logs an error with the request id. It does not log errors after the client has gone, which caused them.
func (h *handler) logFailure(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return
	}
	h.options.Logger.ErrorContext(r.Context(), "request failed", "method", r.Method, "path", r.URL.Path, "error", err,
		"request_id", w.Header().Get("X-Request-Id"))
}

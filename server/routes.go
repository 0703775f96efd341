package server

import (
	"context"
	"net/http"
	"net/http/pprof"
	"strings"

	"library-catalogue/edge/admission"
	"library-catalogue/edge/caller"
	"library-catalogue/edge/pipeline"
	"library-catalogue/edge/ratelimit"
	"library-catalogue/edge/respcache"
	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/model"
	"library-catalogue/rest"
	"library-catalogue/server/accounthttp"
	"library-catalogue/server/graphqlhttp"
	"library-catalogue/server/graphqlhttp/socket"
	"library-catalogue/server/imports"
	"library-catalogue/server/sru"
	"library-catalogue/web"
)

type middleware = func(http.Handler) http.Handler

// chain wraps handler in middleware, the first outermost.
func chain(handler http.Handler, stages ...middleware) http.Handler {
	for i := len(stages) - 1; i >= 0; i-- {
		handler = stages[i](handler)
	}
	return handler
}

// newRoutes returns the handler of the public address.
func newRoutes(cfg Config, admissions *admission.Controller, files *imports.Imports) (http.Handler, error) {
	cache := respcache.New(cfg.CacheBytes)
	if cache != nil {
		if err := cfg.Observer.Register(cache); err != nil {
			return nil, err
		}
	}
	rate := ratelimit.New(cfg.Rate)
	limits := cfg.GraphQL.Limits.OrDefault()
	bodyLimit := admissions.Bodies(max(limits.Body, rest.MaxBodyBytes))
	operations := &pipeline.Pipeline{Catalogue: cfg.Catalogue, Cache: cache, Admission: admissions, Timeout: cfg.Timeout}
	cfg.REST.Pipeline = operations
	cfg.REST.Routes = files.Routes()
	if cfg.Accounts != nil {
		cfg.REST.Accounts = cfg.Accounts
	}
	setHeaders := headersWith(cfg.Cookies)
	if !cfg.NoPages {
		cfg.REST.PublicURL = cfg.PublicURL
	}
	graphQL := graphqlhttp.New(graphqlhttp.Config{
		Catalogue: cfg.Catalogue, Options: cfg.GraphQL, Pipeline: operations, Streams: cfg.Streams, Observer: cfg.Observer, Logger: cfg.Logger,
	})
	sockets := socket.New(socket.Config{
		Executor: graphQL, Streams: cfg.Streams,
		Authenticate: func(next http.Handler) http.Handler {
			return chain(next, cfg.Authenticate, caller.Middleware(cfg.Proxies), rate.Attach)
		},
		Operation: func(next http.Handler, refuse func(http.ResponseWriter, *http.Request, error)) http.Handler {
			return chain(next,
				cfg.Observer.Middleware(telemetry.Endpoints{Name: endpointOf, Fail: refuse, Headers: setHeaders}),
				rate.Middleware(0, refuse), // the socket has charged for the bytes
			)
		},
	})
	compress, err := newCompress()
	if err != nil {
		return nil, err
	}
	var listWebhooks func(context.Context) ([]*model.Webhook, error)
	if cfg.Webhooks != nil {
		listWebhooks = cfg.Webhooks.List
	}
	pages, err := web.New(web.Config{
		Query: graphQL.Query, Cache: cache.Middleware(cfg.Catalogue.Revision), Logger: cfg.Logger, Login: cfg.Login, Off: cfg.NoPages,
		Accounts: cfg.Accounts, Webhooks: listWebhooks,
		PublicURL: cfg.PublicURL, NoRobots: cfg.NoRobots, PlaygroundCDN: cfg.PlaygroundCDN, Encodings: imports.Encodings, ReadValue: imports.ReadValue,
		Constant: func(handler http.Handler) http.Handler { return static(compress, newPage(handler, "")) },
	})
	if err != nil {
		return nil, err
	}
	refuseOrPage := refuseWith(pages)
	originPolicy, err := crossOrigin(cfg.Origins, cfg.PublicURL, cfg.Credentials, cfg.Logger, refuseOrPage)
	if err != nil {
		return nil, err
	}

	mux := otherRoutes(cfg.Observer, pages)
	byCookie := func(next http.Handler) http.Handler { return next }
	if cfg.Accounts != nil {
		signIn := accounthttp.Handler{Service: cfg.Accounts, Cookies: cfg.Cookies, Webhooks: cfg.Webhooks, Refuse: pages.RefuseForm}
		signIn.Route(mux)
		byCookie = cfg.Cookies.Middleware(cookiesCount, refuseOrPage)
	}
	mux.Handle("GET /openapi.yaml", static(compress, document("application/yaml", rest.OpenAPI))) // RFC 9512
	mux.Handle("GET /openapi.json", static(compress, document("application/json", rest.OpenAPIJSON)))

	if cfg.SRU {
		catalogue := sru.Handler{Config: sru.Config{Query: graphQL.Query, PublicURL: cfg.PublicURL}}
		mux.Handle("GET "+sru.Path, catalogue)
		mux.Handle("POST "+sru.Path, catalogue)
	}

	others := recordRoute(mux)
	api := recordRoute(rest.New(cfg.Catalogue, cfg.REST))
	fileImports := chain(api,
		rate.Middleware(rest.MaxBodyBytes, refuse), // no bodyLimit, because files go to disk
		admission.BodyTimeout(fileTimeout),
	)

	upgrades := chain(http.Handler(sockets), rate.Middleware(0, refuse))

	// Each endpoint has its own middleware, outermost first.
	endpoints := map[string]http.Handler{
		telemetry.GraphQL: chain(graphQL,
			rate.Middleware(limits.Body, refuse),
			bodyLimit,
		),
		telemetry.REST: chain(api,
			rate.Middleware(rest.MaxBodyBytes, refuse),
			bodyLimit,
		),
		telemetry.Other: chain(others,
			rate.Middleware(max(accounthttp.MaxBodyBytes, sru.MaxBodyBytes), refuseOrPage),
			withDeadline(cfg.Timeout),
		),
	}
	byEndpoint := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if page, ok := interfacePages[r.URL.RequestURI()]; ok {
			w.Header().Add("Vary", "Accept")
			if web.WantsPage(r) {
				http.Redirect(w, r, page, http.StatusFound)
				return
			}
		}
		if rest, ok := strings.CutPrefix(r.URL.Path, pageImports); ok && cfg.Accounts != nil {
			r = r.Clone(r.Context())
			r.URL.Path = "/api/imports" + rest
		}
		switch {
		case r.URL.Path == graphQLPath && socket.IsUpgrade(r):
			upgrades.ServeHTTP(w, r)
		case imports.Serves(r):
			fileImports.ServeHTTP(w, r)
		case isHealth(r): // not rate-limited
			others.ServeHTTP(w, r)
		default:
			endpoints[endpointOf(r)].ServeHTTP(w, r)
		}
	})

	// Middleware of every request, outermost first.
	return chain(byEndpoint,
		admission.BodyTimeout(admission.DefaultBodyTimeout),
		cfg.Observer.Middleware(telemetry.Endpoints{Name: endpointOf, Fail: refuseOrPage, Headers: setHeaders}),
		originPolicy,
		negotiateEncoding,
		cache.Record,
		compress,
		cfg.Authenticate,
		byCookie,
		caller.Middleware(cfg.Proxies),
		requireValidToken(cfg.RequireValidToken),
	), nil
}

// cookiesCount reports whether the cookie of a session counts: on the pages and /graphql, never on /api.
func cookiesCount(r *http.Request) bool { return endpointOf(r) != telemetry.REST }

const graphQLPath = "/graphql"

// pageImports begins the paths of /api/imports for the page of imports, because the cookie of a session counts there.
const pageImports = "/import/files"

// interfacePages has the page that a browser is redirected to from the path of an interface.
var interfacePages = map[string]string{graphQLPath: "/playground", "/api": "/api/docs", "/api/": "/api/docs"}

// isHealth reports whether a request is a health probe. Probes are not rate-limited, because they may share the
// address of a busy proxy.
func isHealth(r *http.Request) bool {
	return r.URL.Path == "/livez" || r.URL.Path == "/healthz" || r.URL.Path == "/readyz"
}

// endpointOf returns the endpoint of a request. It does not use net/http's mux, which would redirect unclean paths
// under /api instead of answering with an envelope.
func endpointOf(r *http.Request) string {
	switch {
	case r.URL.Path == graphQLPath:
		return telemetry.GraphQL
	case r.URL.Path == "/api/docs" || strings.HasPrefix(r.URL.Path, "/api/docs/"):
		return telemetry.Other
	case r.URL.Path == "/api" || r.URL.Path == "/sitemap.xml" || strings.HasPrefix(r.URL.Path, "/api/"): // rest.New has these routes
		return telemetry.REST
	}
	return telemetry.Other
}

// otherRoutes returns the routes outside /graphql and /api.
func otherRoutes(observer *telemetry.Observer, pages http.Handler) *http.ServeMux {
	mux := http.NewServeMux()
	mux.Handle("/", pages)
	mux.HandleFunc("GET /livez", telemetry.Livez)
	mux.HandleFunc("GET /healthz", telemetry.Livez)
	mux.HandleFunc("GET /readyz", observer.Readyz)
	return mux
}

// operatorRoutes returns the routes of the operators' address: health, metrics and profiles.
func operatorRoutes(observer *telemetry.Observer) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", telemetry.Livez)
	mux.HandleFunc("GET /healthz", telemetry.Livez)
	mux.HandleFunc("GET /readyz", observer.Readyz)
	mux.Handle("GET /metrics", observer.Metrics())
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

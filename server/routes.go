package server

import (
	"context"
	"errors"
	"net/http"
	"net/http/pprof"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"library-catalogue/edge/admission"
	"library-catalogue/edge/caller"
	"library-catalogue/edge/live"
	"library-catalogue/edge/pipeline"
	"library-catalogue/edge/ratelimit"
	"library-catalogue/edge/respcache"
	"library-catalogue/edge/telemetry"
	"library-catalogue/graph"
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

// service is a handler with the limits that its requests need.
type service int

const (
	operations  service = iota // GraphQL over HTTP
	sockets                    // GraphQL over WebSocket
	api                        // REST without the upload of files
	uploads                    // files to import
	pageUploads                // files to import, from the pages
	probes                     // health probes
	others                     // pages, forms, documents, SRU
)

// route is a path of the public address. One that ends with a slash stands for all paths below it too.
type route struct {
	path     string
	endpoint string // in metrics; it also decides the format of errors and whether the cookie of a session counts
	service  service
}

// routes lists the public address. The first match counts, and the last one serves what is left. It is no mux of
// net/http, which would redirect unclean paths under /api instead of answering with an envelope.
var routes = []route{
	{"/graphql", telemetry.GraphQL, operations},
	{"/api/docs/", telemetry.Other, others},
	{"/api/imports/", telemetry.REST, uploads},
	{"/api/", telemetry.REST, api},
	{"/sitemap.xml", telemetry.REST, api},
	{"/import/files/", telemetry.Other, pageUploads},
	{"/livez", telemetry.Other, probes},
	{"/healthz", telemetry.Other, probes},
	{"/readyz", telemetry.Other, probes},
	{"/", telemetry.Other, others},
}

// routeOf returns the route of a request.
func routeOf(r *http.Request) route {
	for _, route := range routes {
		base, isTree := strings.CutSuffix(route.path, "/")
		below, matches := strings.CutPrefix(r.URL.Path, base)
		if matches && (below == "" || isTree && below[0] == '/') {
			return route
		}
	}
	return routes[len(routes)-1]
}

// endpointOf returns the endpoint of a request.
func endpointOf(r *http.Request) string { return routeOf(r).endpoint }

// cookiesCount reports whether the cookie of a session counts: on the pages and /graphql, never on /api.
func cookiesCount(r *http.Request) bool { return endpointOf(r) != telemetry.REST }

// newRoutes returns the handler of the public address, and the hub of its live queries.
func newRoutes(
	cfg Config, admissions *admission.Controller, files *imports.Imports,
) (http.Handler, *live.Hub, error) {
	cache := respcache.New(cfg.CacheBytes)
	if cache != nil {
		if err := cfg.Observer.Register(cache); err != nil {
			return nil, nil, err
		}
	}
	compress, err := newCompress(gzip.DefaultCompression, zstd.SpeedFastest)
	compressOnce, errOnce := newCompress(gzip.BestCompression, zstd.SpeedBestCompression)
	if err := errors.Join(err, errOnce); err != nil {
		return nil, nil, err
	}
	rate := ratelimit.New(cfg.Rate)
	setHeaders := headersWith(cfg.Cookies)
	limits := cfg.GraphQL.Limits.OrDefault()
	run := &pipeline.Pipeline{Catalogue: cfg.Catalogue, Cache: cache, Admission: admissions, Timeout: cfg.Timeout}
	hub := live.NewHub(cfg.Observer.Reporting(context.Background()), run, cfg.Catalogue.Follow)
	graphQL := graphqlhttp.New(graphqlhttp.Config{
		Catalogue: cfg.Catalogue, Options: cfg.GraphQL, Pipeline: run, Live: hub, Streams: cfg.Streams,
		Observer: cfg.Observer, Logger: cfg.Logger,
	})
	pages, err := web.New(web.Config{
		Query: graphQL.Query, Cache: cache.Middleware(cfg.Catalogue.Revision), Logger: cfg.Logger, Login: cfg.Login,
		Off:      cfg.NoPages,
		Accounts: cfg.Accounts, Webhooks: cfg.Webhooks,
		PublicURL: cfg.PublicURL, Covers: cfg.Covers, NoRobots: cfg.NoRobots, PlaygroundCDN: cfg.PlaygroundCDN,
		Encodings: imports.Encodings, ReadValue: imports.ReadValue, Lookup: cfg.Lookup,
		Constant: func(handler http.Handler) http.Handler { return static(compressOnce, newPage(handler, "")) },
	})
	if err != nil {
		return nil, nil, err
	}
	refuseOrPage := refuseWith(pages)
	originPolicy, err := crossOrigin(cfg.Origins, cfg.PublicURL, cfg.Credentials, cfg.Logger, refuseOrPage)
	if err != nil {
		return nil, nil, err
	}

	mux := http.NewServeMux()
	routeHealth(mux, cfg.Observer)
	mux.Handle("/", pages)
	mux.Handle("GET /openapi.yaml", static(compressOnce, document("application/yaml", rest.OpenAPI))) // RFC 9512
	mux.Handle("GET /openapi.json", static(compressOnce, document("application/json", rest.OpenAPIJSON)))
	// No media type is registered for SDL. Browsers show plain text.
	schema := static(compressOnce, document("text/plain; charset=utf-8", graph.SDL()))
	mux.HandleFunc("GET /schema.graphql", func(w http.ResponseWriter, r *http.Request) {
		if !cfg.GraphQL.Introspection.Allows(r.Context()) {
			pages.ServeHTTP(w, r) // as an unknown path
			return
		}
		schema.ServeHTTP(w, r)
	})
	if cfg.SRU {
		catalogue := sru.Handler{Query: graphQL.Query, PublicURL: cfg.PublicURL}
		mux.Handle("GET "+sru.Path, catalogue)
		mux.Handle("POST "+sru.Path, catalogue)
	}
	byCookie := func(next http.Handler) http.Handler { return next }
	if cfg.Accounts != nil {
		signIn := accounthttp.Handler{Service: cfg.Accounts, Cookies: cfg.Cookies, Webhooks: cfg.Webhooks,
			Refuse: pages.RefuseForm}
		signIn.Route(mux)
		byCookie = cfg.Cookies.Middleware(cookiesCount, refuseOrPage)
		cfg.REST.Accounts = cfg.Accounts
	}
	cfg.REST.Lookup = cfg.Lookup
	cfg.REST.Pipeline, cfg.REST.Live, cfg.REST.Routes = run, hub, files.Routes()
	if !cfg.NoPages {
		cfg.REST.PublicURL = cfg.PublicURL
	}
	lists := recordRoute(rest.New(cfg.Catalogue, cfg.REST))
	bodyLimit := admissions.Bodies(max(limits.Body, rest.MaxBodyBytes))

	// Each service has its own middleware, outermost first.
	services := [...]http.Handler{
		operations: chain(graphQL, rate.Middleware(limits.Body, refuse), bodyLimit),
		sockets:    chain(newSockets(cfg, graphQL, rate, setHeaders), rate.Middleware(0, refuse)),
		api:        chain(lists, rate.Middleware(rest.MaxBodyBytes, refuse), bodyLimit),
		// without bodyLimit, because files go to disk
		uploads: chain(lists, rate.Middleware(rest.MaxBodyBytes, refuse), admission.BodyTimeout(fileTimeout)),
		probes:  recordRoute(mux), // without a rate limit, because they may share the address of a busy proxy
		others: chain(recordRoute(mux),
			rate.Middleware(max(accounthttp.MaxBodyBytes, sru.MaxBodyBytes), refuseOrPage),
			withDeadline(cfg.Timeout),
		),
	}
	services[pageUploads] = services[others]
	if cfg.Accounts != nil {
		services[pageUploads] = underAPI(services[uploads])
	}
	byPath := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := routeOf(r).service
		if to == operations && socket.IsUpgrade(r) {
			to = sockets
		}
		services[to].ServeHTTP(w, r)
	})

	// Middleware of every request, outermost first.
	return chain(byPath,
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
		redirectBrowsers,
	), hub, nil
}

// newSockets returns the handler of WebSockets, with the middleware of their connections and operations.
func newSockets(
	cfg Config, graphQL *graphqlhttp.Handler, rate *ratelimit.Limiter, setHeaders func(*http.Request, http.Header, int),
) http.Handler {
	return socket.New(socket.Config{
		Executor: graphQL, Streams: cfg.Streams,
		Authenticate: func(next http.Handler) http.Handler {
			return chain(next, cfg.Authenticate, caller.Middleware(cfg.Proxies), rate.Attach)
		},
		Operation: func(next http.Handler, refuse refusal) http.Handler {
			return chain(next,
				cfg.Observer.Middleware(telemetry.Endpoints{Name: endpointOf, Fail: refuse, Headers: setHeaders}),
				rate.Middleware(0, refuse), // the socket has charged for the bytes
			)
		},
	})
}

// interfacePages has the page that a browser is redirected to from the path of an interface.
var interfacePages = map[string]string{"/graphql": "/playground", "/api": "/api/docs", "/api/": "/api/docs"}

// redirectBrowsers redirects navigations of browsers from interfaces to their pages.
func redirectBrowsers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if page, ok := interfacePages[r.URL.RequestURI()]; ok {
			w.Header().Add("Vary", "Accept")
			if web.WantsPage(r) {
				http.Redirect(w, r, page, http.StatusFound)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// underAPI serves the paths under /import/files like those under /api/imports, where the cookie does not count.
func underAPI(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.Clone(r.Context())
		r.URL.Path = "/api/imports" + strings.TrimPrefix(r.URL.Path, "/import/files")
		next.ServeHTTP(w, r)
	})
}

// routeHealth adds the routes of health probes.
func routeHealth(mux *http.ServeMux, observer *telemetry.Observer) {
	mux.HandleFunc("GET /livez", telemetry.Livez)
	mux.HandleFunc("GET /healthz", telemetry.Livez)
	mux.HandleFunc("GET /readyz", observer.Readyz)
}

// operatorRoutes returns the routes of the operators' address: health, metrics and profiles.
func operatorRoutes(observer *telemetry.Observer) http.Handler {
	mux := http.NewServeMux()
	routeHealth(mux, observer)
	mux.Handle("GET /metrics", observer.Metrics())
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

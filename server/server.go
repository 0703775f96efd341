// Package server is the HTTP server around both faces: the GraphQL transport,
// who is asking, limits, health, and what goes with every answer. It holds no
// rule of the catalogue.
package server

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/playground"
	"github.com/klauspost/compress/gzhttp"

	"library-catalogue/graph/model"
	"library-catalogue/graph/plan"
	"library-catalogue/rest"
	"library-catalogue/server/graphqlhttp"
)

// Catalogue is what the server answers for.
type Catalogue interface {
	rest.Catalogue
	plan.Source
	// WithLoaders gives a request its own batches.
	WithLoaders(context.Context) context.Context
	// Revision tells where the catalogue stands: as of a moment after WithLoaders.
	Revision(context.Context) (model.Revision, error)
}

// Config is what a server is made of.
type Config struct {
	Catalogue    Catalogue
	Authenticate func(http.Handler) http.Handler // puts a model.Principal into the context
	Observer     *Observer                       // nil: one that nobody asks
	GraphQL      graphqlhttp.Options
	REST         rest.Options
	CacheBytes   int            // of whole answers that are kept; 0: none
	Origins      []string       // of web pages elsewhere that may use the service, as ParseOrigins gives them
	Rate         Rate           // of each caller
	Proxies      []netip.Prefix // whose word on the address of a client is taken, as ParseProxies gives them
}

// Timeouts of a server.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 15 * time.Second
	writeTimeout      = 60 * time.Second
	idleTimeout       = 2 * time.Minute
	maxHeaderBytes    = 64 << 10
	// requestTimeout bounds the wait for work to begin.
	requestTimeout = 30 * time.Second
)

// New makes the server. Its address and its life are the caller's.
func New(cfg Config) *http.Server {
	return listening(Handler(cfg), writeTimeout)
}

// listening makes a server that slow clients cannot hold up.
func listening(handler http.Handler, writeTimeout time.Duration) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(slog.Default().Handler(), slog.LevelWarn),
	}
}

const graphQLPath = "/graphql"

// Handler makes what answers the requests.
func Handler(cfg Config) http.Handler {
	answers, err := newCache(cfg.Catalogue, cfg.CacheBytes)
	if err != nil {
		panic(err) // the options are wrong
	}
	limits := cfg.GraphQL.Limits.OrDefault()
	admission := newAdmission(int64(limits.Cost))
	limiter := newLimiter(cfg.Rate, cfg.Proxies)
	api := limiter.limit(cached(answers, admission.api(rest.New(cfg.Catalogue, cfg.REST))))
	observer := cfg.Observer
	if observer == nil {
		observer = NewObserver(ObserverConfig{})
	}
	if answers != nil {
		observer.metrics.cache(answers)
	}
	var extensions []graphql.HandlerExtension
	if observer.tracing != nil {
		extensions = append(extensions, operationSpans{observer.tracing})
	}
	operations, err := graphqlhttp.New(graphqlhttp.Config{
		Catalogue: cfg.Catalogue, Options: cfg.GraphQL, Operations: observer.names, Extensions: extensions,
		Admit: admission.enter, AdmitParsing: admission.turns.take, ReleaseBody: leaveTurn,
		Charge: charge, ChargeCost: chargeCost,
		Cached: func(w http.ResponseWriter, r *http.Request, key func() []string, answer func(http.ResponseWriter) bool) {
			answers.serve(w, r, func() cacheKey { return keyOf(key()...) }, answer)
		},
	})
	if err != nil {
		panic(err) // the options are constants
	}
	graphQL := limiter.limit(plainBody(operations))
	mux := http.NewServeMux()
	mux.HandleFunc("GET /playground", playground.Handler("Library Catalogue", graphQLPath))
	mux.HandleFunc("GET /openapi.yaml", openAPI())
	observer.health.routes(mux)

	// net/http's mux redirects unclean paths by itself; under /api every answer
	// is an envelope, so it is not asked there.
	faces := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch faceOf(r) {
		case faceGraphQL:
			graphQL.ServeHTTP(w, r)
		case faceREST:
			api.ServeHTTP(w, r)
		default:
			mux.ServeHTTP(w, r)
			nameByPattern(r)
		}
	})
	compress, err := gzhttp.NewWrapper(gzhttp.SuffixETag("-gzip"))
	if err != nil {
		panic(err) // the options are constants
	}
	bodies := newBodies(limits.Body, admission)
	return observer.around(cfg.Catalogue.WithLoaders, crossOrigin(cfg.Origins, compress(cfg.Authenticate(bodies.bound(faces)))))
}

// cached puts the cache before the reads of /api.
func cached(answers *cache, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !reads(r.Method) {
			next.ServeHTTP(w, r)
			return
		}
		key := func() cacheKey { return keyOf("rest", r.URL.EscapedPath(), r.URL.RawQuery) }
		answers.serve(w, r, key, func(w http.ResponseWriter) bool {
			next.ServeHTTP(w, r)
			return true
		})
	})
}

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
	"library-catalogue/server/admission"
	"library-catalogue/server/graphqlhttp"
	"library-catalogue/server/ratelimit"
	"library-catalogue/server/respcache"
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
	Rate         ratelimit.Rate // of each caller
	Proxies      []netip.Prefix // whose word on the address of a client is taken, as ratelimit.ParseProxies returns them
}

// Timeouts of a server.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 15 * time.Second
	writeTimeout      = 60 * time.Second
	idleTimeout       = 2 * time.Minute
	// maxHeaderBytes is twice as much as credentials may have: longer ones are refused
	// by auth, and to read them takes time before anybody is asked to pay.
	maxHeaderBytes = 16 << 10
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
	answers, err := respcache.New(cfg.Catalogue, cfg.CacheBytes)
	if err != nil {
		panic(err) // the options are wrong
	}
	limiter, err := ratelimit.New(cfg.Rate, cfg.Proxies)
	if err != nil {
		panic(err) // the options are constants
	}
	limits := cfg.GraphQL.Limits.OrDefault()
	work := admission.New(limits.Cost, requestTimeout)
	bodies := work.Bodies(max(limits.Body, rest.MaxBody))
	api := bodies.Middleware(rest.MaxBody)(limiter.Middleware(rest.MaxBody, refuse)(answers.Middleware(admitted(work, rest.New(cfg.Catalogue, cfg.REST)))))
	observer := cfg.Observer
	if observer == nil {
		observer = NewObserver(ObserverConfig{})
	}
	if answers != nil {
		observer.metrics.registry.MustRegister(answers)
	}
	var extensions []graphql.HandlerExtension
	if observer.tracing != nil {
		extensions = append(extensions, operationSpans{observer.tracing})
	}
	operations, err := graphqlhttp.New(graphqlhttp.Config{
		Catalogue: cfg.Catalogue, Options: cfg.GraphQL, Cache: answers, Admission: work, Logger: slog.Default(),
		Operations: observer.names, Extensions: extensions,
	})
	if err != nil {
		panic(err) // the options are constants
	}
	graphQL := bodies.Middleware(limits.Body)(limiter.Middleware(limits.Body, refuse)(operations))
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
	return observer.around(cfg.Catalogue.WithLoaders, crossOrigin(cfg.Origins, compress(cfg.Authenticate(faces))))
}

// paid reports whether a charge was paid, and else answers that it was not.
func paid(w http.ResponseWriter, r *http.Request, err error) bool {
	if err != nil {
		refuse(w, r, err)
	}
	return err == nil
}

// admitted charges requests under /api by their cost, and lets them begin when
// there is room, until they are answered. A whole list has turns of its own there.
func admitted(work *admission.Controller, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		cost, streamed := rest.Cost(r)
		if !paid(w, r, ratelimit.ChargeCost(w, r, cost)) {
			return
		}
		if streamed {
			next.ServeHTTP(w, r)
			return
		}
		release, err := work.Acquire(r.Context(), cost)
		if err != nil {
			refuse(w, r, err)
			return
		}
		defer release()
		next.ServeHTTP(admission.ReleaseOnAnswer(w, release), r)
	})
}

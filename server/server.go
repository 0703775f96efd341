// Package server puts the HTTP server together: its routes, its middleware and its
// timeouts. It holds no rule of the catalogue.
package server

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"library-catalogue/graph"
	"library-catalogue/graph/cost"
	"library-catalogue/rest"
	"library-catalogue/server/admission"
	"library-catalogue/server/graphqlhttp"
	"library-catalogue/server/imports"
	"library-catalogue/server/pipeline"
	"library-catalogue/server/ratelimit"
	"library-catalogue/server/telemetry"
	"library-catalogue/web"
)

// Catalogue is what the server answers for.
type Catalogue interface {
	rest.Catalogue
	graph.Source
	imports.Catalogue
	pipeline.Catalogue
}

// Config is what a server is made of.
type Config struct {
	Logger       *slog.Logger // nil: nothing is logged
	Catalogue    Catalogue
	Connections  int                             // to the database of the catalogue; 0: 16
	Authenticate func(http.Handler) http.Handler // puts a model.Principal into the context
	// RequireValidToken refuses requests with a token that is not accepted, also where
	// they need none.
	RequireValidToken bool
	Observer          *telemetry.Observer // nil: one that nobody asks
	GraphQL           graphqlhttp.Options
	REST              rest.Options
	ImportBytes       int64          // that a file to import may have; 0: 64 MiB
	Login             *Login         // how people log in at the pages; nil: they give a token
	NoPages           bool           // / answers links to the interfaces in place of pages
	CacheBytes        int            // of whole answers that are cached; 0: none
	Origins           []string       // of web pages elsewhere that may use the service, as ParseOrigins returns them
	Credentials       bool           // pages of these origins may send credentials
	Rate              ratelimit.Rate // of each caller
	Timeout           time.Duration  // of the work on a request; 0: 30 seconds
	Proxies           []netip.Prefix // whose word on the address of a client is taken, as caller.ParseProxies returns them
}

// Login is how people log in at the pages.
type Login = web.Login

// Bounds by which slow clients cannot hold a server up. Those of other bodies and of
// connections are in package admission.
const (
	// readHeaderTimeout is enough for headers of 16 KiB at 8 KiB a second, and for a
	// packet that is lost on the way.
	readHeaderTimeout = 5 * time.Second
	// idleTimeout is longer than the minute for which proxies keep idle connections as a
	// rule: they close them, and lose no request on one that is closed here.
	idleTimeout = 2 * time.Minute
	// requestTimeout bounds the work on a request that was read, the wait for it
	// included. What is asked of the database ends with it. It is half of the minute after
	// which proxies give up as a rule.
	requestTimeout = 30 * time.Second
	// fileTimeout bounds the time for a file to import to arrive: 64 MiB at 110 KiB a second.
	fileTimeout = 10 * time.Minute
	// maxHeaderBytes is twice as much as credentials may have: longer ones are
	// refused by auth, and to read them takes time before their caller's rate is
	// known.
	maxHeaderBytes = 16 << 10
)

// New returns the server for everybody, for an admission.Listener. Its address and its
// life are the caller's.
func New(cfg Config) (*http.Server, error) {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Observer == nil {
		cfg.Observer = telemetry.New(telemetry.Config{Logger: cfg.Logger})
	}
	cfg.Connections = cmp.Or(cfg.Connections, 16)
	cfg.Timeout = cmp.Or(cfg.Timeout, requestTimeout)
	cfg.REST.Logger = cfg.Logger
	admissions := admission.New(cfg.Connections)
	admitImport := func(ctx context.Context, price int64) (func(), error) {
		return admissions.Acquire(ctx, cost.Estimate{Total: price})
	}
	files := imports.New(imports.Config{Catalogue: cfg.Catalogue, Admit: admitImport, MaxBytes: cfg.ImportBytes, Logger: cfg.Logger})
	routes, err := newRoutes(cfg, admissions, files)
	if err != nil {
		return nil, err
	}
	srv := newServer(routes, cfg.Logger)
	srv.RegisterOnShutdown(files.Close)
	return srv, nil
}

// NewOperators returns the server of the operators' address, which is not for
// everybody.
func NewOperators(observer *telemetry.Observer, log *slog.Logger) *http.Server {
	return newServer(operatorRoutes(observer), log)
}

func newServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// Package server assembles the HTTP server: routes, middleware and timeouts. It has no rules of the catalogue.
package server

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"library-catalogue/accounts"
	"library-catalogue/edge/admission"
	"library-catalogue/edge/auth"
	"library-catalogue/edge/eventstream"
	"library-catalogue/edge/live"
	"library-catalogue/edge/pipeline"
	"library-catalogue/edge/ratelimit"
	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/cost"
	"library-catalogue/rest"
	"library-catalogue/server/accounthttp"
	"library-catalogue/server/graphqlhttp"
	"library-catalogue/server/imports"
	"library-catalogue/task"
	"library-catalogue/web"
)

// Catalogue is the application that the server serves.
type Catalogue interface {
	rest.Catalogue
	graphqlhttp.Catalogue
	imports.Catalogue
	pipeline.Catalogue
}

// Config configures a server.
type Config struct {
	Logger       *slog.Logger // nil: no log
	Catalogue    Catalogue
	Connections  int                             // maximum database connections; 0: 16
	Authenticate func(http.Handler) http.Handler // puts a model.Caller into the context
	// RequireValidToken refuses all requests with an invalid token, even those that need no token.
	RequireValidToken bool
	Observer          *telemetry.Observer // nil: a new one
	GraphQL           graphqlhttp.Options
	REST              rest.Options
	ImportBytes       int64                // maximum size of an uploaded file; 0: 64 MiB
	Accounts          *accounts.Service    // accounts that sign in; nil: none
	Webhooks          accounthttp.Webhooks // use cases, for the page of admins; nil: not shown
	Cookies           *auth.Cookies        // cookies of their sessions
	Login             *Login               // OpenID login of the pages; nil: users enter a token
	PublicURL         string               // origin of absolute addresses, from ParsePublicURL; empty: none
	Covers            Covers               // of the pages, from ParseCovers
	NoRobots          bool                 // robots.txt disallows all
	PlaygroundCDN     bool                 // browsers may load GraphiQL from a CDN
	SRU               bool                 // serve SRU at /sru
	Lookup            bool                 // serve /api/lookup
	NoPages           bool                 // / responds with links to the interfaces instead of pages
	CacheBytes        int                  // size of the response cache; 0: no cache
	Origins           []string             // other web origins that may use the service, from ParseOrigins
	Credentials       bool                 // pages of these origins may send credentials
	Rate              ratelimit.Rate       // limit per caller
	Timeout           time.Duration        // limit of a request's work; 0: 30 seconds
	Proxies           []netip.Prefix       // trusted proxies, from caller.ParseProxies
	Streams           *eventstream.Streams // nil: a new one
}

// Login configures the OpenID login of the pages.
type Login = web.Login

// Covers are pictures of books that browsers load from other hosts.
type Covers = web.Covers

// ParseCovers parses the setting of covers.
func ParseCovers(setting string) (Covers, error) { return web.ParseCovers(setting) }

// Limits against slow clients. Package admission limits bodies and connections.
const (
	// readHeaderTimeout allows 16 KiB at 8 KiB/s and a lost packet.
	readHeaderTimeout = 5 * time.Second
	// idleTimeout is longer than the usual minute of proxies, so that the proxy closes idle connections and never
	// sends a request on one that is closing.
	idleTimeout = 2 * time.Minute
	// requestTimeout limits the work on a request, including its wait in a queue. It cancels SQL statements. It is
	// half of the usual timeout of proxies.
	requestTimeout = 30 * time.Second
	// fileTimeout limits the upload of a file to import: 64 MiB at 110 KiB/s.
	fileTimeout = 10 * time.Minute
	// maxHeaderBytes is twice the maximum size of credentials. Larger headers would cost time before the caller's
	// rate limit applies.
	maxHeaderBytes = 16 << 10
)

// Server is the public server.
type Server struct {
	*http.Server
	Streams *eventstream.Streams
	live    *live.Hub
}

// Shutdown stops the server like http.Server.Shutdown. It ends streams and WebSockets, and waits for them.
func (s *Server) Shutdown(ctx context.Context) error {
	streams := task.Go(ctx, func() error {
		err := s.Streams.Shutdown(ctx)
		if err == nil && s.live != nil { // a test may have none
			s.live.Wait()
		}
		return err
	})
	err := s.Server.Shutdown(ctx)
	return cmp.Or(err, <-streams)
}

// New returns the public server. Serve it on an admission.Listener.
func New(cfg Config) (*Server, error) {
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
	files := imports.New(imports.Config{Catalogue: cfg.Catalogue, Admit: admitImport, Lookup: cfg.Lookup,
		MaxBytes: cfg.ImportBytes, Logger: cfg.Logger})
	cfg.Streams = cmp.Or(cfg.Streams, eventstream.New(eventstream.DefaultMax))
	cfg.REST.Streams = cfg.Streams
	routes, hub, err := newRoutes(cfg, admissions, files)
	if err != nil {
		return nil, err
	}
	srv := newServer(routes, cfg.Logger)
	srv.ConnContext = admission.ConnContext
	srv.RegisterOnShutdown(files.Close)
	return &Server{srv, cfg.Streams, hub}, nil
}

// NewOperators returns the server of the operators' address. It must not be public.
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

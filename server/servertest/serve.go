package servertest

import (
	"context"
	"log/slog"
	"net/http"
	"testing"
	"time"

	"library-catalogue/accounts"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/edge/auth"
	"library-catalogue/edge/caller"
	"library-catalogue/edge/telemetry"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/graphqlhttp"
	"library-catalogue/webhooks"
)

// ServeCached is Serve with a cache of so many bytes, and Shelves.
func ServeCached(t *testing.T, url string, bytes int) *Client {
	t.Helper()
	c := Serve(t, url)
	c.Shelves(t)
	c.Reconfigure(t, server.Config{CacheBytes: bytes})
	return c
}

// Reconfigure replaces the server, not its database. cfg gets the client's catalogue, tokens
// and log where it has none.
func (c *Client) Reconfigure(t testing.TB, cfg server.Config) {
	t.Helper()
	if cfg.Catalogue == nil {
		cfg.Catalogue = c.Catalogue
	}
	if cfg.Authenticate == nil {
		cfg.Authenticate = c.Authenticate
	}
	c.Handler = NewHandler(t, c.Log, cfg)
}

// CachedHandler returns a handler with a cache, which takes any token and logs nothing.
func CachedHandler(t testing.TB, catalogue server.Catalogue) http.Handler {
	return NewHandler(t, &Log{}, server.Config{
		Logger:       slog.New(slog.DiscardHandler),
		Catalogue:    catalogue,
		Authenticate: func(next http.Handler) http.Handler { return next },
		CacheBytes:   8 << 20,
	})
}

// Serve returns a client of a server without a cache on the database at url.
// change replaces the resolvers by another catalogue.
func Serve(t testing.TB, url string, change ...func(*resolvers.Resolver) server.Catalogue) *Client {
	t.Helper()
	c := &Client{URL: url, Store: catalogtest.Open(t, url), Token: TokenOf(t, "tester"), Log: &Log{}}
	verifier, err := auth.New(t.Context(), auth.Config{Secret: Secret})
	Must(t, err)
	c.Catalogue, c.Authenticate = resolvers.New(c.Store), verifier.Middleware
	for _, change := range change {
		c.Catalogue = change(resolvers.New(c.Store))
	}
	c.Reconfigure(t, server.Config{
		Observer: telemetry.New(telemetry.Config{Logger: c.Log.Logger(), Checks: c.Store.Checks}),
		GraphQL:  graphqlhttp.Options{Introspection: graphqlhttp.IntrospectionOn},
	})
	return c
}

// OnEach runs a parallel test on each engine, with a client of Serve after Shelves.
func OnEach(t *testing.T, run func(t *testing.T, c *Client)) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := Serve(t, url)
		c.Shelves(t)
		run(t, c)
	})
}

// Shelved makes a test parallel, and returns a client of Serve on SQLite after Shelves.
func Shelved(t *testing.T) *Client {
	t.Helper()
	t.Parallel()
	c := Serve(t, catalogtest.SQLite(t))
	c.Shelves(t)
	return c
}

// NewHandler returns a server's handler. The server logs to l and stops after the test.
func NewHandler(t testing.TB, l *Log, cfg server.Config) http.Handler {
	t.Helper()
	if cfg.Logger == nil {
		cfg.Logger = l.Logger()
	}
	if cfg.Observer == nil {
		cfg.Observer = telemetry.New(telemetry.Config{Logger: cfg.Logger})
	}
	srv, err := server.New(cfg)
	Must(t, err)
	t.Cleanup(func() { _ = srv.Shutdown(context.Background()) })
	return srv.Handler
}

// ServeWith is Serve on SQLite with further settings.
func ServeWith(t *testing.T, change func(*server.Config)) *Client {
	t.Helper()
	c := Serve(t, catalogtest.SQLite(t))
	cfg := server.Config{Catalogue: c.Catalogue, Authenticate: c.Authenticate}
	change(&cfg)
	c.Reconfigure(t, cfg)
	return c
}

// ServeAccounts is Serve with accounts. It returns their service too.
func ServeAccounts(t *testing.T, url string, change ...func(*server.Config)) (*Client, *accounts.Service) {
	t.Helper()
	return ServeAccountsWith(t, url, time.Now, auth.Config{Secret: Secret}, change...)
}

// ServeAccountsWith is ServeAccounts with the clock of accounts, and other keys of tokens.
func ServeAccountsWith(
	t *testing.T, url string, now func() time.Time, keys auth.Config, change ...func(*server.Config),
) (*Client, *accounts.Service) {
	t.Helper()
	c := Serve(t, url)
	people := accounts.New(c.Store.Accounts, now, caller.Network)
	c.Catalogue.(*resolvers.Resolver).Accounts = people
	keys.Accounts = people
	verifier, err := auth.New(t.Context(), keys)
	Must(t, err)
	cookies, err := verifier.Cookies("", false)
	Must(t, err)
	c.Authenticate = verifier.Middleware
	hooks := &webhooks.Manager{Store: c.Store.Webhooks, Client: webhooks.NewClient(false)}
	cfg := server.Config{Accounts: people, Cookies: cookies, Webhooks: hooks}
	for _, change := range change {
		change(&cfg)
	}
	c.Reconfigure(t, cfg)
	return c, people
}

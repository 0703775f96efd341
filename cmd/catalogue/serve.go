package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"library-catalogue/db"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/rest"
	"library-catalogue/server"
	"library-catalogue/server/admission"
	"library-catalogue/server/auth"
)

// drainTimeout is how long requests under way may take after SIGTERM.
const drainTimeout = 30 * time.Second

// maxCacheMB is more than a machine has.
const maxCacheMB = 1 << 20

type serveCmd struct {
	addressFlags
	databaseFlags
	tokenFlags
	logFlags
	edgeFlags
	graphQLFlags
	operatorFlags

	CacheMB    int    `env:"CATALOGUE_CACHE_MB" default:"16" placeholder:"MB" help:"Megabytes of answers to keep in memory; they are given only while nothing has changed. 0 keeps none (default: ${default})."`
	Empty      bool   `env:"CATALOGUE_EMPTY" help:"Do not put the bundled books into a new catalogue.db."`
	OpenDelete bool   `env:"CATALOGUE_OPEN_DELETE" help:"Let DELETE under /api go without a token."`
	OnDelete   string `env:"CATALOGUE_ON_DELETE" enum:"restrict,cascade" default:"restrict" help:"What DELETE under /api does to a genre with books, or a category with genres: restrict refuses, cascade deletes them too (default: ${default})."`
}

// Run implements the command.
func (c *serveCmd) Run(ctx context.Context, command *kong.Context, io stdio) error {
	c.logFlags.install(io.err)
	switch {
	case c.CacheMB < 0 || c.CacheMB > maxCacheMB:
		return fmt.Errorf("the cache must have from 0 to %d MB: --cache-mb or CATALOGUE_CACHE_MB is %d", maxCacheMB, c.CacheMB)
	case c.SlowQuery < 0:
		return fmt.Errorf("a slow query must take some time, and 0 logs none: --slow-query or CATALOGUE_SLOW_QUERY is %s", c.SlowQuery)
	}
	tendMemory(ctx, c.CacheMB<<20)
	var cfg server.Config
	if err := c.edgeFlags.configure(&cfg, c.DatabaseURL == ""); err != nil {
		return err
	}
	if err := c.graphQLFlags.configure(&cfg, c.DatabaseURL == ""); err != nil {
		return err
	}
	tokens, err := c.tokenFlags.config(c.databaseFlags)
	if err != nil {
		return err
	}
	tokens.Scoped = c.RequireScopes
	verifier, err := auth.New(ctx, tokens)
	if err != nil {
		return err
	}
	store, err := c.databaseFlags.open(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	tracing, flush, err := trace(ctx, store)
	if err != nil {
		return err
	}
	defer flush()
	cfg.Observer = c.operatorFlags.observer(store, verifier, tracing)
	catalogue := resolvers.New(store)
	if c.DatabaseURL == "" && !c.Empty {
		if err := fill(ctx, store, catalogue); err != nil {
			return fmt.Errorf("load the bundled books: %w", err)
		}
	}
	forgetStart()
	listener, err := net.Listen("tcp", c.address())
	if err != nil {
		return fmt.Errorf("%w: choose another address with --addr", err)
	}
	stop, err := c.operatorFlags.listen(cfg.Observer)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer stop()
	cfg.Catalogue = catalogue
	cfg.Authenticate = verifier.Middleware
	cfg.CacheBytes = c.CacheMB << 20
	cfg.REST = rest.Options{OpenDelete: c.OpenDelete, Cascade: c.OnDelete == "cascade"}
	c.greet(io.out, "http://"+reachable(listener.Addr().String()), tokens, c.tokenCommand(command))
	go forgetAnswers(ctx, store)
	srv := server.New(cfg)
	return serve(ctx, srv, listener, c.MaxConnections)
}

// forgetStart gives back what only the start needed: goose reads each migration
// through 4 MB and keeps them in a sync.Pool, which lets go at the second
// collection. Garbage would be collected late for their sake.
func forgetStart() {
	runtime.GC()
	debug.FreeOSMemory()
}

// fill puts the bundled books into a catalogue in which nothing was ever
// written. A database that the user named is never filled.
func fill(ctx context.Context, store *db.Store, catalogue *resolvers.Resolver) error {
	written, err := store.Revision(ctx)
	if err != nil || written != (model.Revision{}) {
		return err
	}
	return loadShelf(ctx, catalogue)
}

// serve answers until ctx ends, and then lets the requests under way finish.
func serve(ctx context.Context, srv *http.Server, listener net.Listener, maxConnections int) error {
	failed := make(chan error, 1)
	go func() { failed <- admission.Serve(srv, listener, maxConnections) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	slog.Info("stopping")
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	if err := srv.Shutdown(drain); err != nil {
		return errors.Join(err, srv.Close())
	}
	return nil
}

// forgetAnswers deletes the answers kept under Idempotency-Keys when they are old.
func forgetAnswers(ctx context.Context, store *db.Store) {
	for tick := time.NewTicker(time.Hour); ; {
		if err := store.ForgetAnswers(ctx); err != nil && ctx.Err() == nil {
			slog.Warn("old answers could not be deleted", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// greet tells where the server is and what to try first. sign is the command that
// makes a token.
func (c *serveCmd) greet(w io.Writer, url string, tokens auth.Config, sign string) {
	slog.Info("listening", "url", url)
	if c.LogFormat == "json" {
		return
	}
	fmt.Fprintf(w, `
Library Catalogue is running. Ctrl-C stops it.

  GraphQL     %[1]s/graphql
  Playground  %[1]s/playground
  REST        %[1]s/api/books

Try it:
  curl -s %[1]s/api/books/1
  curl -s %[1]s/graphql -H 'Content-Type: application/json' -d '{"query":"{ books(first: 3) { nodes { name genre { name category { name } } } } }"}'

`, url)
	if tokens.Secret == nil {
		fmt.Fprintf(w, "Writes need a token of your issuer: -H \"Authorization: Bearer $TOKEN\"\n\n")
		return
	}
	fmt.Fprintf(w, "Writes need a token:\n  TOKEN=$(%s)\n  curl -s %s/api/categories -H \"Authorization: Bearer $TOKEN\" -H 'Content-Type: application/json' -d '{\"name\":\"Poetry\"}'\n\n",
		sign, url)
}

// tokenCommand is the command that makes a token for this server, with those of the
// server's flags that decide about tokens. A secret is left out.
func (c *serveCmd) tokenCommand(command *kong.Context) string {
	text := program() + " token"
	for _, flag := range command.Selected().Flags {
		value := flag.Target.String()
		switch flag.Name {
		case "database-url":
			if c.keys() != nil {
				continue // the key is not beside it
			}
		case "jwt-secret":
			value = flag.PlaceHolder
		case "jwt-secret-file", "jwt-issuer", "jwt-audience":
		default:
			continue
		}
		if sourceOf(command, flag) == "flag" {
			text += " --" + flag.Name + "='" + strings.ReplaceAll(value, "'", `'\''`) + "'"
		}
	}
	return text
}

// program is how the user called this program.
func program() string {
	if strings.Contains(filepath.ToSlash(os.Args[0]), "/go-build") {
		return "go run ./cmd/catalogue"
	}
	return os.Args[0]
}

// addressFlags say where the server listens.
type addressFlags struct {
	Addr string `env:"CATALOGUE_ADDR" placeholder:"HOST:PORT" help:"Address to listen on (default: 127.0.0.1:8080, or all addresses at $$PORT where that is set)."`
}

func (f addressFlags) address() string {
	if f.Addr != "" {
		return f.Addr
	}
	if port := os.Getenv("PORT"); port != "" {
		return ":" + port
	}
	return "127.0.0.1:8080"
}

// reachable gives the address under which this machine reaches a listener.
func reachable(address string) string {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

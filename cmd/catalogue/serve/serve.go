// Package serve is the command that runs the server, its settings, and the command that
// prints them.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"

	"github.com/alecthomas/kong"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/db"
	"library-catalogue/resolvers"
	"library-catalogue/rest"
	"library-catalogue/server"
	"library-catalogue/server/auth"
	"library-catalogue/server/telemetry"
)

const (
	// maxCacheMB is more than a machine has.
	maxCacheMB = 1 << 20

	// maxSpoolMB is more than a disk has.
	maxSpoolMB = 1 << 30
)

// Command is catalogue serve.
type Command struct {
	cli.AddressFlags
	cli.DatabaseFlags
	cli.TokenFlags
	logFlags
	accessFlags
	graphQLFlags
	operatorFlags
	stopFlags
	backupFlags

	DatabaseConnections int `env:"CATALOGUE_DATABASE_CONNECTIONS" placeholder:"N" help:"Connections to the database, on which the work that may be under way depends (default: 16; for SQLite 4 for each processor)."`

	CacheMB    int    `env:"CATALOGUE_CACHE_MB" default:"16" placeholder:"MB" help:"Megabytes of answers to keep in memory; they are given only while nothing has changed. 0 keeps none (default: ${default})."`
	SpoolMB    int    `env:"CATALOGUE_SPOOL_MB" default:"512" placeholder:"MB" help:"Megabytes of temporary files, compressed, for whole lists that clients read slowly (default: ${default})."`
	ImportMB   int    `env:"CATALOGUE_IMPORT_MB" default:"64" placeholder:"MB" help:"Megabytes of a file that is sent to /api/imports (default: ${default})."`
	Page       bool   `negatable:"" env:"CATALOGUE_PAGE" default:"true" help:"Show the catalogue's pages at / (default: ${default}); without them / answers links to the interfaces."`
	Empty      bool   `env:"CATALOGUE_EMPTY" xor:"sample" help:"Do not put the bundled books into a new catalogue.db."`
	Sample     bool   `env:"CATALOGUE_SAMPLE" xor:"sample" help:"Put the bundled books into any new database, not only into catalogue.db."`
	OpenDelete bool   `env:"CATALOGUE_OPEN_DELETE" help:"Let DELETE under /api go without a token."`
	OnDelete   string `env:"CATALOGUE_ON_DELETE" enum:"restrict,cascade" default:"restrict" help:"What DELETE under /api does to a genre with books, or a category with genres: restrict refuses, cascade deletes them too (default: ${default})."`
}

// setDefaults sets the flags whose defaults depend on the database: catalogue.db is for
// its user's own machine, any other for a service for others.
func (c *Command) setDefaults() {
	rate, wait := 100.0, defaultDrainWait
	if c.Embedded() {
		rate, wait = 0, 0
	}
	c.Rate = cmp.Or(c.Rate, &rate)
	c.DrainWait = cmp.Or(c.DrainWait, &wait)
	c.Introspection = cmp.Or(c.Introspection, strconv.FormatBool(c.Embedded()))
}

// Run implements the command.
func (c *Command) Run(ctx context.Context, command *kong.Context, std cli.Stdio, env cli.Getenv) error {
	c.setDefaults()
	log := slog.New(telemetry.LogHandler(c.Logger(std.Err, env).Handler()))
	switch {
	case c.CacheMB < 0 || c.CacheMB > maxCacheMB:
		return fmt.Errorf("the cache must have from 0 to %d MB: --cache-mb or CATALOGUE_CACHE_MB is %d", maxCacheMB, c.CacheMB)
	case c.SpoolMB < 1 || c.SpoolMB > maxSpoolMB:
		return fmt.Errorf("whole lists must have from 1 to %d MB of temporary files: --spool-mb or CATALOGUE_SPOOL_MB is %d", maxSpoolMB, c.SpoolMB)
	case c.ImportMB < 1 || c.ImportMB > maxSpoolMB:
		return fmt.Errorf("a file to import must have from 1 to %d MB: --import-mb or CATALOGUE_IMPORT_MB is %d", maxSpoolMB, c.ImportMB)
	case c.DatabaseConnections != 0 && c.DatabaseConnections < db.MinConnections:
		return fmt.Errorf("there must be at least %d connections to the database: --database-connections or CATALOGUE_DATABASE_CONNECTIONS is %d", db.MinConnections, c.DatabaseConnections)
	case c.SlowQuery < 0:
		return fmt.Errorf("a slow query must take some time, and 0 logs none: --slow-query or CATALOGUE_SLOW_QUERY is %s", c.SlowQuery)
	case *c.DrainWait < 0:
		return fmt.Errorf("a server waits for no less than 0s before it stops: --drain-wait or CATALOGUE_DRAIN_WAIT is %s", *c.DrainWait)
	}
	tuneGC(c.CacheMB<<20, env)
	var cfg server.Config
	if err := c.accessFlags.configure(&cfg); err != nil {
		return err
	}
	if err := c.graphQLFlags.configure(&cfg); err != nil {
		return err
	}
	rotation, err := c.backupFlags.rotation(c.DatabaseFlags)
	if err != nil {
		return err
	}
	tokens, err := c.TokenFlags.Config(c.DatabaseFlags)
	if err != nil {
		return err
	}
	tokens.Scoped, tokens.Logger = c.RequireScopes, log
	verifier, err := auth.New(ctx, tokens)
	if err != nil {
		return err
	}
	store, err := db.New(ctx, c.URL(), db.Options{Logger: log, Connections: c.DatabaseConnections})
	if err != nil {
		return err
	}
	defer store.Close()
	away, err := startStore(ctx, store, log)
	if err != nil {
		return err
	}
	tracing, flush, err := startTracing(ctx, store, log)
	if err != nil {
		return err
	}
	defer flush()
	cfg.Observer = c.operatorFlags.observer(store, verifier, tracing, log)
	catalogue := resolvers.New(store)
	if c.Sample || c.Embedded() && !c.Empty {
		if err := seedSample(ctx, store, catalogue); err != nil {
			return fmt.Errorf("load the bundled books: %w", err)
		}
	}
	freeStartupMemory()
	listener, err := net.Listen("tcp", c.Address(env))
	if err != nil {
		return fmt.Errorf("%w: choose another address with --addr", err)
	}
	stop, err := c.operatorFlags.listen(cfg.Observer, log)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer stop()
	cfg.Logger = log
	cfg.Catalogue = catalogue
	cfg.Connections = store.Connections()
	cfg.Authenticate = verifier.Middleware
	cfg.Login = c.login(verifier)
	cfg.NoPages = !c.Page
	cfg.ImportBytes = int64(c.ImportMB) << 20
	cfg.CacheBytes = c.CacheMB << 20
	cfg.REST = rest.Options{OpenDelete: c.OpenDelete, Cascade: c.OnDelete == "cascade", SpoolBytes: int64(c.SpoolMB) << 20}
	url := "http://" + cli.Reachable(listener.Addr().String())
	if c.LogFormat != "json" {
		c.printBanner(std.Out, url, tokens.Secret != nil, command)
	}
	log.Info("listening", "url", url)
	srv, err := server.New(cfg)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	go maintainStore(ctx, store, away, fail, log)
	if rotation != nil {
		store.Background(func(life context.Context) { backUp(life, rotation, log) })
	}
	running := &service{srv, listener, c.MaxConnections, cfg.Observer, *c.DrainWait, log}
	return errors.Join(running.run(ctx, secondSignal(ctx)), failure(ctx))
}

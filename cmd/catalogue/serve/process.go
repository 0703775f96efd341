package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/db"
	"library-catalogue/db/fault"
	"library-catalogue/db/sqlite"
	"library-catalogue/edge/auth"
	"library-catalogue/edge/telemetry"
	"library-catalogue/lookup"
	"library-catalogue/resolvers"
	"library-catalogue/rest"
	"library-catalogue/server"
	"library-catalogue/task"
	"library-catalogue/webhooks"
)

// process is a server from its settings to its end. Its steps set the fields.
type process struct {
	*Command
	std       cli.Stdio
	env       cli.Getenv
	log       *slog.Logger
	cfg       server.Config
	rotation  *sqlite.Rotation // nil: no backups
	sources   *lookup.Service  // nil: no look-ups
	tokens    auth.Config
	store     *db.Store
	away      bool // the database was unreachable at the start
	catalogue *resolvers.Resolver
	verifier  *auth.Verifier
	listener  net.Listener
	atEnd     []func() // run in reverse order
}

// Run implements the command. A signal that comes before the server is ready ends it without an error.
func (c *Command) Run(ctx context.Context, command *kong.Context, std cli.Stdio, env cli.Getenv) error {
	c.setDefaults()
	log := slog.New(telemetry.LogHandler(c.Logger(std.Err, env).Handler()))
	p := &process{Command: c, std: std, env: env, log: log}
	defer func() {
		for _, end := range slices.Backward(p.atEnd) {
			end()
		}
	}()
	ctx = task.WithReport(ctx, func(ctx context.Context, e *task.PanicError) { p.store.ReportPanic(ctx, e) })
	for _, step := range []func(context.Context) error{
		p.configure, p.openStore, p.authenticate, p.observe, p.startStore, p.seed, p.listen,
		func(ctx context.Context) error { return p.announce(ctx, command) },
	} {
		err := step(ctx)
		if err != nil && ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return p.serve(ctx)
}

// configure checks the settings, and sets what they alone decide.
func (p *process) configure(context.Context) (err error) {
	if err := p.checkRanges(); err != nil {
		return err
	}
	tuneGC(p.CacheMB<<20, p.MaxStreams, p.env)
	if err := p.accessFlags.configure(&p.cfg); err != nil {
		return err
	}
	if err := p.graphQLFlags.configure(&p.cfg); err != nil {
		return err
	}
	if p.cfg.PublicURL, err = server.ParsePublicURL(p.PublicURL); err != nil {
		return fmt.Errorf("--public-url or CATALOGUE_PUBLIC_URL: %w", err)
	}
	if p.cfg.Covers, err = server.ParseCovers(p.Covers); err != nil {
		return fmt.Errorf("--covers or CATALOGUE_COVERS: %w", err)
	}
	if p.sources, err = lookup.New(p.Lookup, p.cfg.PublicURL); err != nil {
		return fmt.Errorf("--lookup or CATALOGUE_LOOKUP: %w", err)
	}
	p.cfg.Lookup = p.sources != nil
	if p.rotation, err = p.backupFlags.rotation(p.DatabaseFlags); err != nil {
		return err
	}
	p.tokens, err = p.TokenFlags.Config(p.DatabaseFlags)
	if err != nil && (!errors.Is(err, cli.ErrNoKey) || p.Accounts == "off") {
		return err
	}
	p.tokens.Scoped, p.tokens.Logger = p.RequireScopes, p.log
	p.cfg.Logger = p.log
	p.cfg.NoRobots = !p.Robots
	p.cfg.NoPages = !p.Page
	p.cfg.SRU = p.SRU
	p.cfg.PlaygroundCDN = p.PlaygroundCDN
	p.cfg.ImportBytes = int64(p.ImportMB) << 20
	p.cfg.CacheBytes = p.CacheMB << 20
	p.cfg.REST = rest.Options{OpenDelete: p.OpenDelete, Cascade: p.OnDelete == "cascade"}
	return nil
}

// openStore opens the database, which may be unreachable.
func (p *process) openStore(ctx context.Context) (err error) {
	p.store, err = db.New(ctx, p.URL(), db.Options{
		Logger: p.log, MaxConns: p.DatabaseConnections, ReplicaURLs: strings.Fields(p.ReplicaURL),
		ReadWithoutPrimary: p.ReadWithoutPrimary, ReplicaMaxLag: p.ReplicaMaxLag,
	})
	if err != nil {
		return err
	}
	p.atEnd = append(p.atEnd, func() { _ = p.store.Close() })
	p.catalogue = resolvers.New(p.store)
	if p.sources != nil {
		p.catalogue.Sources = p.sources
	}
	p.cfg.Catalogue = p.catalogue
	p.cfg.Connections = p.store.Connections()
	p.cfg.Webhooks = &webhooks.Manager{Store: p.store.Webhooks, Client: webhooks.NewClient(p.WebhookPrivate)}
	return nil
}

// startStore starts the store. An unreachable database is not an error; maintain tries again.
func (p *process) startStore(ctx context.Context) error {
	err := p.store.Start(ctx)
	if p.away = fault.IsAway(err); p.away {
		p.log.Warn("the database is unreachable, and requests get 503 until it answers", "error", err)
		return nil
	}
	return err
}

// seed stores the bundled books in a new catalogue, if the settings ask for them.
func (p *process) seed(ctx context.Context) error {
	if p.Sample || p.Embedded() && !p.Empty {
		if err := seedSample(ctx, p.store, p.catalogue); err != nil {
			return fmt.Errorf("load the bundled books: %w", err)
		}
	}
	freeStartupMemory()
	return nil
}

// listen opens the addresses of clients and of operators.
func (p *process) listen(ctx context.Context) (err error) {
	if p.listener, err = net.Listen("tcp", p.Address(p.env)); err != nil {
		return fmt.Errorf("%w: choose another address with --addr", err)
	}
	p.atEnd = append(p.atEnd, func() { _ = p.listener.Close() })
	if p.store.InProcess() {
		addThreads(p.cfg.Connections)
	}
	return p.listenForOperators(ctx)
}

// announce prints and logs the address of the server.
func (p *process) announce(ctx context.Context, command *kong.Context) error {
	url := "http://" + cli.Reachable(p.listener.Addr().String())
	if p.LogFormat != "json" {
		p.printBanner(url, command)
	}
	if p.cfg.Accounts != nil && !p.away {
		if err := p.printFirstLink(ctx, url); err != nil {
			return err
		}
	}
	p.log.Info("listening", "url", url)
	return nil
}

// serve runs the server and its background work until ctx ends.
func (p *process) serve(ctx context.Context) error {
	srv, err := server.New(p.cfg)
	if err != nil {
		return err
	}
	ctx, fail := context.WithCancelCause(ctx)
	maintained := task.Go(ctx, func() error { return p.maintain(ctx, fail) })
	defer func() {
		fail(nil)
		<-maintained // before the store is closed
	}()
	if p.rotation != nil {
		p.store.Background(func(life context.Context) { backUp(life, p.rotation, p.log) })
	}
	sender := webhooks.New(webhooks.Config{
		Endpoints: p.store.Webhooks, Feed: p.store, Background: p.store.Background, Private: p.WebhookPrivate,
		Logger: p.log,
	})
	if err := p.cfg.Observer.Register(sender); err != nil {
		return err
	}
	sent := task.Go(ctx, func() error { sender.Run(ctx); return nil })
	return errors.Join(p.run(ctx, srv, sent, secondSignal(ctx)), failure(ctx))
}

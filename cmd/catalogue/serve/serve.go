// Package serve has the command that runs the server, and the command that prints its settings.
package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/db"
	"library-catalogue/db/sqlite"
	"library-catalogue/edge/auth"
	"library-catalogue/edge/telemetry"
	"library-catalogue/resolvers"
	"library-catalogue/rest"
	"library-catalogue/server"
	"library-catalogue/task"
	"library-catalogue/webhooks"
)

const (
	maxCacheMB  = 1 << 20 // more than a machine has
	maxImportMB = 1 << 30 // more than a disk has

	maxChangesDays = 36_500      // a hundred years
	maxReplicaLag  = time.Minute // the vectors of so many probes are kept
	maxRate        = 1_000_000
)

// Command is catalogue serve.
type Command struct {
	cli.AddressFlags
	cli.DatabaseFlags
	cli.TokenFlags
	cli.WebhookFlags
	logFlags
	accessFlags
	graphQLFlags
	operatorFlags
	stopFlags
	backupFlags

	DatabaseConnections int `env:"CATALOGUE_DATABASE_CONNECTIONS" placeholder:"N" help:"Maximum connections to the database. The number of concurrent operations depends on it (default: 16; for SQLite 4 for each processor)."`

	ChangesDays        int           `env:"CATALOGUE_CHANGES_DAYS" default:"90" placeholder:"DAYS" help:"Days to keep the log of changes, for the feed and the history; 0 keeps it for ever (default: ${default})."`
	ReplicaURL         string        `env:"CATALOGUE_REPLICA_URL" placeholder:"URLS" help:"URLs of PostgreSQL standbys, separated by spaces. They serve medium and heavy reads while they have all changes (default: none)."`
	ReplicaMaxLag      time.Duration `env:"CATALOGUE_REPLICA_MAX_LAG" placeholder:"DURATION" help:"Let replicas serve lists and searches that lack changes of this time, like 2s, to clients without a token or a cookie (default: none)."`
	ReadWithoutPrimary bool          `env:"CATALOGUE_READ_WITHOUT_PRIMARY" help:"Let replicas serve all reads while the primary does not answer. Recent changes may be missing."`

	PlaygroundCDN bool `negatable:"" env:"CATALOGUE_PLAYGROUND_CDN" default:"true" help:"Let browsers load GraphiQL for /playground from cdn.jsdelivr.net if it is not built in; otherwise a plain form is shown (default: ${default})."`

	CacheMB    int    `env:"CATALOGUE_CACHE_MB" default:"16" placeholder:"MB" help:"Megabytes of memory for cached responses, which are valid until the next write; 0 disables the cache (default: ${default})."`
	ImportMB   int    `env:"CATALOGUE_IMPORT_MB" default:"64" placeholder:"MB" help:"Maximum megabytes of a file sent to /api/imports (default: ${default})."`
	SRU        bool   `env:"CATALOGUE_SRU" help:"Serve SRU 1.2 at /sru, by which other libraries search the catalogue."`
	Page       bool   `negatable:"" env:"CATALOGUE_PAGE" default:"true" help:"Serve the pages at /; without them / lists the addresses of the API (default: ${default})."`
	PublicURL  string `env:"CATALOGUE_PUBLIC_URL" placeholder:"URL" help:"Address of the service for its readers, like https://books.example. With it the pages of books have absolute addresses, and /sitemap.xml lists them (default: none)."`
	Robots     bool   `negatable:"" env:"CATALOGUE_ROBOTS" default:"true" help:"Allow search engines to read the pages; otherwise /robots.txt disallows all (default: ${default})."`
	Empty      bool   `env:"CATALOGUE_EMPTY" xor:"sample" help:"Do not store the bundled books in a new catalogue.db."`
	Sample     bool   `env:"CATALOGUE_SAMPLE" xor:"sample" help:"Store the bundled books in any new database, not only in catalogue.db."`
	OpenDelete bool   `env:"CATALOGUE_OPEN_DELETE" help:"Allow DELETE under /api without a token."`
	OnDelete   string `env:"CATALOGUE_ON_DELETE" enum:"restrict,cascade" default:"restrict" help:"Effect of DELETE under /api on a genre with books, or a category with genres: restrict refuses, cascade deletes them too (default: ${default})."`
}

// setDefaults sets defaults that depend on the database: catalogue.db serves one user on one machine, any
// other database serves a network.
func (c *Command) setDefaults() {
	rate, wait := 100.0, defaultDrainWait
	if c.Embedded() {
		rate, wait = 0, 0
	}
	c.Rate = cmp.Or(c.Rate, &rate)
	c.DrainWait = cmp.Or(c.DrainWait, &wait)
	c.Introspection = cmp.Or(c.Introspection, strconv.FormatBool(c.Embedded()))
}

// checkRanges returns an error for a number out of its range.
func (c *Command) checkRanges() error {
	for _, n := range []struct {
		flag  string
		valid bool
		rule  string
		value any
	}{
		{"cache-mb", c.CacheMB >= 0 && c.CacheMB <= maxCacheMB, fmt.Sprintf("from 0 to %d", maxCacheMB), c.CacheMB},
		{"import-mb", c.ImportMB >= 1 && c.ImportMB <= maxImportMB, fmt.Sprintf("from 1 to %d", maxImportMB), c.ImportMB},
		{"database-connections", c.DatabaseConnections == 0 || c.DatabaseConnections >= db.MinConnections, fmt.Sprintf("at least %d", db.MinConnections), c.DatabaseConnections},
		{"changes-days", c.ChangesDays >= 0 && c.ChangesDays <= maxChangesDays, fmt.Sprintf("from 0 to %d", maxChangesDays), c.ChangesDays},
		{"replica-max-lag", c.ReplicaMaxLag >= 0 && c.ReplicaMaxLag <= maxReplicaLag, "from 0s to " + maxReplicaLag.String(), c.ReplicaMaxLag},
		{"slow-query", c.SlowQuery >= 0, "at least 0s", c.SlowQuery},
		{"drain-wait", *c.DrainWait >= 0, "at least 0s", *c.DrainWait},
		{"max-connections", c.MaxConnections >= 1, "at least 1", c.MaxConnections},
		{"max-streams", c.MaxStreams >= 1, "at least 1", c.MaxStreams},
		{"rate", *c.Rate >= 0 && *c.Rate <= maxRate, fmt.Sprintf("from 0 to %d", maxRate), *c.Rate},
		{"rate-burst", c.RateBurst >= 1, "at least 1", c.RateBurst},
		{"backup-every", c.BackupDir == "" || c.BackupEvery >= minBackupInterval, "at least " + minBackupInterval.String(), c.BackupEvery},
		{"backup-keep", c.BackupDir == "" || c.BackupKeep >= 1, "at least 1", c.BackupKeep},
	} {
		if !n.valid {
			return fmt.Errorf("--%s or CATALOGUE_%s must be %s, and is %v", n.flag, strings.ToUpper(strings.ReplaceAll(n.flag, "-", "_")), n.rule, n.value)
		}
	}
	if c.ReplicaMaxLag > 0 && c.OpenDelete {
		return errors.New("--replica-max-lag or CATALOGUE_REPLICA_MAX_LAG needs writes to have a token: remove --open-delete or CATALOGUE_OPEN_DELETE")
	}
	return nil
}

// Run implements the command. A signal that comes before the server is ready ends it without an error.
func (c *Command) Run(ctx context.Context, command *kong.Context, std cli.Stdio, env cli.Getenv) error {
	c.setDefaults()
	p := &process{Command: c, log: slog.New(telemetry.LogHandler(c.Logger(std.Err, env).Handler()))}
	defer p.end()
	if err := p.start(ctx, command, std, env); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return err
	}
	return p.serve(task.WithReport(ctx, p.store.ReportPanic))
}

// process is a server from its settings to its end. The steps of start set its fields.
type process struct {
	*Command
	log       *slog.Logger
	cfg       server.Config
	rotation  *sqlite.Rotation // nil: no backups
	tokens    auth.Config
	store     *db.Store
	away      bool // the database was unreachable at the start
	catalogue *resolvers.Resolver
	verifier  *auth.Verifier
	listener  net.Listener
	atEnd     []func() // run by end, the last one first
}

// start runs all steps until the server can serve.
func (p *process) start(ctx context.Context, command *kong.Context, std cli.Stdio, env cli.Getenv) error {
	if err := p.configure(env); err != nil {
		return err
	}
	if err := p.openStore(ctx); err != nil {
		return err
	}
	ctx = task.WithReport(ctx, p.store.ReportPanic)
	if err := p.startStore(ctx); err != nil {
		return err
	}
	if err := p.observe(ctx); err != nil {
		return err
	}
	if err := p.seed(ctx); err != nil {
		return err
	}
	freeStartupMemory()
	if err := p.listen(ctx, env); err != nil {
		return err
	}
	return p.announce(ctx, command, std)
}

// end runs atEnd.
func (p *process) end() {
	for _, end := range slices.Backward(p.atEnd) {
		end()
	}
}

// configure checks the settings, and sets what they alone decide.
func (p *process) configure(env cli.Getenv) (err error) {
	if err := p.checkRanges(); err != nil {
		return err
	}
	tuneGC(p.CacheMB<<20, env)
	if err := p.accessFlags.configure(&p.cfg); err != nil {
		return err
	}
	if err := p.graphQLFlags.configure(&p.cfg); err != nil {
		return err
	}
	if p.cfg.PublicURL, err = server.ParsePublicURL(p.PublicURL); err != nil {
		return fmt.Errorf("--public-url or CATALOGUE_PUBLIC_URL: %w", err)
	}
	if p.rotation, err = p.backupFlags.rotation(p.DatabaseFlags); err != nil {
		return err
	}
	if p.tokens, err = p.configureTokens(p.log); err != nil {
		return err
	}
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

// openStore opens the database, which may be unreachable, and sets what depends on it.
func (p *process) openStore(ctx context.Context) (err error) {
	p.store, err = db.New(ctx, p.URL(), db.Options{
		Logger: p.log, MaxConns: p.DatabaseConnections, ReplicaURLs: strings.Fields(p.ReplicaURL),
		ReadWithoutPrimary: p.ReadWithoutPrimary, ReplicaMaxLag: p.ReplicaMaxLag,
	})
	if err != nil {
		return err
	}
	p.atEnd = append(p.atEnd, func() { _ = p.store.Close() })
	p.cfg.Connections = p.store.Connections()
	p.catalogue = resolvers.New(p.store)
	p.cfg.Catalogue = p.catalogue
	p.cfg.Webhooks = &webhooks.Manager{Store: p.store.Webhooks, Client: webhooks.NewClient(p.WebhookPrivate)}
	if service := p.accountService(p.store, p.log); service != nil {
		p.cfg.Accounts, p.catalogue.Accounts, p.tokens.Accounts = service, service, service
	}
	if p.verifier, err = auth.New(ctx, p.tokens); err != nil {
		return err
	}
	p.cfg.Authenticate = p.verifier.Middleware
	p.cfg.Login = p.login(p.verifier)
	if p.cfg.Accounts != nil {
		p.cfg.Cookies, err = p.verifier.Cookies(p.cfg.PublicURL, p.InsecureCookies)
	}
	return err
}

// startStore starts the store. An unreachable database is not an error.
func (p *process) startStore(ctx context.Context) (err error) {
	p.away, err = startStore(ctx, p.store, p.log)
	return err
}

// observe starts traces and metrics.
func (p *process) observe(ctx context.Context) error {
	tracing, flush, err := startTracing(ctx, p.store, p.log)
	if err != nil {
		return err
	}
	p.atEnd = append(p.atEnd, flush)
	p.cfg.Observer = p.operatorFlags.observer(p.store, p.verifier, tracing, p.log)
	return p.cfg.Observer.Register(p.cfg.Streams)
}

// seed stores the bundled books in a new catalogue, if they are wanted.
func (p *process) seed(ctx context.Context) error {
	if !p.Sample && (!p.Embedded() || p.Empty) {
		return nil
	}
	if err := seedSample(ctx, p.store, p.catalogue); err != nil {
		return fmt.Errorf("load the bundled books: %w", err)
	}
	return nil
}

// listen opens the addresses of clients and of operators.
func (p *process) listen(ctx context.Context, env cli.Getenv) (err error) {
	if p.listener, err = net.Listen("tcp", p.Address(env)); err != nil {
		return fmt.Errorf("%w: choose another address with --addr", err)
	}
	p.atEnd = append(p.atEnd, func() { _ = p.listener.Close() })
	stop, err := p.operatorFlags.listen(ctx, p.cfg.Observer, p.log)
	if err != nil {
		return err
	}
	p.atEnd = append(p.atEnd, stop)
	if p.store.InProcess() {
		addThreads(p.cfg.Connections)
	}
	return nil
}

// announce prints and logs the address of the server.
func (p *process) announce(ctx context.Context, command *kong.Context, std cli.Stdio) error {
	url := "http://" + cli.Reachable(p.listener.Addr().String())
	if p.LogFormat != "json" {
		p.printBanner(std.Out, url, p.tokens.Secret != nil, command)
	}
	if p.cfg.Accounts != nil && !p.away {
		if err := p.printFirstLink(ctx, std.Out, url, p.cfg.Accounts, p.log); err != nil {
			return err
		}
	}
	p.log.Info("listening", "url", url)
	return nil
}

// serve runs the server and its background work until ctx ends, and returns the error of either.
func (p *process) serve(ctx context.Context) error {
	srv, err := server.New(p.cfg)
	if err != nil {
		return err
	}
	ctx, fail := context.WithCancelCause(ctx)
	maintained := task.Go(ctx, func() error { return maintainStore(ctx, p.store, p.away, p.ChangesDays, fail, p.log) })
	defer func() {
		fail(nil)
		<-maintained // before the store is closed
	}()
	if p.rotation != nil {
		p.store.Background(func(life context.Context) { backUp(life, p.rotation, p.log) })
	}
	sent, err := p.sendWebhooks(ctx, p.store, p.cfg.Observer, p.log)
	if err != nil {
		return err
	}
	running := &running{srv, p.listener, p.MaxConnections, p.cfg.Observer, *p.DrainWait, sent, p.log}
	return errors.Join(running.run(ctx, secondSignal(ctx)), failure(ctx))
}

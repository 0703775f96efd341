package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"golang.org/x/sync/semaphore"

	"library-catalogue/db/account"
	"library-catalogue/db/changes"
	"library-catalogue/db/dialect"
	"library-catalogue/db/facetcount"
	"library-catalogue/db/postgres"
	"library-catalogue/db/replica"
	"library-catalogue/db/schema"
	"library-catalogue/db/search"
	"library-catalogue/db/sqlite"
	"library-catalogue/db/stmt"
	"library-catalogue/graph/model"
	"library-catalogue/task"
)

// Open connects to the database at url, which is sqlite:PATH or postgres://…. It creates no tables;
// Migrate does.
func Open(ctx context.Context, url string, options Options) (*Store, error) {
	s, err := New(ctx, url, options)
	if err != nil {
		return nil, err
	}
	if err := s.connect(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.started.Store(true)
	return s, nil
}

// New returns a Store that has not connected to PostgreSQL yet. Requests fail with Unavailable
// until Start succeeds.
func New(ctx context.Context, url string, options Options) (*Store, error) {
	if err := CheckURL(url); err != nil {
		return nil, err
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.migrations == nil {
		options.migrations = schema.Migrations
	}
	if options.maxPrepared == 0 {
		options.maxPrepared = stmt.Max
	}
	if options.manyFound == 0 {
		options.manyFound = search.Many
	}
	s := &Store{options: options}
	s.life, s.end = context.WithCancel(task.WithReport(context.Background(), s.ReportPanic))
	open := s.openPostgres
	if strings.HasPrefix(url, sqlitePrefix) {
		open = s.openSQLite
	}
	if err := open(ctx, url); err != nil {
		s.end()
		return nil, err
	}
	s.Books, s.Genres, s.Categories = newWriter(s, &books), newWriter(s, &genres), newWriter(s, &categories)
	s.Webhooks = Webhooks{s}
	s.Accounts = account.Store{DB: accountDB{logDB{s}}, ForUpdate: s.dialect.ForUpdate}
	s.log = changes.NewLog(s.dialect, logDB{s})
	s.feed = s.newFeed()
	s.counts = facetcount.NewCache(options.keepEagerly)
	s.schema = &schema.Schema{DB: s.writePool.DB, Dialect: s.dialect, Files: options.migrations, Logger: options.Logger}
	s.byIDSQL = map[string]string{"books": byIDSQL(s.dialect, bookMapping), "genres": byIDSQL(s.dialect, genreMapping),
		"categories": byIDSQL(s.dialect, categoryMapping)}
	s.byISBNSQL = byISBNSQL(s.dialect)
	s.sharedRevision = sharedRead(s, func(ctx context.Context) (model.Revision, error) {
		return s.readRevision(ctx, nil)
	})
	s.sharedBooksByID = shared(s, s.readBooks, s.readBooksBatch)
	s.sharedCreateBook = shared(s, s.createBook, s.createBookBatch)
	if err := s.openReplicas(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Start connects to the database, migrates an older schema, and then allows statements. If the
// schema is current, Start changes nothing, so that it works with the privileges of a serving role
// and on a standby.
func (s *Store) Start(ctx context.Context) error {
	if err := s.connect(ctx); err != nil {
		return err
	}
	if err := s.schema.BringUp(ctx); err != nil {
		return err
	}
	var sizes model.Sizes
	if err := s.readPool.DB.GetContext(ctx, &sizes, sizesSQL); err != nil {
		return err
	}
	s.sizes.Store(&sizes) // before requests arrive, because their prices depend on it
	s.detectPooler(ctx)
	s.started.Store(true)
	s.feed.Start() // also without subscribers, so that each change gets its time
	return nil
}

// Migrate applies the pending migrations.
func (s *Store) Migrate(ctx context.Context) error { return s.schema.Migrate(ctx) }

// Migrations lists all migrations, in order.
func (s *Store) Migrations(ctx context.Context) ([]schema.Migration, error) {
	return s.schema.List(ctx)
}

func (s *Store) newFeed() *changes.Feed {
	config := changes.Config{Logger: s.options.Logger, Life: s.life, Background: s.Background,
		Queue: s.options.feedQueue, FilterFails: s.options.filterFails}
	if s.connector != nil {
		config.Listen = s.connector.Listen
	}
	return changes.NewFeed(s.log, config)
}

// poolSize is the default number of connections to PostgreSQL. Several processes fit into the 100
// connections that PostgreSQL allows by default. As many stay idle, because opening one costs more
// than a statement.
const poolSize = 16

// lastTickTimeout bounds the tick of Close.
const lastTickTimeout = time.Second

// maxCloseWait bounds the wait of Close for background functions. Each ends with its context, so one that takes
// longer is a fault, which must not keep the process alive.
const maxCloseWait = 10 * time.Second

// Close waits for background functions and then closes all connections. It makes a last tick, because
// without another server the next one may be days later.
func (s *Store) Close() error {
	if s.started.Load() {
		ctx, cancel := context.WithTimeout(context.Background(), lastTickTimeout)
		_ = s.log.Tick(ctx) // else the changes get their time later
		cancel()
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end()
	if !s.waitForBackground(time.After(maxCloseWait)) {
		s.options.Logger.Warn("closed with background work running")
	}
	err := s.healthDB.Close()
	for _, pool := range s.Pools() {
		err = errors.Join(err, pool.Close())
	}
	return err
}

// waitForBackground returns when no background function is running, or false at the limit.
func (s *Store) waitForBackground(limit <-chan time.Time) bool {
	ended := task.Go(context.Background(), func() error { s.running.Wait(); return nil })
	select {
	case <-ended:
		return true
	case <-limit:
		return false
	}
}

func (s *Store) openPostgres(ctx context.Context, url string) error {
	connector, err := postgres.NewConnector(url)
	if err != nil {
		return err
	}
	conns := s.openPool(connector)
	s.connect = func(ctx context.Context) error {
		if err := conns.PingContext(ctx); err != nil {
			return connector.OpenError(err)
		}
		return nil
	}
	s.dialect, s.connector, s.waiting = dialect.Postgres, connector, connector.LongestWait
	s.readPool = s.newPool(sqlx.NewDb(conns, "postgres"))
	s.writePool = s.readPool
	s.writes = semaphore.NewWeighted(int64(max(1, s.Connections()*3/4)))
	s.healthDB = sql.OpenDB(connector)
	s.healthDB.SetMaxOpenConns(1)
	s.healthDB.SetConnMaxLifetime(time.Minute) // then Checks see where the address leads now
	s.Background(func(ctx context.Context) {
		connector.Watch(ctx, func(address string) {
			s.options.Logger.Warn("closed the connections to a database host that does not answer or was replaced",
				"host", address)
		})
	})
	return nil
}

func (s *Store) newPool(conns *sqlx.DB) *stmt.Pool {
	pool := stmt.NewPool(conns, s.options.maxPrepared, s.Background)
	pool.Unprepared.Store(s.connector != nil && !s.connector.Prepares)
	return pool
}

// openPool opens a pool of connections for requests.
func (s *Store) openPool(connector *postgres.Connector) *sql.DB {
	connector.CallTimeout = cmp.Or(s.options.callTimeout, connector.CallTimeout)
	conns := sql.OpenDB(connector)
	size := cmp.Or(s.options.MaxConns, poolSize)
	conns.SetMaxOpenConns(size)
	conns.SetMaxIdleConns(size)
	conns.SetConnMaxIdleTime(5 * time.Minute)
	return conns
}

// openSQLite opens one connection for writes, so that writers of this process wait in Go. It opens
// several for reads: four per processor by default, two of them for heavy work.
func (s *Store) openSQLite(ctx context.Context, url string) error {
	path := strings.TrimPrefix(url, sqlitePrefix)
	writer, err := sqlite.Open(ctx, path, sqlite.ReadWrite, 1)
	if err != nil {
		return err
	}
	reader, err := sqlite.Open(ctx, path, sqlite.ReadOnly, cmp.Or(s.options.MaxConns, 4*runtime.GOMAXPROCS(0)))
	if err != nil {
		return errors.Join(err, writer.Close())
	}
	prober, err := sqlite.Open(ctx, path, sqlite.ReadOnly, 1)
	if err != nil {
		return errors.Join(err, writer.Close(), reader.Close())
	}
	s.dialect, s.waiting = dialect.SQLite, func() time.Duration { return 0 }
	s.connect = func(context.Context) error { return nil }
	s.readPool, s.writePool, s.healthDB = s.newPool(reader), s.newPool(writer), prober.DB
	s.Background(func(ctx context.Context) { _ = sqlite.LimitWAL(ctx, path, writer) }) // it ends only with the context
	return nil
}

const sqlitePrefix = "sqlite:"

// CheckURL validates a database URL without connecting. The folder of an SQLite file must exist.
// Its errors never quote the URL, which may contain a password.
func CheckURL(text string) error {
	if path, ok := strings.CutPrefix(text, sqlitePrefix); ok {
		if path == "" || path == ":memory:" {
			return errors.New("the database URL must name a file: sqlite:catalogue.db")
		}
		if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
			return fmt.Errorf("the folder %s does not exist: create it first", filepath.Dir(path))
		}
		return nil
	}
	if !strings.HasPrefix(text, "postgres://") && !strings.HasPrefix(text, "postgresql://") {
		return errors.New("the database URL must begin with sqlite: or postgres://, for example sqlite:catalogue.db")
	}
	_, rest, _ := strings.Cut(text, "://")
	_, err := url.Parse(text)
	end := strings.IndexAny(rest, "/?#") // end of the host; in a password these characters stand before the @
	if err != nil || end >= 0 && strings.Contains(rest[end:], "@") {
		return errors.New("the database URL is not valid: write postgres://USER:PASSWORD@HOST:5432/NAME with special " +
			"characters percent-encoded, or set the password in the environment variable PGPASSWORD")
	}
	return nil
}

// openReplicas sets the replicas of the store's options.
func (s *Store) openReplicas() (err error) {
	urls := s.options.ReplicaURLs
	switch {
	case len(urls) == 0 && s.options.ReadWithoutPrimary:
		return errors.New("reading without a primary needs a replica: set its URL")
	case len(urls) == 0 && s.options.ReplicaMaxLag > 0:
		return errors.New("a maximum lag of replicas needs a replica: set its URL")
	case len(urls) == 0:
		return nil
	case s.connector == nil:
		return errors.New(
			"an SQLite database has no replicas: remove the replica URL, or set a PostgreSQL database URL")
	}
	for _, url := range urls {
		if err := CheckURL(url); err != nil || strings.HasPrefix(url, sqlitePrefix) {
			return errors.Join(errors.New("a replica URL must begin with postgres://"), err)
		}
	}
	vectors := sharedRead(s, func(ctx context.Context) (v replica.Vector, err error) {
		err = s.run(ctx, nil, false, replica.VectorSQL, func(h stmt.Handle) (err error) {
			v, _, err = replica.ReadVector(ctx, func(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
				return stmt.Query(ctx, h, text, args...)
			})
			return err
		})
		return v, err
	})
	s.replicas, err = replica.New(replica.Config{
		URLs: urls, WithoutPrimary: s.options.ReadWithoutPrimary, MaxLag: s.options.ReplicaMaxLag,
		Open: s.openPool, Primary: s.healthDB, Schema: schema.VersionSQL, Snapshot: s.dialect.Snapshot,
		Vector: vectors,
		Life:   s.life, Logger: s.options.Logger,
		Start: func(ctx context.Context, fn func() error) <-chan error {
			done, _ := s.start(ctx, fn)
			return done
		},
	})
	return err
}

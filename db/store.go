// Package db keeps the catalogue in SQLite or PostgreSQL. It is the only place
// with SQL, and holds nothing else: what a caller may do and what an input must
// look like is decided above it.
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
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db/batch"
	"library-catalogue/db/dialect"
	"library-catalogue/db/postgres"
	"library-catalogue/db/search"
	"library-catalogue/db/sqlite"
	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
)

// Store is a catalogue in one database. It is safe for concurrent use.
type Store struct {
	Books      Table[model.Book]
	Genres     Table[model.Genre]
	Categories Table[model.Category]

	dialect *dialect.Dialect
	reader  *pool
	writer  *pool   // the same as reader on PostgreSQL
	prober  *sql.DB // a connection of its own for Checks, which no request can hold
	waiting func() time.Duration
	options Options

	observe  func(context.Context, stats.Statement) // nil: nobody does
	diskFull atomic.Bool                            // since the last change that failed for it

	connect func(context.Context) error // to a database that was not asked yet
	started atomic.Bool                 // until then no statement of a request runs

	byIDSQL map[string]string // SELECT of rows by their ids, by table

	sizes   atomic.Pointer[model.Sizes]
	sizesAt model.Revision // when they were counted, for CountSizes alone

	revisions *batch.Batcher[struct{}, model.Revision]
	booksByID *batch.Batcher[[]model.ID, booksAt]
	newBooks  *batch.Batcher[*model.CreateBookInput, createdBook]

	life    context.Context // ends when the store is closed
	end     context.CancelFunc
	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup // of what nobody else waits for
	panics  atomic.Int64   // in that
}

// Options are what a Store may be opened with.
type Options struct {
	Logger      *slog.Logger // nil: nothing is logged
	Connections int          // that statements of requests may use at once; 0: the engine's default

	maxPrepared int // of a pool, but in tests
	manyFound   int // search.Many, but in tests

	callTimeout time.Duration // of PostgreSQL without a deadline, but in tests
}

// Open connects to the database at url: sqlite:PATH or postgres://…. It makes
// no table; Migrate does.
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

// New is as Open, but connects to no PostgreSQL. Until Start has, requests are
// Unavailable.
func New(ctx context.Context, url string, options Options) (*Store, error) {
	if err := CheckURL(url); err != nil {
		return nil, err
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.maxPrepared == 0 {
		options.maxPrepared = maxPrepared
	}
	if options.manyFound == 0 {
		options.manyFound = search.Many
	}
	s := &Store{options: options}
	s.life, s.end = context.WithCancel(context.Background())
	open := s.openPostgres
	if strings.HasPrefix(url, sqlitePrefix) {
		open = s.openSQLite
	}
	if err := open(ctx, url); err != nil {
		s.end()
		return nil, err
	}
	s.Books, s.Genres, s.Categories = newTable(s, &books), newTable(s, &genres), newTable(s, &categories)
	s.byIDSQL = map[string]string{"books": byIDSQL(s.dialect, bookTable), "genres": byIDSQL(s.dialect, genreTable), "categories": byIDSQL(s.dialect, categoryTable)}
	s.revisions = s.revisionBatcher()
	s.booksByID = s.booksByIDBatcher()
	s.newBooks = s.newBooksBatcher()
	return s, nil
}

// poolSize is how many connections a process holds open to PostgreSQL by default: so
// that a few processes stay below the 100 that PostgreSQL lets in by default. As many
// are kept idle: opening one costs more than a statement.
const poolSize = 16

// MinConnections is how many connections there must be: two for heavy work, so that
// no caller's is alone, and as many for light work.
const MinConnections = 4

// Connections returns how many statements of requests may read at once.
func (s *Store) Connections() int { return s.reader.Stats().MaxOpenConnections }

func (s *Store) openPostgres(ctx context.Context, url string) error {
	connector, err := postgres.NewConnector(url)
	if err != nil {
		return err
	}
	connector.CallTimeout = cmp.Or(s.options.callTimeout, connector.CallTimeout)
	both := sql.OpenDB(connector)
	size := cmp.Or(s.options.Connections, poolSize)
	both.SetMaxOpenConns(size)
	both.SetMaxIdleConns(size)
	both.SetConnMaxIdleTime(5 * time.Minute)
	s.connect = func(ctx context.Context) error {
		if err := both.PingContext(ctx); err != nil {
			return connector.OpenError(err)
		}
		return nil
	}
	s.dialect, s.waiting = dialect.Postgres, connector.LongestWait
	s.reader = s.newPool(sqlx.NewDb(both, "postgres"))
	s.writer = s.reader
	s.prober = sql.OpenDB(connector)
	s.prober.SetMaxOpenConns(1)
	s.prober.SetConnMaxIdleTime(time.Minute)
	return nil
}

// openSQLite opens one connection that writes, so that writers of this process wait
// for each other in Go, and several that read: by default four for each processor,
// of which two may do heavy work.
func (s *Store) openSQLite(ctx context.Context, url string) error {
	path := strings.TrimPrefix(url, sqlitePrefix)
	writer, err := sqlite.Open(ctx, path, sqlite.ReadWrite, 1)
	if err != nil {
		return err
	}
	reader, err := sqlite.Open(ctx, path, sqlite.ReadOnly, cmp.Or(s.options.Connections, 4*runtime.GOMAXPROCS(0)))
	if err != nil {
		return errors.Join(err, writer.Close())
	}
	prober, err := sqlite.Open(ctx, path, sqlite.ReadOnly, 1)
	if err != nil {
		return errors.Join(err, writer.Close(), reader.Close())
	}
	s.dialect, s.waiting = dialect.SQLite, func() time.Duration { return 0 }
	s.connect = func(context.Context) error { return nil } // it is open
	s.reader, s.writer, s.prober = s.newPool(reader), s.newPool(writer), prober.DB
	s.Background(func(ctx context.Context) { _ = sqlite.LimitWAL(ctx, path, writer) }) // ends with the store alone
	return nil
}

// Background runs fn beside the requests, with a context that ends when the
// store is closed. It reports whether it did, which it does not for a closed store.
func (s *Store) Background(fn func(ctx context.Context)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.running.Go(func() { s.caught(fn) })
	}
	return !s.closed
}

// caught runs fn, whose panic must not end the process and all its requests.
func (s *Store) caught(fn func(ctx context.Context)) {
	defer func() {
		if failure := recover(); failure != nil {
			s.panics.Add(1)
			s.options.Logger.Error("panic beside the requests", "value", failure, "stack", string(debug.Stack()))
		}
	}()
	fn(s.life)
}

// Panics returns how many panics beside the requests were caught.
func (s *Store) Panics() int64 { return s.panics.Load() }

// Close ends what runs in the background, and then every connection.
func (s *Store) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end()
	s.running.Wait()
	err := s.prober.Close()
	for _, pool := range s.Pools() {
		err = errors.Join(err, pool.Close())
	}
	return err
}

const sqlitePrefix = "sqlite:"

// CheckURL returns an error that says what is wrong with the form of a database URL, or that there is no
// folder for the file of an SQLite one. It connects to nothing, and no error has a
// part of the URL in it that may be a password.
func CheckURL(text string) error {
	if path, ok := strings.CutPrefix(text, sqlitePrefix); ok {
		if path == "" || path == ":memory:" {
			return errors.New("the database URL must name a file: sqlite:catalogue.db")
		}
		if info, err := os.Stat(filepath.Dir(path)); err != nil || !info.IsDir() {
			return fmt.Errorf("the folder %s does not exist: make it first", filepath.Dir(path))
		}
		return nil
	}
	if !strings.HasPrefix(text, "postgres://") && !strings.HasPrefix(text, "postgresql://") {
		return errors.New("the database URL must begin with sqlite: or postgres://, for example sqlite:catalogue.db")
	}
	_, rest, _ := strings.Cut(text, "://")
	_, err := url.Parse(text)
	end := strings.IndexAny(rest, "/?#") // of the host; one in the password comes before its @
	if err != nil || end >= 0 && strings.Contains(rest[end:], "@") {
		return errors.New("the database URL is not a URL: write postgres://USER:PASSWORD@HOST:5432/NAME, with special characters percent-encoded, or the password as it is in the environment variable PGPASSWORD")
	}
	return nil
}

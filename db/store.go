// Package db stores the catalogue in SQLite or PostgreSQL. All SQL of the program is in this
// package and those below it; authorisation and validation are in the packages above it.
package db

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"library-catalogue/db/account"
	"library-catalogue/db/changes"
	"library-catalogue/db/dialect"
	"library-catalogue/db/facetcount"
	"library-catalogue/db/fault"
	"library-catalogue/db/postgres"
	"library-catalogue/db/replica"
	"library-catalogue/db/schema"
	"library-catalogue/db/search"
	"library-catalogue/db/stats"
	"library-catalogue/db/stmt"
	"library-catalogue/graph/model"
	"library-catalogue/task"
)

// Store is a catalogue in one database. It is safe for concurrent use.
type Store struct {
	Books      Writer[model.Book]
	Genres     Writer[model.Genre]
	Categories Writer[model.Category]
	Webhooks   Webhooks
	Accounts   account.Store

	dialect   *dialect.Dialect
	schema    *schema.Schema
	readPool  *stmt.Pool
	writePool *stmt.Pool           // the same as readPool on PostgreSQL
	writes    *semaphore.Weighted  // at most three quarters of the connections; nil for SQLite
	healthDB  *sql.DB              // dedicated connection for Checks; requests never use it
	connector *postgres.Connector  // nil on SQLite
	probes    singleflight.Group   // coalesces calls of followAddress
	waiting   func() time.Duration // see Waiting
	options   Options

	observe  func(context.Context, stats.Statement) // may be nil
	diskFull atomic.Bool                            // the last write failed for lack of disk space

	connect func(context.Context) error // opens the first connection to the database
	started atomic.Bool                 // statements are refused until it is set

	byIDSQL   map[string]string // by table name
	byISBNSQL string

	sizes   atomic.Pointer[model.Sizes]
	sizesAt model.Revision // revision at the last CountSizes

	replicas *replica.Set // nil: none

	// Concurrent calls of each share a statement (batch.Batcher).
	sharedRevision   func(context.Context) (model.Revision, error)
	sharedBooksByID  func(context.Context, []model.ID) (versionedBooks, error)
	sharedCreateBook func(context.Context, newBookRequest) (createdBook, error)

	log    *changes.Log
	feed   *changes.Feed
	counts *facetcount.Cache

	vocabulary search.Vocabulary // words of all books; only on SQLite
	loads      singleflight.Group

	life    context.Context // canceled by Close
	end     context.CancelFunc
	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup // background functions
	panics  atomic.Int64   // see ReportPanic
}

// Options configure a Store.
type Options struct {
	Logger   *slog.Logger // nil means no log
	MaxConns int          // maximum connections for requests; 0 means the engine's default

	// ReplicaURLs are standbys of a PostgreSQL database, which serve expensive reads. Each URL names one
	// host. ReadWithoutPrimary lets them serve all reads, which may be old, while there is no primary.
	ReplicaURLs        []string
	ReadWithoutPrimary bool

	// ReplicaMaxLag is the maximum age of the commits that a replica may lack when it serves a read that may be
	// late. 0 means that it may lack none.
	ReplicaMaxLag time.Duration

	// Tests alone set these. The zero value means the constant or the default of package postgres.
	migrations  fs.FS
	maxPrepared int
	manyFound   int
	callTimeout time.Duration
	feedQueue   int
	keepEagerly bool         // counts, however few the books are
	filterFails func() error // called before a filter selects its changes
}

// MinConnections is the least number of connections: two for heavy work, so that two callers can do
// it at once, and two for light work.
const MinConnections = 4

// Connections returns how many statements of requests can run at once.
func (s *Store) Connections() int { return s.readPool.Stats().MaxOpenConnections }

// InProcess reports whether statements use the processors of this process: on SQLite.
func (s *Store) InProcess() bool { return s.connector == nil }

// pooled reports whether the database URL names a pooler.
func (s *Store) pooled() bool { return s.connector != nil && s.connector.Pooled }

// Background runs fn in a goroutine with a context that ends when the Store is closed. It returns
// false, and does not run fn, if the Store is closed.
func (s *Store) Background(fn func(ctx context.Context)) bool {
	_, started := s.start(s.life, func() error { fn(s.life); return nil })
	return started
}

// start runs fn in a goroutine that Close waits for. The channel gets its error, once. If the Store is
// closed, fn does not run and the error is Unavailable.
func (s *Store) start(ctx context.Context, fn func() error) (done <-chan error, started bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		refused := make(chan error, 1)
		refused <- fault.Unavailable(context.Canceled)
		return refused, false
	}
	s.running.Add(1)
	return task.Go(ctx, func() error {
		defer s.running.Done()
		return task.Run(ctx, fn) // so that a panic is reported before Close returns
	}), true
}

// ReportPanic logs and counts a panic of a task.
func (s *Store) ReportPanic(ctx context.Context, p *task.PanicError) {
	s.panics.Add(1)
	task.Log(ctx, s.options.Logger, p)
}

// Panics returns the number of panics that ReportPanic has got.
func (s *Store) Panics() int64 { return s.panics.Load() }

var errNotStarted = errors.New("the store has not connected to the database yet")

// Package db keeps the catalogue in SQLite or PostgreSQL. It is the only place
// with SQL, and holds nothing else: what a caller may do and what an input must
// look like is decided above it.
package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db/dialect"
	"library-catalogue/graph/model"
)

// Store is a catalogue in one database. It is safe for concurrent use.
type Store struct {
	dialect *dialect.Dialect
	reader  *pool
	writer  *pool   // the same as reader on PostgreSQL
	prober  *sql.DB // a connection of its own for Checks, which no request can hold

	observe  func(context.Context, model.Statement) // nil: nobody does
	diskFull atomic.Bool                            // since the last change that failed for it
	waits    *waits                                 // for PostgreSQL; nil on SQLite

	booksAtSQL string

	revisions combiner[struct{}, model.Revision]
	booksByID combiner[[]model.ID, booksAt]
	newBooks  combiner[*model.CreateBookInput, createdBook]

	life    context.Context // ends when the store is closed
	end     context.CancelFunc
	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup // of what nobody else waits for
}

// Open connects to the database at url: sqlite:PATH or postgres://…. It makes
// no table; Migrate does.
func Open(ctx context.Context, url string) (*Store, error) {
	if err := CheckURL(url); err != nil {
		return nil, err
	}
	open := openPostgres
	if strings.HasPrefix(url, sqlitePrefix) {
		open = openSQLite
	}
	s, err := open(ctx, url)
	if err != nil {
		return nil, err
	}
	s.life, s.end = context.WithCancel(context.Background())
	s.booksAtSQL = booksAtSQL(s.dialect)
	s.combine()
	return s, nil
}

// Background runs fn beside the requests, with a context that ends when the
// store is closed. It tells whether it did, which it does not for a closed store.
func (s *Store) Background(fn func(ctx context.Context)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.running.Go(func() { fn(s.life) })
	}
	return !s.closed
}

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

// InSnapshot runs fn on one snapshot of the catalogue and gives it the snapshot's
// revision. What fn reads with the context that it gets comes from there.
func (s *Store) InSnapshot(ctx context.Context, fn func(ctx context.Context, revision int64) error) error {
	run := func(ctx context.Context) error {
		revision, err := s.Revision(ctx)
		if err != nil {
			return err
		}
		return fn(ctx, revision.Catalogue)
	}
	if txOf(ctx) != nil {
		return run(ctx)
	}
	err := s.transact(ctx, s.reader, s.dialect.Snapshot, run)
	if errors.Is(err, errGivenUp) {
		return away(err) // fn may have answered half already, so it is not run again
	}
	return err
}

// Write runs fn in one transaction: all that it writes with the context that it
// gets is kept, or, where it fails, nothing. A transaction that the database
// gave up for another's sake, or whose connection broke, is run again.
func (s *Store) Write(ctx context.Context, fn func(ctx context.Context) error) error {
	if txOf(ctx) != nil {
		return fn(ctx)
	}
	return s.retry(ctx, func() error {
		return s.transact(ctx, s.writer, &sql.TxOptions{}, fn)
	})
}

func (s *Store) transact(ctx context.Context, pool *pool, opts *sql.TxOptions, fn func(context.Context) error) (err error) {
	var sqlTx *sqlx.Tx
	begun := time.Now()
	err = s.retry(ctx, func() (err error) {
		sqlTx, err = pool.BeginTxx(ctx, opts)
		return s.fail(err)
	})
	s.addTime(ctx, s.noted(ctx, "BEGIN", begun, err))
	if err != nil {
		return err
	}
	t := &tx{handle: txHandle{sqlTx, pool}, snapshot: opts.ReadOnly}
	done := false // stays so where fn panics
	defer func() {
		t.mu.Lock() // no statement of fn may be under way when the transaction ends
		defer t.mu.Unlock()
		t.ended = true
		if !done || opts.ReadOnly {
			_ = sqlTx.Rollback()
			return
		}
		begun := time.Now()
		if err = sqlTx.Commit(); lost(err) {
			err = perhaps(err)
		}
		err = s.fail(err)
		s.addTime(ctx, s.noted(ctx, "COMMIT", begun, err))
	}()
	err = fn(context.WithValue(ctx, txKey{}, t))
	done = err == nil
	return err
}

// maxAttempts is more than there are connections, all of which may be broken.
const maxAttempts = poolSize + 4

// retry runs fn again, a few times at most, where it was given up.
func (s *Store) retry(ctx context.Context, fn func() error) error {
	for attempt := 1; ; attempt++ {
		err := fn()
		switch {
		case !errors.Is(err, errGivenUp):
			return err
		case attempt == maxAttempts || ctx.Err() != nil:
			return away(err)
		}
	}
}

// handle is what statements run on: a pool or a transaction.
type handle interface {
	sqlx.QueryerContext
	sqlx.ExecerContext
}

// Writing tells whether ctx is that of a transaction that writes.
func Writing(ctx context.Context) bool {
	t := txOf(ctx)
	return t != nil && !t.snapshot
}

type txKey struct{}

// tx is the transaction of a context. Statements take turns in it, since a
// connection runs one at a time.
type tx struct {
	mu     sync.Mutex
	ended  bool
	handle handle

	snapshot bool                           // reads only, and from one snapshot
	revision atomic.Pointer[model.Revision] // of the snapshot, once it was asked for
}

func txOf(ctx context.Context) *tx {
	t, _ := ctx.Value(txKey{}).(*tx)
	return t
}

// run runs one statement where it belongs: in the context's transaction if it
// has one; else a write in one of its own, and a read on the pool. fn must have
// read all rows when it returns.
func (s *Store) run(ctx context.Context, write bool, fn func(handle) error) (err error) {
	t := txOf(ctx)
	h := &remembering{}
	begun := time.Now()
	defer func() { s.add(ctx, s.noted(ctx, h.text, begun, err), h.args) }()
	if t == nil {
		h.handle = s.reader
		if write {
			h.handle = s.writer
		}
		return s.retry(ctx, func() error {
			err := fn(h)
			if write && err == nil {
				s.diskFull.Store(false)
			}
			if write && lost(err) && !errors.Is(err, errGivenUp) {
				return perhaps(err)
			}
			return s.fail(err)
		})
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return s.fail(sql.ErrTxDone)
	}
	h.handle = t.handle
	return s.fail(fn(h))
}

// table says how a type's rows are read.
type table[T any] struct {
	name    string
	columns []string
	fields  func(*T) []any   // where to scan the columns
	keys    func(*T) *string // where to put the keys of an ordering
	id      func(*T) model.ID
}

// selected gives the columns of rows that have an alias, or none, as they are read.
func (t table[T]) selected(d *dialect.Dialect, alias string) string {
	expressions := make([]string, len(t.columns))
	for i, column := range t.columns {
		expressions[i] = column
		if alias != "" {
			expressions[i] = alias + "." + column
		}
		switch column {
		case "published_at":
			expressions[i] = d.Date(expressions[i])
		case "created_at", "updated_at":
			expressions[i] = d.Timestamp(expressions[i])
		}
	}
	return strings.Join(expressions, ", ")
}

// without gives the table as it is read without some columns.
func (t table[T]) without(omitted model.Columns) table[T] {
	if omitted == 0 {
		return t
	}
	narrow := t
	narrow.columns = nil
	var kept []int
	for i, column := range t.columns {
		if optional[column]&omitted == 0 {
			narrow.columns, kept = append(narrow.columns, column), append(kept, i)
		}
	}
	narrow.fields = func(row *T) []any {
		all, into := t.fields(row), make([]any, len(kept))
		for i, k := range kept {
			into[i] = all[k]
		}
		return into
	}
	return narrow
}

var optional = map[string]model.Columns{
	"version": model.Version, "description": model.Description, "created_at": model.CreatedAt, "updated_at": model.UpdatedAt,
}

// sort puts rows in order of id.
func (t table[T]) sort(rows []*T, descending bool) {
	slices.SortFunc(rows, func(a, b *T) int {
		if descending {
			a, b = b, a
		}
		return cmp.Compare(t.id(a), t.id(b))
	})
}

// query reads the rows that a SELECT or a RETURNING of t's columns gives.
func query[T any](ctx context.Context, s *Store, write bool, t table[T], text string, args ...any) (out []*T, err error) {
	err = s.run(ctx, write, func(h handle) error {
		rows, err := h.QueryContext(ctx, text, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		var row T
		into := t.fields(&row)
		read := slab[T]{}
		out = nil // of an attempt before
		for rows.Next() {
			if err := rows.Scan(into...); err != nil {
				return err
			}
			out = append(out, read.keep(row))
		}
		return rows.Err()
	})
	return out, err
}

// slab keeps rows, many to one allocation.
type slab[T any] struct{ block []T }

func (s *slab[T]) keep(row T) *T {
	const smallest, largest = 4, 128
	if len(s.block) == cap(s.block) {
		s.block = make([]T, 0, min(max(smallest, 2*cap(s.block)), largest))
	}
	s.block = append(s.block, row)
	return &s.block[len(s.block)-1]
}

// byID reads the rows with these ids, in no order; what does not exist is left out.
func byID[T any](ctx context.Context, s *Store, t table[T], ids []model.ID) ([]*T, error) {
	return query(ctx, s, false, t, `SELECT `+t.selected(s.dialect, "r")+` FROM `+s.dialect.ByIDs(t.name), s.dialect.Array(distinct(ids)))
}

// distinct gives each id once. Several come in order.
func distinct(ids []model.ID) []model.ID {
	if len(ids) < 2 {
		return ids
	}
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// one gives the only row of rows, or nil.
func one[T any](rows []*T, err error) (*T, error) {
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[0], nil
}

// rowsAffected runs a statement that gives no rows and tells how many it changed.
func (s *Store) rowsAffected(ctx context.Context, text string, args ...any) (n int64, err error) {
	err = s.run(ctx, true, func(h handle) error {
		result, err := h.ExecContext(ctx, text, args...)
		if err != nil {
			return err
		}
		n, err = result.RowsAffected()
		return err
	})
	return n, err
}

// count runs a statement that gives one number.
func (s *Store) count(ctx context.Context, text string, args ...any) (n int, err error) {
	err = s.run(ctx, false, func(h handle) error {
		return sqlx.GetContext(ctx, h, &n, text, args...)
	})
	return n, err
}

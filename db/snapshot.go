package db

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"sync/atomic"

	"library-catalogue/db/changes"
	"library-catalogue/db/search"
	"library-catalogue/db/stmt"
	"library-catalogue/graph/model"
)

// Snapshot reads the catalogue at one revision. It is safe for concurrent use.
//
// Its statements run without a transaction. Read checks afterwards that all of them saw the same
// revision (optimistic concurrency control). Most statements return the revision that they saw. A
// statement that returned no row, or the pages of many parents, does not. Such a statement saw a
// revision between the latest one known at its start and the one that a later refresh reads.
type Snapshot struct {
	Books      Reader[model.Book]
	Genres     Reader[model.Genre]
	Categories Reader[model.Category]

	BooksOfGenre     Reader[model.Book]
	BooksOfCategory  Reader[model.Book]
	GenresOfCategory Reader[model.Genre]

	store     *Store
	tx        *tx // nil: each statement runs alone
	search    search.Cache
	changed   atomic.Bool     // see Changed
	needsTick atomic.Bool     // the transaction sees a change that has no tick yet
	openSince model.Timestamp // Log.OpenSince before the transaction's first read, for PositionAt

	mu        sync.Mutex
	reads     int
	latest    model.Revision // latest known revision, or model.NoRevision
	low, high int64          // range of the revisions of all reads
	// highUnknown means that a read saw low or a later revision.
	highUnknown bool
	reference   *int64 // revision of cached genres and categories that were read, or nil
	created     *int64 // revision of genres and categories that CreateBook saw, or nil
}

func (s *Store) newSnapshot(t *tx) *Snapshot {
	r := &Snapshot{store: s, tx: t, latest: model.NoRevision}
	if t != nil {
		r.openSince = s.log.OpenSince()
	}
	r.Books = &reader[model.Book]{r, &books}
	r.Genres = &reader[model.Genre]{r, &genres}
	r.Categories = &reader[model.Category]{r, &categories}
	r.BooksOfGenre = &reader[model.Book]{r, &booksOfGenre}
	r.BooksOfCategory = &reader[model.Book]{r, &booksOfCategory}
	r.GenresOfCategory = &reader[model.Genre]{r, &genresOfCategory}
	return r
}

// Read calls fn with a Snapshot, so that all reads of fn see one revision. It needs no transaction as long as the
// revision stays the same. If the revision changes, fn runs a second time, in a transaction. known is a revision
// already read for the same request, or model.NoRevision. If replicas allow it, fn runs on a replica that has every
// commit from before the call, or that is late. If that fails, fn runs again on the primary. Within Write fn sees the
// writes of the transaction, and runs again until no other transaction commits at the same time.
//
// The ways to read, and when each is the right one:
//   - Read, for the response of a request.
//   - ReadTransaction, for a long read, or one that must not run again. It holds a connection.
//   - Unchecked, for a single statement, or for the reads of a transaction that writes.
//   - changes.DB and account.DB, for the log of changes and for accounts, which have no revision.
//
// Store.run runs the statements of all.
func (s *Store) Read(
	ctx context.Context, known model.Revision, replicas model.Replicas, fn func(context.Context, *Snapshot) error,
) error {
	if t := txOf(ctx); t != nil {
		return s.readOwn(ctx, t, fn)
	}
	if replicas != model.NoReplica || s.replicas.ServesAll() {
		if served, err := s.readReplica(ctx, replicas == model.LateReplica, fn); served {
			return err
		}
	}
	snapshot := s.newSnapshot(nil)
	snapshot.latest = known
	if err := snapshot.check(ctx, fn(ctx, snapshot)); !errors.Is(err, model.ErrSnapshotChanged) {
		return err
	}
	return s.readAgain(ctx, fn)
}

// readOwn is Read within a transaction that writes.
func (s *Store) readOwn(ctx context.Context, t *tx, fn func(context.Context, *Snapshot) error) error {
	for attempt := 1; ; attempt++ {
		snapshot := s.newSnapshot(t)
		if err := snapshot.check(ctx, fn(ctx, snapshot)); !errors.Is(err, model.ErrSnapshotChanged) ||
			attempt > extraAttempts {
			return err
		}
	}
}

// Changed returns the error of a read that shows that the catalogue changes, such as a row without its
// parent. Read then runs fn again, whatever fn returns.
func (s *Snapshot) Changed() error {
	s.changed.Store(true)
	return model.ErrSnapshotChanged
}

// hasChanged reports whether a read showed that the catalogue changes, or failed on a replica.
func (s *Snapshot) hasChanged() bool {
	if s.tx != nil {
		s.tx.mu.Lock()
		defer s.tx.mu.Unlock()
	}
	return s.changed.Load() || s.tx != nil && s.tx.failure != nil
}

// check returns the error of the reads, or ErrSnapshotChanged if they saw several revisions.
func (s *Snapshot) check(ctx context.Context, err error) error {
	switch {
	case s.hasChanged():
		return model.ErrSnapshotChanged
	case err != nil || !s.hasManyReads():
		return err
	}
	if _, err = s.Revision(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reference != nil && *s.reference != s.latest.Reference {
		return model.ErrSnapshotChanged
	}
	return nil
}

// readAgain calls fn with a Snapshot in a transaction, and again if the Snapshot sees changes that have
// no tick yet.
func (s *Store) readAgain(ctx context.Context, fn func(context.Context, *Snapshot) error) error {
	waited := false
	for attempt := 1; ; attempt++ {
		needsTick := false
		err := s.ReadTransaction(ctx, model.NoReplica, func(ctx context.Context, snapshot *Snapshot) error {
			err := fn(ctx, snapshot)
			if needsTick = snapshot.needsTick.Load(); snapshot.hasChanged() {
				return model.ErrSnapshotChanged
			}
			return err
		})
		if !needsTick || attempt > extraAttempts {
			return err
		}
		if err := s.log.Settle(ctx); err != nil && (waited || !changes.Waits(err)) {
			return err
		} else if err != nil {
			waited = true // the time may be final now
		}
	}
}

// hasManyReads reports whether there was more than one read. A single read always sees one
// revision.
func (s *Snapshot) hasManyReads() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads > 1 || s.reads == 1 && s.reference != nil
}

// ReadReference reads genres and categories from a cache: it calls has with their revision, and records the read if has
// returns true. After CreateBook that is the revision that the INSERT saw.
func (s *Snapshot) ReadReference(ctx context.Context, has func(revision int64) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.created != nil {
		if has(*s.created) {
			s.reference = s.created
		}
		return nil
	}
	at, err := s.known(ctx)
	if err == nil && has(at.Reference) {
		s.record(at.Catalogue, false)
	}
	return err
}

// ReadsBack lets a Snapshot, before its first read, read back what CreateBook stored with another one.
func (s *Snapshot) ReadsBack(written *Snapshot) { s.created = written.created }

// ReadTransaction is like Read, but uses a transaction from the start. fn runs once, unless replicas allow one that has
// every commit from before the call: then it may run twice.
func (s *Store) ReadTransaction(
	ctx context.Context, replicas model.Replicas, fn func(context.Context, *Snapshot) error,
) error {
	if replicas != model.NoReplica {
		if served, err := s.readReplica(ctx, false, fn); served {
			return err
		}
	}
	return giveUp(s.transact(ctx, s.readPool, s.dialect.Snapshot, func(ctx context.Context, t *tx) error {
		snapshot := s.newSnapshot(t)
		if _, err := snapshot.Revision(ctx); err != nil {
			return err
		}
		return fn(ctx, snapshot)
	})) // fn may have sent a part of its response, so it must not run again
}

// Unchecked returns a Snapshot without a check that its reads see one revision. Use it for a single
// read, or within Write, where it sees the writes of the transaction.
func (s *Store) Unchecked(ctx context.Context) *Snapshot { return s.newSnapshot(txOf(ctx)) }

// InTransaction reports whether the Snapshot holds a connection.
func (s *Snapshot) InTransaction() bool { return s.tx != nil }

// Writing reports whether the Snapshot belongs to a transaction that writes.
func (s *Snapshot) Writing() bool { return s.tx != nil && !s.tx.readOnly }

// Revision returns the number of the Snapshot's revision. Before the first read that is the latest
// known revision, or the result of a refresh. It returns ErrSnapshotChanged if the reads saw
// several revisions.
func (s *Snapshot) Revision(ctx context.Context) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reads == 0 || s.highUnknown {
		at := s.latest
		if s.highUnknown || !at.IsKnown() {
			var err error
			if at, err = s.refresh(ctx); err != nil {
				return 0, err
			}
		}
		s.record(at.Catalogue, false)
		s.highUnknown = false
	}
	if s.low != s.high {
		return 0, model.ErrSnapshotChanged
	}
	return s.high, nil
}

// Latest returns the latest known revision, usually that of the last statement. It refreshes if
// none is known.
func (s *Snapshot) Latest(ctx context.Context) (model.Revision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known(ctx)
}

// known is Latest. The caller holds the lock.
func (s *Snapshot) known(ctx context.Context) (model.Revision, error) {
	if s.latest.IsKnown() {
		return s.latest, nil
	}
	return s.refresh(ctx)
}

// Known returns the latest known revision, and false if none is known.
func (s *Snapshot) Known() (model.Revision, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.latest, s.latest.IsKnown()
}

// refresh reads the current revision. The caller holds the lock.
func (s *Snapshot) refresh(ctx context.Context) (at model.Revision, err error) {
	if s.tx != nil {
		at, err = s.store.readRevision(ctx, s.tx)
	} else {
		at, err = s.store.Revision(ctx)
	}
	if err == nil && at.Catalogue > s.latest.Catalogue {
		s.latest = at
	}
	return at, err
}

// RecordRead records data of revision at that came from elsewhere, such as a cache.
func (s *Snapshot) RecordRead(at model.Revision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at.Catalogue > s.latest.Catalogue {
		s.latest = at
	}
	s.record(at.Catalogue, false)
}

// record records that a read saw revision at. If open is true, it may have seen a later one. The
// caller holds the lock.
func (s *Snapshot) record(at int64, open bool) {
	if s.reads == 0 {
		s.low, s.high = at, at
	}
	s.reads++
	s.low, s.high, s.highUnknown = min(s.low, at), max(s.high, at), s.highUnknown || open
}

// recordStatement records a statement that saw revision at. If at is unknown, the statement saw
// before or a later revision.
func (s *Snapshot) recordStatement(at, before model.Revision) {
	if at.IsKnown() {
		s.RecordRead(at)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.record(before.Catalogue, true)
}

// readStmt is a SELECT and its arguments.
type readStmt struct {
	text       string
	args       []any
	unprepared bool // planned for its own arguments
}

// scanRow scans the current row. It sets at to the statement's revision if the row has it.
type scanRow func(rows *sql.Rows, at *model.Revision) error

// read runs one statement and records the revision that it saw. It calls scan before each attempt, for a function that
// scans each row.
func (s *Snapshot) read(ctx context.Context, q readStmt, scan func() scanRow) error {
	before, _ := s.Known()
	var at model.Revision
	err := s.store.run(ctx, s.tx, false, q.text, func(h stmt.Handle) error {
		if q.unprepared {
			h = stmt.Unprepared(h)
		}
		at = model.NoRevision
		statement, err := h.Statement(ctx, q.text)
		if err != nil {
			return err
		}
		rows, err := statement.QueryContext(ctx, q.args...)
		if err != nil {
			return err
		}
		return scanAll(rows, &at, scan())
	})
	if s.tx != nil && err != nil {
		return giveUp(err)
	}
	if err == nil && (s.tx == nil || !s.tx.readOnly) {
		s.recordStatement(at, before)
	}
	return err
}

// readRow runs a versioned statement and scans its row.
func (s *Snapshot) readRow(ctx context.Context, q readStmt, targets ...any) error {
	return s.read(ctx, q, func() scanRow {
		return func(rows *sql.Rows, at *model.Revision) error {
			return rows.Scan(append(revisionTargets(at), targets...)...)
		}
	})
}

func scanAll(rows *sql.Rows, at *model.Revision, scan scanRow) error {
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows, at); err != nil {
			return err
		}
	}
	return rows.Err()
}

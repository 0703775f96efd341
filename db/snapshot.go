package db

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db/search"
	"library-catalogue/graph/model"
)

// Snapshot reads the catalogue at one revision. It is safe for concurrent use.
//
// Its statements run without a transaction, and Read checks afterwards that all of them
// saw the same revision, as optimistic concurrency control does. Most statements return
// the revision that they saw. One that returned no row, or the pages of many parents,
// does not: it saw one between the latest that was known when it began and that of a look
// after it.
type Snapshot struct {
	Books      Rows[model.Book]
	Genres     Rows[model.Genre]
	Categories Rows[model.Category]

	BooksOfGenre     Rows[model.Book]
	BooksOfCategory  Rows[model.Book]
	GenresOfCategory Rows[model.Genre]

	store  *Store
	tx     *tx // nil: each statement runs by itself
	search search.Cache

	mu        sync.Mutex
	reads     int
	latest    model.Revision // that is known; unknownRevision before one is
	low, high int64          // between which the reads are
	// highUnknown: a read was of low or a later revision.
	highUnknown bool
}

// unknownRevision is less than every revision.
var unknownRevision = model.Revision{Catalogue: -1, Reference: -1}

func (s *Store) newSnapshot(t *tx) *Snapshot {
	r := &Snapshot{store: s, tx: t, latest: unknownRevision}
	r.Books = Rows[model.Book]{r, &books}
	r.Genres = Rows[model.Genre]{r, &genres}
	r.Categories = Rows[model.Category]{r, &categories}
	r.BooksOfGenre = Rows[model.Book]{r, &booksOfGenre}
	r.BooksOfCategory = Rows[model.Book]{r, &booksOfCategory}
	r.GenresOfCategory = Rows[model.Genre]{r, &genresOfCategory}
	return r
}

// Read calls fn with a Snapshot: all that fn reads of it is of one revision. It takes no
// transaction as long as nobody writes meanwhile. Where the revision moved, fn runs again,
// in a transaction. since is a revision that was read for the same request, nil for none.
func (s *Store) Read(ctx context.Context, since *model.Revision, fn func(context.Context, *Snapshot) error) error {
	snapshot := s.newSnapshot(nil)
	if since != nil {
		snapshot.latest = *since
	}
	err := fn(ctx, snapshot)
	if err == nil && snapshot.hasSeveral() {
		_, err = snapshot.Revision(ctx)
	}
	if !errors.Is(err, model.ErrSnapshotChanged) {
		return err
	}
	return s.ReadTransaction(ctx, fn)
}

// hasSeveral reports whether there was more than one read: one is of one revision by itself.
func (s *Snapshot) hasSeveral() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads > 1
}

// ReadTransaction is as Read, in a transaction from the beginning: for what takes long. fn
// runs once.
func (s *Store) ReadTransaction(ctx context.Context, fn func(context.Context, *Snapshot) error) error {
	err := s.transact(ctx, s.reader, s.dialect.Snapshot, func(ctx context.Context, t *tx) error {
		snapshot := s.newSnapshot(t)
		if _, err := snapshot.Revision(ctx); err != nil {
			return err
		}
		return fn(ctx, snapshot)
	})
	if errors.Is(err, errRetry) {
		return unavailable(err) // fn may have answered half already, so it is not run again
	}
	return err
}

// Now returns a Snapshot whose reads are not checked to be of one revision: for what reads
// once, or within Write, where they see what the transaction has written.
func (s *Store) Now(ctx context.Context) *Snapshot { return s.newSnapshot(txOf(ctx)) }

// InTransaction reports whether the Snapshot holds a connection.
func (s *Snapshot) InTransaction() bool { return s.tx != nil }

// Writing reports whether the Snapshot is of a transaction that writes.
func (s *Snapshot) Writing() bool { return s.tx != nil && !s.tx.readOnly }

// Revision returns the number of the revision that the Snapshot is of. Before the first
// read that is the latest that is known, and else the one of a look. ErrSnapshotChanged
// where the reads are of several.
func (s *Snapshot) Revision(ctx context.Context) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reads == 0 || s.highUnknown {
		at := s.latest
		if s.highUnknown || at == unknownRevision {
			var err error
			if at, err = s.look(ctx); err != nil {
				return 0, err
			}
		}
		s.note(at.Catalogue, false)
		s.highUnknown = false
	}
	if s.low != s.high {
		return 0, model.ErrSnapshotChanged
	}
	return s.high, nil
}

// Latest returns the latest revision that the Snapshot knows of: as a rule that of its
// last statement. It looks where it knows none.
func (s *Snapshot) Latest(ctx context.Context) (model.Revision, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.latest != unknownRevision {
		return s.latest, nil
	}
	return s.look(ctx)
}

// Known returns the latest revision that the Snapshot knows of, and whether it knows one.
func (s *Snapshot) Known() (model.Revision, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.latest, s.latest != unknownRevision
}

// look reads the revision. The caller holds the lock.
func (s *Snapshot) look(ctx context.Context) (at model.Revision, err error) {
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

// Note notes that something was read elsewhere, as it is at a revision.
func (s *Snapshot) Note(at model.Revision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at.Catalogue > s.latest.Catalogue {
		s.latest = at
	}
	s.note(at.Catalogue, false)
}

// note notes a read at a revision, or, where it is open, from that revision on. The caller
// holds the lock.
func (s *Snapshot) note(at int64, open bool) {
	if s.reads == 0 {
		s.low, s.high = at, at
	}
	s.reads++
	s.low, s.high, s.highUnknown = min(s.low, at), max(s.high, at), s.highUnknown || open
}

// noteSeen notes a read that saw a revision; where its rows did not tell which, one from
// since on.
func (s *Snapshot) noteSeen(at, since model.Revision) {
	if at != unknownRevision {
		s.Note(at)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note(since.Catalogue, true)
}

// selection is a SELECT and its arguments.
type selection struct {
	text string
	args []any
	// once: it is planned for its own values, and not prepared for others.
	once bool
}

// scanRow reads the row that rows are at. It sets at to the revision that the statement
// saw, if the row tells that.
type scanRow func(rows *sql.Rows, at *model.Revision) error

// read runs one statement. It calls scan before each attempt, for what reads each row.
func (s *Snapshot) read(ctx context.Context, q selection, scan func() scanRow) (err error) {
	if s.tx == nil && !s.store.started.Load() {
		return unavailable(errNotStarted)
	}
	since, _ := s.Known()
	begun := time.Now()
	defer func() { s.store.record(ctx, q.text, begun, err) }()
	h := handle(s.store.reader)
	if s.tx != nil {
		s.tx.mu.Lock()
		defer s.tx.mu.Unlock()
		h = s.tx.handle
	}
	if q.once {
		h = unprepared(h)
	}
	var at model.Revision
	for attempt := 1; ; attempt++ {
		if s.tx != nil && s.tx.ended {
			return translate(sql.ErrTxDone)
		}
		at = unknownRevision
		var stmt *sqlx.Stmt
		var rows *sql.Rows
		var err error
		if p, ok := h.(preparer); ok {
			stmt, err = p.statement(ctx, q.text)
		}
		switch {
		case err != nil:
		case stmt != nil:
			rows, err = stmt.QueryContext(ctx, q.args...)
		default:
			rows, err = h.QueryContext(ctx, q.text, q.args...)
		}
		if err == nil {
			err = scanAll(rows, &at, scan())
		}
		if err = translate(err); err == nil {
			break
		}
		if s.tx != nil || !s.store.mayRetry(ctx, err, attempt) {
			return finally(err)
		}
	}
	if s.tx == nil {
		s.noteSeen(at, since)
	}
	return nil
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

package db

import (
	"context"
	"database/sql"
	"io/fs"
	"strings"
	"time"

	"library-catalogue/db/fault"
	"library-catalogue/db/stmt"
	"library-catalogue/graph/model"
)

// Translate turns an error of a driver into one of a store.
var Translate = fault.Translate

// Pools returns the connections of a store, for the tests of what is set on each.
func Pools(s *Store) (reader, writer *sql.DB) { return s.readPool.DB.DB, s.writePool.DB.DB }

// WithMigrations returns options of a store of a program that has other migrations.
func WithMigrations(files fs.FS) Options { return Options{migrations: files} }

// WithMaxPrepared returns options of a store that keeps no more than n statements
// prepared.
func WithMaxPrepared(n int) Options { return Options{maxPrepared: n} }

// WithManyFound returns options of a store for whose searches n rows are many.
func WithManyFound(n int) Options { return Options{manyFound: n} }

// WithCallTimeout returns options of a store whose calls of PostgreSQL without a deadline
// end so soon.
func WithCallTimeout(d time.Duration) Options { return Options{callTimeout: d} }

// WithFeedQueue returns options of a store that cuts a subscriber with more than n waiting pages.
func WithFeedQueue(n int) Options { return Options{feedQueue: n} }

// WithFailingFilters returns options of a store that calls fails before a filter of subscribers selects changes.
func WithFailingFilters(fails func() error) Options { return Options{filterFails: fails} }

// Prepared returns how many statements are kept prepared for reads.
func Prepared(s *Store) int { return s.readPool.Prepared() }

// RecordOpenRead records a read that saw the revision since or a later one.
func (s *Snapshot) RecordOpenRead(since int64) {
	s.recordStatement(model.NoRevision, model.Revision{Catalogue: since})
}

// CloseHealth closes the idle connection of Checks.
func CloseHealth(s *Store) {
	s.healthDB.SetMaxIdleConns(-1)
	s.healthDB.SetMaxIdleConns(2)
}

// MakeUnreadable makes reads by id fail at their first row, as if the connection broke there.
func MakeUnreadable(s *Store) {
	for table, text := range s.byIDSQL {
		s.byIDSQL[table] = strings.Replace(text, "r.name", "NULL", 1)
	}
}

// Exec runs a statement of a Snapshot.
func (s *Snapshot) Exec(ctx context.Context, text string) error {
	return s.store.run(ctx, s.tx, false, text, func(h stmt.Handle) error {
		_, err := h.ExecContext(ctx, text)
		return err
	})
}

// WithKeptCounts returns options of a store that keeps all counts, however few the books are.
func WithKeptCounts() Options { return Options{keepEagerly: true} }

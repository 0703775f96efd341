package db

import (
	"database/sql"
	"testing"
	"time"
)

// Pools gives the connections of a store, for the tests of what is set on each.
func Pools(s *Store) (reader, writer *sql.DB) { return s.reader.DB.DB, s.writer.DB.DB }

// WaitForServer lets stores that are opened from now on wait for PostgreSQL no
// longer than d.
func WaitForServer(t *testing.T, d time.Duration) {
	before := ioTimeout
	ioTimeout = d
	t.Cleanup(func() { ioTimeout = before })
}

// KeepPrepared lets stores keep no more than n statements prepared.
func KeepPrepared(t *testing.T, n int) {
	before := maxPrepared
	maxPrepared = n
	t.Cleanup(func() { maxPrepared = before })
}

// FindMany makes n rows many for a search.
func FindMany(t *testing.T, n int) {
	before := manyFound
	manyFound = n
	t.Cleanup(func() { manyFound = before })
}

// FindFew makes n books few, and so many others near, for a page of those that match.
func FindFew(t *testing.T, n, others int) {
	beforeFew, beforeNear := few, near
	few, near = n, others
	t.Cleanup(func() { few, near = beforeFew, beforeNear })
}

// Prepared tells how many statements are kept prepared for reads.
func Prepared(s *Store) int {
	s.reader.mu.RLock()
	defer s.reader.mu.RUnlock()
	return len(s.reader.prepared)
}

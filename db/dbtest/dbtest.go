// Package dbtest makes databases for tests: a real one of each engine that the
// catalogue runs on, empty or a copy of a Template; and it compares what tests write with
// golden files. It knows nothing of the
// catalogue's tables, and must not import db, whose tests import it; package
// catalogtest has databases with the catalogue's schema.
package dbtest

import (
	"path/filepath"
	"testing"
)

const sqlitePrefix = "sqlite:"

// Each runs a test once on each engine, as the subtests "sqlite" and
// "postgres", with the URL of a new empty database. With -short it runs
// on SQLite alone.
func Each(t *testing.T, run func(t *testing.T, url string)) {
	t.Helper()
	each(t, run, SQLite, Postgres)
}

// SQLite returns the URL (sqlite:/folder/catalogue.db) of a database file that
// does not exist yet. It goes with the test's temporary folder.
func SQLite(tb testing.TB) string {
	return sqlitePrefix + filepath.Join(tb.TempDir(), "catalogue.db")
}

// Runs returns how often a random test that is meant to run n times does so: n
// times with the build tag soak (make soak), a tenth of that otherwise.
func Runs(n int) int {
	if Soak {
		return n
	}
	return max(1, n/10)
}

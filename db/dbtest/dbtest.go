// Package dbtest creates databases for tests, on both engines: empty ones or copies of a Template.
// It also compares output with golden files. It must not import package db, whose tests import it.
// Package catalogtest creates databases with the catalogue's schema.
package dbtest

import (
	"path/filepath"
	"testing"
)

const sqlitePrefix = "sqlite:"

// Each runs a test on each engine, as the subtests "sqlite" and "postgres", with the URL of a new
// empty database. With -short it runs on SQLite only.
func Each(t *testing.T, run func(t *testing.T, url string)) {
	t.Helper()
	each(t, run, SQLite, Postgres)
}

// SQLite returns the URL of a database file in the test's temporary folder. The file does not exist
// yet.
func SQLite(tb testing.TB) string {
	return sqlitePrefix + filepath.Join(tb.TempDir(), "catalogue.db")
}

// Runs returns how often a random test runs: n times with the build tag soak (make soak), and n/10
// times without it.
func Runs(n int) int {
	if Soak {
		return n
	}
	return max(1, n/10)
}

// Package dbtest gives tests databases of their own: a real, empty one of each
// engine that the catalogue runs on. It knows nothing of the catalogue's tables,
// and must not import db, whose tests import it.
package dbtest

import (
	"path/filepath"
	"testing"
)

// Each runs a test once on each engine, as the subtests "sqlite" and
// "postgres", with the URL of a fresh empty database. With -short it runs
// on SQLite alone.
func Each(t *testing.T, run func(t *testing.T, url string)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) { run(t, SQLite(t)) })
	if !testing.Short() {
		t.Run("postgres", func(t *testing.T) { run(t, Postgres(t)) })
	}
}

// SQLite gives the URL (sqlite:/folder/catalogue.db) of a database file that
// does not exist yet. It goes with the test's temporary folder.
func SQLite(tb testing.TB) string {
	return "sqlite:" + filepath.Join(tb.TempDir(), "catalogue.db")
}

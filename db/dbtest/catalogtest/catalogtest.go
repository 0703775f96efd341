// Package catalogtest creates databases with the catalogue's schema, and stores on them, for tests.
package catalogtest

import (
	"context"
	"errors"
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
)

var migrated = dbtest.NewTemplate(migrate)

func migrate(ctx context.Context, url string) error {
	s, err := db.Open(ctx, url, db.Options{})
	if err != nil {
		return err
	}
	return errors.Join(s.Migrate(ctx), s.Close())
}

// Each is like dbtest.Each, with databases that have the schema.
func Each(t *testing.T, run func(t *testing.T, url string)) {
	t.Helper()
	migrated.Each(t, run)
}

// SQLite returns the URL of a new SQLite database with the schema.
func SQLite(tb testing.TB) string { tb.Helper(); return migrated.SQLite(tb) }

// Postgres returns the URL of a new PostgreSQL database with the schema.
func Postgres(tb testing.TB) string { tb.Helper(); return migrated.Postgres(tb) }

// Open opens a store and closes it when the test ends.
func Open(tb testing.TB, url string) *db.Store {
	tb.Helper()
	s, err := db.Open(tb.Context(), url, db.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() }) // it fails if the test killed the server
	return s
}

// Migrate creates the schema in an empty database.
func Migrate(tb testing.TB, url string) string {
	tb.Helper()
	if err := migrate(tb.Context(), url); err != nil {
		tb.Fatal(err)
	}
	return url
}

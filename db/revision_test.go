package db_test

import (
	"testing"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/graph/model"
)

// TestRevisionSeesLateCommits lets two writers commit in the other order than
// they began in. A revision that is the highest number drawn, by a sequence or
// an id, is the same before and after the second commit, so that a reader would
// take an old answer for a new one. The sum of counters is not.
func TestRevisionSeesLateCommits(t *testing.T) {
	t.Parallel()
	url := dbtest.Postgres(t)
	store, err := db.Open(t.Context(), url, db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	raw := sqlx.MustConnect("postgres", url)
	defer raw.Close()

	const insert = `INSERT INTO categories (name) VALUES ($1)`
	early, late := raw.MustBegin(), raw.MustBegin()
	early.MustExec(insert, "drew the lower number, commits last")
	late.MustExec(insert, "drew the higher number, commits first")
	if err := late.Commit(); err != nil {
		t.Fatal(err)
	}
	state := func() (highest int64, revision model.Revision) {
		t.Helper()
		if err := raw.Get(&highest, `SELECT max(id) FROM categories`); err != nil {
			t.Fatal(err)
		}
		revision, err := store.Revision(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return highest, revision
	}
	highestBefore, before := state()
	if err := early.Commit(); err != nil {
		t.Fatal(err)
	}
	highestAfter, after := state()
	if highestBefore != highestAfter {
		t.Errorf("the highest number moved from %d to %d: the test does not show what it should", highestBefore, highestAfter)
	}
	if before.Catalogue+1 != after.Catalogue || before.Reference+1 != after.Reference {
		t.Errorf("the revision moved from %v to %v", before, after)
	}
}

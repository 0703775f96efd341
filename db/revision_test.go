package db_test

import (
	"context"
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
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
	check(t, err)
	defer store.Close()
	check(t, store.Migrate(t.Context()))
	raw := sqlx.MustConnect("postgres", url)
	defer raw.Close()

	const insert = `INSERT INTO categories (name) VALUES ($1)`
	early, late := raw.MustBegin(), raw.MustBegin()
	early.MustExec(insert, "drew the lower number, commits last")
	late.MustExec(insert, "drew the higher number, commits first")
	check(t, late.Commit())
	state := func() (highest int64, revision model.Revision) {
		t.Helper()
		check(t, raw.Get(&highest, `SELECT max(id) FROM categories`))
		revision, err := store.Revision(t.Context())
		check(t, err)
		return highest, revision
	}
	highestBefore, before := state()
	check(t, early.Commit())
	highestAfter, after := state()
	if highestBefore != highestAfter {
		t.Errorf("the highest number moved from %d to %d: the test does not show what it should", highestBefore, highestAfter)
	}
	if before.Catalogue >= after.Catalogue || before.Reference >= after.Reference {
		t.Errorf("the revision moved from %v to %v", before, after)
	}
}

// TestRevisionBesideOpenTransactions has other programs hold transactions open, in which
// they have written or hold every row of the revision that is left: nobody waits for
// them, and the revision moves, also when they end.
func TestRevisionBesideOpenTransactions(t *testing.T) {
	t.Parallel()
	url := catalogtest.Postgres(t)
	s, program := open(t, url), other(t, url)
	home := newShelf(t, s)
	const others = 8
	var held []*sql.Tx
	for i := range others {
		tx := must[*sql.Tx](t)(program.BeginTx(t.Context(), nil))
		must[sql.Result](t)(tx.ExecContext(t.Context(), `INSERT INTO categories (name) VALUES ($1)`, fmt.Sprint("Category ", i)))
		held = append(held, tx)
	}
	all := must[*sql.Tx](t)(program.BeginTx(t.Context(), nil))
	must[sql.Result](t)(all.ExecContext(t.Context(), `SELECT FROM revision FOR UPDATE SKIP LOCKED`))
	held = append(held, all)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	before := revision(t, s)
	moved := func(by string) {
		t.Helper()
		after := revision(t, s)
		if after <= before {
			t.Errorf("%s: the revision was %d and is %d", by, before, after)
		}
		before = after
	}
	for range 4 {
		if _, err := s.Books.Create(ctx, newBook("New", home.genre.ID)); err != nil {
			t.Fatal(err)
		}
		moved("a statement")
		if _, err := s.Books.Update(ctx, home.book.ID, rename("Another"), nil); err != nil {
			t.Fatal(err)
		}
		moved("a transaction")
	}
	if err := together(times(2*others, func() error { return second(s.Books.Create(ctx, newBook("New", home.genre.ID))) })...); err != nil {
		t.Fatal(err)
	}
	moved("many at once")
	for _, tx := range held[:others] {
		check(t, tx.Commit())
		moved("the end of another transaction")
	}
	check(t, all.Rollback())
	rows := ask[int](t, program, `SELECT count(*) FROM revision`)
	for range 2 * others {
		must[*model.Book](t)(s.Books.Create(t.Context(), newBook("New", home.genre.ID)))
	}
	if now := ask[int](t, program, `SELECT count(*) FROM revision`); rows < 65 || rows > 64+2*others+1 || now != rows {
		t.Errorf("the revision had %d rows, and has %d", rows, now)
	}
}

// TestRevisionOfLostCommits writes to two copies of a catalogue, as to a primary whose
// last commits its standby had not received, and to that standby: what each holds then
// has a revision of its own.
func TestRevisionOfLostCommits(t *testing.T) {
	t.Parallel()
	for engine, copied := range map[string]func(testing.TB) string{"sqlite": catalogtest.SQLite, "postgres": catalogtest.Postgres} {
		t.Run(engine, func(t *testing.T) {
			lost, kept := open(t, copied(t)), open(t, copied(t))
			for range 3 {
				for i, s := range []*db.Store{lost, kept} {
					must[*model.Category](t)(s.Categories.Create(t.Context(), &model.CreateCategoryInput{Name: fmt.Sprint("Copy ", i)}))
				}
				a, b := must[model.Revision](t)(lost.Revision(t.Context())), must[model.Revision](t)(kept.Revision(t.Context()))
				if a.Catalogue == b.Catalogue || a.Reference == b.Reference {
					t.Errorf("both are at %+v", a)
				}
			}
		})
	}
}

// TestStartCountsRows starts a store whose catalogue has rows: what requests cost is known
// before the first comes.
func TestStartCountsRows(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		first := catalogtest.Open(t, url)
		if _, err := first.Categories.Create(t.Context(), &model.CreateCategoryInput{Name: "C"}); err != nil {
			t.Fatal(err)
		}
		store, err := db.New(t.Context(), url, db.Options{})
		check(t, err)
		defer store.Close()
		check(t, store.Start(t.Context()))
		if got, want := store.Sizes(), (model.Sizes{Categories: 1}); got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
}

package db_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pressly/goose/v3"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/doctor"
	"library-catalogue/db/schema"
	"library-catalogue/graph/model"
)

func TestMigrate(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		steps := func() []schema.Migration { return must[[]schema.Migration](t)(s.Migrations(t.Context())) }
		before := steps()
		if len(before) == 0 {
			t.Fatal("there is no migration")
		}
		if _, err := other(t, url).Exec(`SELECT 1 FROM goose_db_version`); err == nil {
			t.Error("listing the migrations wrote to the database")
		}
		for i, step := range before {
			if step.Version != int64(i+1) || !strings.HasPrefix(step.Name, fmt.Sprintf("%05d_", i+1)) || !step.Applied.IsZero() {
				t.Errorf("before: step %d is %+v", i+1, step)
			}
		}
		for range 3 { // after the first there is nothing left to do
			check(t, s.Migrate(t.Context()))
		}
		after := steps()
		for i, step := range after {
			if age := time.Since(step.Applied).Abs(); step.Version != before[i].Version || age > time.Hour/2 {
				t.Errorf("after: step %d is %+v, applied %v ago", i+1, step, age)
			}
		}
		newShelf(t, s)
		if err := open(t, url).Migrate(t.Context()); err != nil {
			t.Error(err)
		}
		if n := must[int](t)(s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{})); n != 1 {
			t.Errorf("after migrating again there are %d books", n)
		}
	})
}

// TestStart starts stores on an empty database, and on one that has the schema: no
// statement runs before.
func TestStart(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, url string) {
		for before := range 2 {
			s := must[*db.Store](t)(db.New(t.Context(), url, db.Options{}))
			t.Cleanup(func() { _ = s.Close() })
			for name, err := range map[string]error{
				"a read":        second(s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{})),
				"a write":       second(s.Categories.Create(t.Context(), &model.CreateCategoryInput{Name: "Early"})),
				"a transaction": s.ReadTransaction(t.Context(), model.NoReplica, func(context.Context, *db.Snapshot) error { return nil }),
			} {
				if !model.IsCode(err, model.Unavailable) || model.IsInDoubt(err) {
					t.Errorf("%s before the start: %v", name, err)
				}
			}
			check(t, s.Start(t.Context()))
			newShelf(t, s)
			if n := must[int](t)(s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{})); n != 1+before {
				t.Errorf("there are %d books, want %d", n, 1+before)
			}
		}
	})
}

// TestLongMigration holds a table for longer than a call without a deadline may take:
// the migration waits for it.
func TestLongMigration(t *testing.T) {
	t.Parallel()
	url := dbtest.Postgres(t)
	s, program := openWith(t, url, db.WithCallTimeout(100*time.Millisecond)), other(t, url)
	must[[]*goose.MigrationResult](t)(must[*goose.Provider](t)(goose.NewProvider(goose.DialectPostgres, program, os.DirFS("schema/postgres"))).UpTo(t.Context(), 1))
	holder := must[*sql.Tx](t)(program.BeginTx(t.Context(), nil))
	must[sql.Result](t)(holder.ExecContext(t.Context(), `LOCK TABLE categories, genres, books`))
	migrated := make(chan error, 1)
	go func() { migrated <- s.Migrate(t.Context()) }()
	for !ask[bool](t, program, `SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`) {
	}
	if err := second(s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{})); !model.IsCode(err, model.Unavailable) {
		t.Errorf("a call without a deadline: %v", err)
	}
	check(t, holder.Rollback())
	if err := <-migrated; err != nil {
		t.Error(err)
	}
}

// TestMissingField takes from the schema what the fields need: who opens the store is
// told.
func TestMissingField(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		for _, statement := range []string{`DROP INDEX books_author`, `ALTER TABLE books RENAME COLUMN pages TO leaves`, `ALTER TABLE genres RENAME COLUMN name_fold TO other_fold`} {
			if _, err := program.ExecContext(t.Context(), statement); err != nil {
				t.Fatal(err)
			}
		}
		want := "the schema lacks the column books.pages\nthe schema lacks the column books.pages NOT NULL\nthe schema lacks the index books_author\n" +
			"the schema lacks the column genres.name_fold\nthe schema lacks the column genres.name_fold NOT NULL"
		if err := s.Migrate(t.Context()); err == nil || err.Error() != want {
			t.Errorf("%v\nwant\n%s", err, want)
		}
	})
}

// TestMissingTrigger takes from the schema a trigger that follows from the fields. A migration does not make it again,
// and the examination repairs it.
func TestMissingTrigger(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		name, statement := "books_log_change", `DROP TRIGGER books_log_change ON books`
		if isSQLite(url) {
			name, statement = "books_stamp", `DROP TRIGGER books_stamp`
		}
		exec(t, program, statement)
		want := "the trigger " + name + " does not match the fields: run catalogue db doctor --fix"
		if err := s.Migrate(t.Context()); err == nil || err.Error() != want {
			t.Errorf("%v\nwant\n%s", err, want)
		}
		must[*doctor.Report](t)(doctor.Examine(t.Context(), url, true))
		check(t, s.Migrate(t.Context()))
	})
}

// TestMigrateAtOnce starts processes together on a fresh database: all of them
// succeed.
func TestMigrateAtOnce(t *testing.T) {
	t.Parallel()
	for _, processes := range []int{2, 8} {
		t.Run(fmt.Sprint(processes), func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, url string) {
				var stores []*db.Store
				var run []func() error
				for range processes {
					s := open(t, url)
					stores = append(stores, s)
					run = append(run, func() error {
						if err := s.Migrate(t.Context()); err != nil {
							return err
						}
						return second(s.Categories.Create(t.Context(), &model.CreateCategoryInput{Name: "First"}))
					})
				}
				if err := together(run...); err != nil {
					t.Error(err)
				}
				if n := must[int](t)(stores[0].Unchecked(t.Context()).Categories.Count(t.Context(), model.Selection{})); n != processes {
					t.Errorf("%d categories, want %d", n, processes)
				}
			})
		})
	}
}

// TestNewerSchema opens a database that a later version has migrated.
func TestNewerSchema(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, url string) {
		s, program := migrated(t, url), other(t, url)
		exec(t, program, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (4711, true)")
		for _, s := range []*db.Store{s, open(t, url)} {
			err := s.Migrate(t.Context())
			const want = "the database was migrated by a newer version of catalogue (schema 4711, this program knows "
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("the error is %v, want %q", err, want)
			}
		}
	})
}

// TestForeignTables migrates a database that belongs to something else.
func TestForeignTables(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		exec(t, program, "CREATE TABLE books (title text)")
		exec(t, program, "INSERT INTO books VALUES ('Theirs')")
		if err := s.Migrate(t.Context()); err == nil || !strings.Contains(err.Error(), "books") {
			t.Errorf("the error is %v", err)
		}
		if title := ask[string](t, program, "SELECT title FROM books"); title != "Theirs" {
			t.Errorf("their book is %q now", title)
		}
		if _, err := program.Exec("SELECT 1 FROM categories"); err == nil {
			t.Error("half of the schema is there")
		}
		for _, step := range must[[]schema.Migration](t)(s.Migrations(t.Context())) {
			if !step.Applied.IsZero() {
				t.Errorf("%+v", step)
			}
		}
	})
}

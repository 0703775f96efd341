package db_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/doctor"
	"library-catalogue/db/schema"
)

// lastVersion returns the version of the program's last migration.
func lastVersion(t *testing.T) int {
	t.Helper()
	return len(must[[]fs.DirEntry](t)(fs.ReadDir(schema.Migrations, "postgres")))
}

// nextProgram returns options of a later program, which has these migrations after today's, for both
// engines. In them NEXT is the number of the migration, and LAST that of today's last one.
func nextProgram(t *testing.T, later ...string) db.Options {
	t.Helper()
	files := fstest.MapFS{}
	last := lastVersion(t)
	for _, engine := range []string{"postgres", "sqlite"} {
		for _, file := range must[[]fs.DirEntry](t)(fs.ReadDir(schema.Migrations, engine)) {
			name := engine + "/" + file.Name()
			files[name] = &fstest.MapFile{Data: must[[]byte](t)(fs.ReadFile(schema.Migrations, name))}
		}
		for i, text := range later {
			text = strings.NewReplacer("NEXT", fmt.Sprint(last+1+i), "LAST", fmt.Sprint(last)).Replace(text)
			files[fmt.Sprintf("%s/%05d_later.sql", engine, last+1+i)] = &fstest.MapFile{Data: []byte("-- +goose " + text)}
		}
	}
	return db.WithMigrations(files)
}

const (
	additive    = `Up` + "\n" + `ALTER TABLE books ADD COLUMN shelf_row text; INSERT INTO schema_versions VALUES (NEXT, LAST);`
	destructive = `Up` + "\n" + `ALTER TABLE books DROP COLUMN shelf_row; INSERT INTO schema_versions VALUES (NEXT, NEXT);`
	undeclared  = `Up` + "\n" + `CREATE TABLE shelves (id integer);`
)

// TestOlderProgram moves the schema below a program that runs, and starts that program on each newer
// schema.
func TestOlderProgram(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		running, err := started(t, url, db.Options{})
		check(t, err)
		last := lastVersion(t)
		for later, step := range []struct{ text, check, refusal string }{
			{additive, fmt.Sprintf("warn: The schema has version %d of a newer program; this program knows %d and may serve.", last+1, last), ""},
			{destructive, fmt.Sprintf("fail: The schema has version %d, on which this program may not serve: it knows %d, and at least %d is needed.", last+2, last, last+2),
				fmt.Sprintf("(schema %d, this program knows %d, and at least %d is needed)", last+2, last, last+2)},
			{undeclared, fmt.Sprintf("fail: The schema has version %d, on which this program may not serve: it knows %d, and at least %d is needed.", last+3, last, last+3),
				fmt.Sprintf("(schema %d, this program knows %d, and at least %d is needed)", last+3, last, last+3)},
		} {
			texts := []string{additive, destructive, undeclared}[:later+1]
			if _, err := started(t, url, nextProgram(t, texts...)); err != nil {
				t.Fatal(err)
			}
			wantChecks(t, running, map[string]string{"schema": step.check})
			var log bytes.Buffer
			older, err := started(t, url, db.Options{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			if step.refusal != "" {
				if err == nil || !strings.Contains(err.Error(), step.refusal) {
					t.Errorf("step %d: %v, want %q", later+1, err, step.refusal)
				}
				if err := older.Migrate(t.Context()); err == nil || !strings.Contains(err.Error(), step.refusal) {
					t.Errorf("step %d: migrate ended with %v, want %q", later+1, err, step.refusal)
				}
				continue
			}
			check(t, err)
			if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "the schema is of a newer program") {
				t.Errorf("step %d: the log is %s", later+1, &log)
			}
			newShelf(t, older)
			check(t, older.Migrate(t.Context()))
			wantChecks(t, older, map[string]string{"schema": step.check})
		}
	})
}

// TestMigrationsDeclareProgram reads which programs may serve on each version, and how a migration
// waits for a lock.
func TestMigrationsDeclareProgram(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		program := other(t, url)
		if n := ask[int](t, program, `SELECT count(*) FROM schema_versions`); n != lastVersion(t) {
			t.Errorf("schema_versions has %d rows, and there are %d migrations", n, lastVersion(t))
		}
	})
	for _, file := range must[[]fs.DirEntry](t)(fs.ReadDir(schema.Migrations, "postgres"))[3:] {
		text := string(must[[]byte](t)(fs.ReadFile(schema.Migrations, "postgres/"+file.Name())))
		if !strings.HasPrefix(text, "-- +goose Up\nSET LOCAL lock_timeout = '2s';\n") && !strings.HasPrefix(text, "-- +goose NO TRANSACTION\n") {
			t.Errorf("%s begins neither with SET LOCAL lock_timeout nor with NO TRANSACTION", file.Name())
		}
	}
}

// TestSchemaBeforeRelease opens a database whose migrations had the same numbers before 0.1.0.
func TestSchemaBeforeRelease(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		exec(t, program, `DROP TABLE schema_versions`)
		exec(t, program, `DELETE FROM goose_db_version WHERE version_id > 3`)
		for version := 4; version <= 9; version++ {
			exec(t, program, `INSERT INTO goose_db_version (version_id, is_applied) VALUES ($1, true)`, version)
		}
		const want = "the database is of a program before 0.1.0, whose schema 9 cannot be upgraded: export the catalogue with that program"
		_, err := started(t, url, db.Options{})
		_, listed := s.Migrations(t.Context())
		_, examined := doctor.Examine(t.Context(), url, false)
		for _, err := range []error{s.Migrate(t.Context()), err, listed, examined} {
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("the error is %v, want %q", err, want)
			}
		}
	})
}

// TestMigrationLetsOthersPass holds a table that a migration changes: the migration gives way to
// other statements, and runs when the table is free.
func TestMigrationLetsOthersPass(t *testing.T) {
	t.Parallel()
	url := catalogtest.Postgres(t)
	log := newLog("it is tried again")
	options := nextProgram(t, strings.Replace(additive, "ALTER", "SET LOCAL lock_timeout = '10ms'; ALTER", 1))
	options.Logger = slog.New(slog.NewTextHandler(log, nil))
	s, program := openWith(t, url, options), other(t, url)
	holder := must[*sql.Tx](t)(program.BeginTx(t.Context(), nil))
	must[sql.Result](t)(holder.ExecContext(t.Context(), `SELECT 1 FROM books`))
	migrated := make(chan error, 1)
	go func() { migrated <- s.Migrate(t.Context()) }()
	<-log.seen
	check(t, holder.Rollback())
	check(t, <-migrated)
	if n := ask[int](t, program, `SELECT count(shelf_row) FROM books`); n != 0 {
		t.Errorf("%d marks", n)
	}
}

// TestConcurrentIndex builds an index without a transaction by two processes at once, and again
// after an interruption left an invalid one.
func TestConcurrentIndex(t *testing.T) {
	t.Parallel()
	url := catalogtest.Postgres(t)
	newShelf(t, open(t, url))
	program := other(t, url)
	exec(t, program, `INSERT INTO books (name, pages, published_at, author, genre_id, price_cents) SELECT name, pages, published_at, author, genre_id, price_cents FROM books`)
	if _, err := program.ExecContext(t.Context(), `CREATE UNIQUE INDEX CONCURRENTLY books_pages_new ON books (pages)`); err == nil {
		t.Fatal("the index is valid")
	}
	const step = `NO TRANSACTION
-- +goose Up
INSERT INTO schema_versions VALUES (NEXT, LAST) ON CONFLICT DO NOTHING;
DROP INDEX CONCURRENTLY IF EXISTS books_pages_new;
CREATE INDEX CONCURRENTLY books_pages_new ON books (pages, author);`
	options := nextProgram(t, step)
	check(t, together(times(2, func() error {
		_, err := started(t, url, options)
		return err
	})...))
	if !ask[bool](t, program, `SELECT indisvalid FROM pg_index WHERE indexrelid = 'books_pages_new'::regclass`) {
		t.Error("the index is not valid")
	}
}

// logUntil is a log that closes seen when it has a text.
type logUntil struct {
	text string
	seen chan struct{}
	done bool
}

func newLog(text string) *logUntil { return &logUntil{text: text, seen: make(chan struct{})} }

func (l *logUntil) Write(line []byte) (int, error) {
	if !l.done && bytes.Contains(line, []byte(l.text)) {
		l.done = true
		close(l.seen)
	}
	return len(line), nil
}

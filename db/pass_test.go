package db_test

import (
	"database/sql"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/doctor"
)

// oddBooks are names whose key of search another rule made, with searches that find them.
var oddBooks = [][2]string{
	{"אֶרֶץ אֲחֶרֶת", "ארץ"},
	{"كِتَاب الأيّام", "كتاب الأيام"},
	{"ＵＳＢ入門", "usb"},
	{"ｶﾞﾗｽ", "ガラス"},
	{"Eﬃcient ﬁshing", "efficient fishing"},
	{"Co\u00adope\u00adration", "cooperation"},
	{"Mid\u200bnight\u200e", "midnight"},
	{"You’ll Never", "youll"},
	{"Wi-Fi at Sea", "wifi"},
	{"Catch-23", "catch23"},
	{"  Two\u00a0 spaces ", "two spaces"},
}

// TestSearchKeyUpgrade upgrades a catalogue of the schema before collate.Fold ignored width, vowel points and invisible
// characters. The pass over its rows is interrupted, and continues at the next start. Then each search finds what it
// finds in a new catalogue, and neither the rows nor the log have changed.
func TestSearchKeyUpgrade(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, url string) {
		engine, stop := goose.DialectPostgres, `CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''stopped''; END'; CREATE TRIGGER stop BEFORE INSERT ON books_search FOR EACH ROW WHEN (NEW.id > 1500) EXECUTE FUNCTION stop()`
		goOn := `DROP TRIGGER stop ON books_search; DROP FUNCTION stop`
		folder := "schema/postgres"
		if isSQLite(url) {
			engine, folder = goose.DialectSQLite3, "schema/sqlite"
			stop, goOn = `CREATE TRIGGER stop BEFORE UPDATE OF name_fold ON books WHEN NEW.id > 1500 BEGIN SELECT RAISE(ABORT, 'stopped'); END`, `DROP TRIGGER stop`
		}
		program := other(t, url)
		must[[]*goose.MigrationResult](t)(must[*goose.Provider](t)(goose.NewProvider(engine, program, os.DirFS(folder))).UpTo(t.Context(), 7))
		fill := func(url string) {
			program := other(t, url)
			exec(t, program, `INSERT INTO categories (name) VALUES ('Wi-Fi')`)
			exec(t, program, `INSERT INTO genres (name, description, category_id) VALUES ('Ｇenre', 'You''ll', 1)`)
			const insert = `INSERT INTO books (name, author, description, pages, published_at, price_cents, genre_id) VALUES ($1, $2, $3, 1, '2000-01-01', 0, 1)`
			for _, book := range oddBooks {
				exec(t, program, insert, book[0], "Plain", "x")
				exec(t, program, insert, "B", book[0], strings.Repeat(book[0]+" ", 20))
			}
			addBooks(t, program, 2300, 1)
			for _, book := range oddBooks {
				exec(t, program, insert, book[0], book[0], nil)
			}
		}
		fill(url)
		state := func() string {
			return ask[string](t, program, `SELECT concat((SELECT count(*) FROM changes), ' ', count(*), ' ', sum(version), ' ', min(updated_at), ' ', max(updated_at)) FROM books`)
		}
		before := state()
		exec(t, program, stop)
		if _, err := started(t, url, db.Options{}); err == nil || !strings.Contains(err.Error(), "stopped") {
			t.Fatalf("the interrupted pass ended with %v", err)
		}
		if at := ask[int](t, program, `SELECT position FROM passes WHERE version = 8 AND name = 'books'`); at == 0 {
			t.Error("the interrupted pass has no position")
		}
		exec(t, program, goOn)
		s, err := started(t, url, db.Options{})
		check(t, err)
		if left := ask[int](t, program, `SELECT count(*) FROM passes`); left != 0 {
			t.Errorf("%d passes are not complete", left)
		}
		if after := state(); after != before {
			t.Errorf("the changes, books, versions and times are %s, and were %s", after, before)
		}
		if report := must[*doctor.Report](t)(doctor.Examine(t.Context(), url, false)); len(report.Problems) > 0 {
			t.Errorf("%+v", report.Problems)
		}
		url = catalogtest.SQLite(t)
		fill(url)
		fresh := open(t, url)
		for _, book := range oddBooks {
			want := foundBooks(t, fresh, book[1])
			if len(want) < 3 {
				t.Errorf("%s finds only %q", book[1], want)
			}
			if diff := cmp.Diff(want, foundBooks(t, s, book[1])); diff != "" {
				t.Errorf("%s finds (-new catalogue +upgraded):\n%s", book[1], diff)
			}
		}
	})
}

// TestPassSeesWriters upgrades while a transaction has stored a book by the former functions and not committed yet.
func TestPassSeesWriters(t *testing.T) {
	t.Parallel()
	url := dbtest.Postgres(t)
	s, program := open(t, url), other(t, url)
	must[[]*goose.MigrationResult](t)(must[*goose.Provider](t)(goose.NewProvider(goose.DialectPostgres, program, os.DirFS("schema/postgres"))).UpTo(t.Context(), 7))
	exec(t, program, `INSERT INTO categories (name) VALUES ('Fiction')`)
	exec(t, program, `INSERT INTO genres (name, category_id) VALUES ('Fantasy', 1)`)
	addBooks(t, program, 1, 1) // without a book there is no pass
	writer := must[*sql.Tx](t)(program.BeginTx(t.Context(), nil))
	must[sql.Result](t)(writer.ExecContext(t.Context(), `INSERT INTO books (name, author, pages, published_at, price_cents, genre_id) VALUES ('Wi-Fi ＵＳＢ', 'A', 1, '2000-01-01', 0, 1)`))
	migrated := make(chan error, 1)
	go func() { migrated <- s.Migrate(t.Context()) }()
	for !ask[bool](t, program, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database())`) {
	}
	check(t, writer.Commit())
	check(t, <-migrated)
	if found := ask[string](t, program, `SELECT name_fold FROM books WHERE id = 2`); found != "wi-fi usb" {
		t.Errorf("the folded name is %q", found)
	}
}

// TestFormerProgramGivesWords stores a book as a program of schema 7 does on SQLite, which gives the folded forms and
// the words of its own rule. Triggers derive them again.
func TestFormerProgramGivesWords(t *testing.T) {
	t.Parallel()
	url := catalogtest.SQLite(t)
	home := newShelf(t, open(t, url))
	program := other(t, url)
	exec(t, program, `INSERT INTO books (name, name_fold, name_words, author, author_fold, author_words, description, description_words, actor, pages, published_at, price_cents, genre_id)
VALUES ('Wi-Fi ＵＳＢ', 'wi-fi ｕｓｂ', 'wi fi ｕｓｂ', 'Co' || char(173) || 'op', 'co op', 'co op', 'You''ll', 'you ll', 'ann', 1, '2000-01-01', 0, $1)`, home.genre.ID)
	wantBooksInSearch(t, url, program)
	if n := ask[int](t, program, `SELECT count(*) FROM books WHERE author_words IS NOT NULL OR description_words IS NOT NULL OR actor IS NOT NULL`); n != 0 {
		t.Errorf("%d books keep what was given", n)
	}
	if actor := ask[string](t, program, `SELECT actor FROM changes ORDER BY seq DESC LIMIT 1`); actor != "ann" {
		t.Errorf("the actor is %s", actor)
	}
}

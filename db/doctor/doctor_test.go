package doctor

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/jmoiron/sqlx"

	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// ailment is a database that was broken by hand.
type ailment struct {
	name             string
	postgres, sqlite string // what breaks it; empty: the engine cannot be broken so
	check, problem   string // what is found first
	left             bool   // after a fix
}

var ailments = []ailment{
	{name: "index", postgres: `DROP INDEX books_name`, sqlite: `DROP INDEX books_name`, check: "schema", problem: "The index books_name is missing."},
	{name: "another index", postgres: `DROP INDEX books_name; CREATE INDEX books_name ON books (id)`, sqlite: `DROP INDEX books_name; CREATE INDEX books_name ON books (id)`, check: "schema", problem: "The index books_name differs"},
	{name: "invalid index", postgres: `UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'books_price'::regclass`, check: "schema", problem: "The index books_price differs"},
	{name: "entries of an index", sqlite: `PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = 'CREATE INDEX books_pages ON books (pages, id) WHERE pages > 1' WHERE name = 'books_pages';
PRAGMA writable_schema = RESET; REINDEX books_pages; PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = 'CREATE INDEX books_pages ON books (pages, id)' WHERE name = 'books_pages'; PRAGMA writable_schema = RESET`, check: "file", problem: "index books_pages"},
	{name: "trigger", postgres: `DROP TRIGGER books_revision ON books`, sqlite: `DROP TRIGGER books_revision_update`, check: "schema", problem: "The trigger books_revision"},
	{name: "disabled trigger", postgres: `ALTER TABLE books DISABLE TRIGGER books_search_insert`, check: "schema", problem: "The trigger books_search_insert differs"},
	{name: "function", postgres: `CREATE OR REPLACE FUNCTION fold(text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS 'BEGIN RETURN lower($1); END'; INSERT INTO books (name, pages, published_at, author, price_cents, genre_id) VALUES ('Émile', 1, '2000-01-01', 'a', 1, 1)`,
		check: "schema", problem: "The function fold differs"},
	{name: "constraint", postgres: `ALTER TABLE books DROP CONSTRAINT books_pages_check`, check: "schema", problem: "The constraint books_pages_check is missing."},
	{name: "constraint that a row breaks", postgres: `ALTER TABLE books DROP CONSTRAINT books_pages_check; UPDATE books SET pages = -1 WHERE id = 1`, check: "schema", problem: "The constraint books_pages_check is missing.", left: true},
	{name: "row that breaks a constraint", sqlite: `PRAGMA ignore_check_constraints = 1; UPDATE books SET pages = -1 WHERE id = 1`, check: "file", problem: "CHECK constraint failed in books", left: true},
	{name: "column", postgres: `ALTER TABLE books DROP COLUMN author_short CASCADE`, sqlite: `ALTER TABLE idempotency_keys DROP COLUMN fingerprint`, check: "schema", problem: "The", left: true},
	{name: "constraint that is not validated", postgres: `ALTER TABLE books DROP CONSTRAINT books_genre_id_fkey; ALTER TABLE books ADD CONSTRAINT books_genre_id_fkey FOREIGN KEY (genre_id) REFERENCES genres (id) NOT VALID`,
		check: "schema", problem: "The constraint books_genre_id_fkey differs"},
	{name: "reference", postgres: `ALTER TABLE books DROP CONSTRAINT books_genre_id_fkey; UPDATE books SET genre_id = 77 WHERE id = 2`, sqlite: `PRAGMA foreign_keys = 0; UPDATE books SET genre_id = 77 WHERE id = 2`, check: "references", problem: "These books refer to missing genres: 2.", left: true},
	{name: "folded text", sqlite: `UPDATE books SET name_fold = 'x' WHERE id = 2`, check: "search", problem: "The search index does not match the texts of these books: 2."},
	{name: "words of a genre", postgres: `UPDATE genres_search SET words = array_to_tsvector('{nx}') WHERE id = 1; INSERT INTO vocabulary VALUES ('x')`, sqlite: `UPDATE genres_search SET name = 'x' WHERE rowid = 1`, check: "search", problem: "does not match the texts of these genres: 1."},
	{name: "books of another rule", postgres: `ALTER FUNCTION joined RENAME TO j; CREATE FUNCTION joined(folded text) RETURNS text LANGUAGE sql AS 'SELECT ''''::text'; INSERT INTO books (name, pages, published_at, author, price_cents, genre_id) VALUES ('Wi-Fi', 1, '2000-01-01', 'a', 1, 1); DROP FUNCTION joined; ALTER FUNCTION j RENAME TO joined`,
		sqlite: `UPDATE books SET name = 'Wi-Fi' WHERE id = 2; UPDATE books SET name_words = 'wi fi' WHERE id = 2`, check: "search", problem: "does not match the texts of these books:"},
	{name: "name in a search", postgres: `UPDATE books_search SET name = 'x' WHERE id = 1`, sqlite: `UPDATE books SET name_words = 'x' WHERE id = 1`, check: "search", problem: "does not match the texts of these books: 1."},
	{name: "row not in the search", postgres: `DELETE FROM categories_search`, sqlite: `DELETE FROM categories_search`, check: "search", problem: "does not match the texts of these categories: 1."},
	{name: "row in the search alone", postgres: `INSERT INTO books_search (id, name, words) VALUES (9, 'x', '')`, sqlite: `INSERT INTO books_search (rowid, name) VALUES (9, 'x')`, check: "search", problem: "The search index contains missing books: 1."},
	{name: "words of the index", sqlite: `DELETE FROM books_search_data WHERE id > 10`, check: "file", problem: "books_search"},
	{name: "search", sqlite: `DROP TABLE books_search`, check: "schema", problem: "The table books_search is missing."},
	{name: "vocabulary", postgres: `DELETE FROM vocabulary WHERE word = 'hobbit'`, check: "search", problem: "The vocabulary for typo correction lacks words of the books: 1."},
	{name: "revision", postgres: `DELETE FROM revision`, sqlite: `DELETE FROM revision`, check: "revision", problem: "The revision, which"},
	{name: "size of the revision", postgres: `DO $$ BEGIN FOR i IN 1..500 LOOP UPDATE revision SET n = n + 1; END LOOP; END $$`, check: "revision", problem: "The table revision takes", left: true},
	{name: "beginning of the log", sqlite: `DELETE FROM feed`, check: "changes", problem: "The log of changes has no beginning"},
	{name: "trigger of the log", postgres: `DROP TRIGGER books_log_change ON books`, sqlite: `DROP TRIGGER books_log_delete`, check: "schema", problem: "The trigger books_log"},
	{name: "deletion that is not logged", postgres: `SET session_replication_role = replica; DELETE FROM books WHERE id = 3`, sqlite: `UPDATE changes SET row_id = 77 WHERE type = 'b' AND row_id = 3`, check: "changes", problem: "does not have the newest state of these books: "},
	{name: "creation that is not logged", postgres: `SET session_replication_role = replica; INSERT INTO genres (id, name, category_id) VALUES (5, 'New', 1)`, sqlite: `UPDATE changes SET type = 'x' WHERE type = 'g'`, check: "changes", problem: "does not have the newest state of these genres: "},
	{name: "version that is not logged", postgres: `SET session_replication_role = replica; UPDATE categories SET version = 7`, sqlite: `UPDATE changes SET version = 7 WHERE type = 'c'`, check: "changes", problem: "does not have the newest state of these categories: 1."},
	{name: "ids", postgres: `SELECT setval(pg_get_serial_sequence('books', 'id'), 1)`, sqlite: `UPDATE sqlite_sequence SET seq = 1 WHERE name = 'books'`, check: "ids", problem: "The next id of books is 2, but 3 exists."},
	{name: "no ids", sqlite: `DELETE FROM sqlite_sequence`, check: "ids", problem: "The next id of categories is 1, but 1 exists."},
}

// newCatalogue fills a database by the service.
func newCatalogue(t *testing.T, url string) {
	t.Helper()
	store := catalogtest.Open(t, url)
	ctx, text := context.WithoutCancel(t.Context()), func(s string) graphql.Omittable[*string] { return graphql.OmittableOf(&s) }
	category, err := store.Categories.Create(ctx, &model.CreateCategoryInput{Name: "Fiction", Description: text("What's never happened")})
	if err != nil {
		t.Fatal(err)
	}
	genre, err := store.Genres.Create(ctx, &model.CreateGenreInput{Name: "Fantasy — 幻想", CategoryID: category.ID})
	if err != nil {
		t.Fatal(err)
	}
	for _, book := range []model.CreateBookInput{
		{Name: "The Hobbit", Author: "J. R. R. Tolkien", Description: text("There & back again; Łódź, Straße, 한글")},
		{Name: "!?", Author: strings.Repeat("Émile ", 30)},
		{Name: strings.Repeat("w", 400), Author: "X Y Z"},
	} {
		book.Pages, book.PublishedAt, book.GenreID = 1, model.Date{Year: 2000, Month: 1, Day: 1}, genre.ID
		if _, err := store.Books.Create(ctx, &book); err != nil {
			t.Fatal(err)
		}
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
}

func breakBy(t *testing.T, url, text string) {
	t.Helper()
	store := catalogtest.Open(t, url)
	defer store.Close()
	pool, _ := connections(store, true)
	if _, err := pool.ExecContext(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

func examine(t *testing.T, url string, fix bool) *Report {
	t.Helper()
	report, err := Examine(t.Context(), url, fix)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// versions returns what no fix may change.
func versions(t *testing.T, url string) (versions []string) {
	t.Helper()
	store := catalogtest.Open(t, url)
	defer store.Close()
	pool, _ := connections(store, false)
	if err := sqlx.SelectContext(t.Context(), pool, &versions, `SELECT concat(id, ' ', version, ' ', updated_at, ' ', name, ' ', (SELECT count(*) FROM changes WHERE row_id <> 0)) FROM books ORDER BY id`); err != nil {
		t.Fatal(err)
	}
	return versions
}

// TestHealthy finds nothing in a catalogue that the service has written, nor in an empty
// one.
func TestHealthy(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		if report := examine(t, url, false); len(report.Problems) > 0 {
			t.Errorf("empty: %+v", report.Problems)
		}
		newCatalogue(t, url)
		for _, fix := range []bool{false, true} {
			if report := examine(t, url, fix); len(report.Problems) > 0 || len(report.Checks) != len(checks) {
				t.Errorf("%+v", report)
			}
		}
	})
}

// TestRestoredDump finds nothing in a database that was dumped and restored, twice.
func TestRestoredDump(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	url := catalogtest.Migrate(t, cluster.Database(t))
	newCatalogue(t, url)
	for range 2 {
		url = cluster.Dumped(t, url)
		if report := examine(t, url, true); len(report.Problems) > 0 {
			t.Errorf("%+v", report.Problems)
		}
	}
}

// TestOtherSchemas examines only the schema that this program knows.
func TestOtherSchemas(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		for _, other := range []struct{ harm, says string }{
			{`UPDATE goose_db_version SET is_applied = false WHERE version_id = (SELECT max(version_id) FROM goose_db_version)`, "run catalogue db migrate up first"},
			{`INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)`, "of a newer program"},
			{`DROP TABLE goose_db_version`, "the database has no catalogue"},
		} {
			breakBy(t, url, other.harm)
			if _, err := Examine(t.Context(), url, true); err == nil || !strings.Contains(err.Error(), other.says) {
				t.Errorf("%s: %v", other.harm, err)
			}
		}
	})
}

// TestAilments breaks a database in each way: that is found, and mended where it can be,
// and nothing else is changed.
func TestAilments(t *testing.T) {
	t.Parallel()
	for _, a := range ailments {
		t.Run(a.name, func(t *testing.T) {
			catalogtest.Each(t, func(t *testing.T, url string) {
				harm := a.postgres
				if strings.HasPrefix(url, "sqlite:") {
					harm = a.sqlite
				}
				if harm == "" {
					return
				}
				newCatalogue(t, url)
				breakBy(t, url, harm)
				before := versions(t, url)
				report := examine(t, url, false)
				if len(report.Problems) == 0 {
					t.Fatal("nothing is found")
				}
				found := false
				for _, p := range report.Problems {
					found = found || p.Check == a.check && strings.Contains(p.Problem, a.problem)
					if p.Fixed || p.Mend == "" {
						t.Errorf("%+v", p)
					}
				}
				if !found {
					t.Errorf("it finds %+v", report.Problems)
				}
				fixed := examine(t, url, true)
				if left := fixed.Left() > 0; left != a.left {
					t.Errorf("it was fixed as far as %+v", fixed.Problems)
				}
				if again := examine(t, url, false); len(again.Problems) > 0 != a.left {
					t.Errorf("afterwards there is %+v", again.Problems)
				}
				if after := versions(t, url); fmt.Sprint(after) != fmt.Sprint(before) {
					t.Errorf("the books are %q, and were %q", after, before)
				}
			})
		})
	}
}

package schema_test

import (
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/dialect"
	"library-catalogue/db/schema"
	"library-catalogue/graph/model"
)

// TestFoldingIsPinned compares the statements that fill SQLite's tables of characters with those of migration 8. If they
// differ, add a migration that runs them, another pass over all rows, and the difference to fold of PostgreSQL.
func TestFoldingIsPinned(t *testing.T) {
	t.Parallel()
	const want = "b26c753a495b7939dfd5fe030b962710a41c9b4723cacc3967c651438570c5a0"
	if got := fmt.Sprintf("%x", sha256.Sum256([]byte(schema.FillFolding()))); got != want {
		t.Errorf("the statements have the hash %s", got)
	}
}

// TestFurtherField adds a text to books, as a migration does: writes of a program that knows the field, and of one
// that does not, are folded, stamped and logged.
func TestFurtherField(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := catalogtest.Open(t, url)
		pool, d := s.Pools()["sqlite-writer"], dialect.SQLite
		if pool == nil {
			pool, d = s.Pools()["postgres"], dialect.Postgres
		}
		run := func(text string) {
			t.Helper()
			if _, err := pool.ExecContext(t.Context(), text); err != nil {
				t.Fatalf("%s: %v", text, err)
			}
		}
		run(`INSERT INTO categories (name) VALUES ('Fiction')`)
		run(`INSERT INTO genres (name, category_id) VALUES ('Novels', 1)`)
		run(`ALTER TABLE books ADD COLUMN edition text`)
		run(`ALTER TABLE books ADD COLUMN edition_fold text NOT NULL DEFAULT ''`)
		field := model.FieldInfo{Name: "edition", Key: "edition", Column: "edition", Nullable: true, Writable: true, Use: model.Filterable | model.Orderable}
		for range 2 { // the last migration may run it on a schema that has them
			run(schema.MakeTriggers(d, field))
		}
		var row struct {
			folded  string
			version int
			old     sql.NullString
		}
		read := func() {
			t.Helper()
			const text = `SELECT b.edition_fold, b.version, (SELECT CAST(old AS text) FROM changes WHERE type = 'b' ORDER BY seq DESC LIMIT 1) FROM books b`
			if err := pool.QueryRowContext(t.Context(), text).Scan(&row.folded, &row.version, &row.old); err != nil {
				t.Fatal(err)
			}
		}
		want := func(folded string, version int, edition any) {
			t.Helper()
			read()
			old := map[string]any{}
			if row.old.Valid {
				if err := json.Unmarshal([]byte(row.old.String), &old); err != nil {
					t.Fatal(err)
				}
			}
			_, derived := old["edition_fold"]
			if row.folded != folded || row.version != version || old["edition"] != edition || derived {
				t.Errorf("%+v, want %q, version %d and %v in the log", row, folded, version, edition)
			}
		}
		run(`INSERT INTO books (name, pages, published_at, author, price_cents, genre_id, edition) VALUES ('Dune', 1, '2000-01-01', 'Herbert', 1, 1, 'Ünter')`)
		want("unter", 1, nil)
		revision := func() int64 {
			t.Helper()
			at, err := s.Revision(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return at.Catalogue
		}
		before := revision()
		run(`UPDATE books SET edition = 'Öl'`)
		want("ol", 2, "Ünter")
		if revision() == before {
			t.Error("the revision stayed")
		}
		run(`UPDATE books SET edition = NULL`)
		want("", 3, "Öl")
		run(`DELETE FROM books`)
		var old string
		const last = `SELECT CAST(old AS text) FROM changes WHERE operation = 'd'`
		if err := pool.QueryRowContext(t.Context(), last).Scan(&old); err != nil || !strings.Contains(strings.ReplaceAll(old, " ", ""), `"edition":null`) {
			t.Errorf("the deletion logged %s: %v", old, err)
		}
	})
}

package db_test

import (
	"database/sql"
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// TestRevisionAdvancesOnce has other programs write by many statements in a transaction. The first statement of each table
// advances the revision, and no trick keeps a commit from advancing it. A step begins with what it does to the revision
// that the transaction sees: + advances it, = keeps it, - takes a savepoint's steps back.
func TestRevisionAdvancesOnce(t *testing.T) {
	t.Parallel()
	const (
		book  = `+ UPDATE books SET pages = pages % 9 + 1`
		again = `= UPDATE books SET pages = pages % 9 + 1`
		genre = `+ UPDATE genres SET description = 'Other'`
		save  = `= SAVEPOINT a`
		undo  = `- ROLLBACK TO a`
	)
	url := catalogtest.Postgres(t)
	s, program := open(t, url), other(t, url)
	newShelf(t, s)
	read := func(on interface {
		QueryRow(string, ...any) *sql.Row
	}) (at model.Revision) {
		t.Helper()
		check(t, on.QueryRow(`SELECT sum(n), sum(reference) FROM revision`).Scan(&at.Catalogue, &at.Reference))
		return at
	}
	for name, tt := range map[string]struct {
		steps     []string
		reference bool // the revision of genres and categories advances
	}{
		"many statements":         {steps: []string{book, again, `= DELETE FROM books WHERE id < 0`, `= UPDATE books SET pages = 3 WHERE id < 0`, again}},
		"genres after books":      {steps: []string{book, genre, again, `= UPDATE genres SET description = 'Third'`}, reference: true},
		"books after genres":      {steps: []string{genre, book, again}, reference: true},
		"both of the reference":   {steps: []string{genre, `+ UPDATE categories SET description = 'Other'`}, reference: true},
		"a savepoint undone":      {steps: []string{save, book, again, undo, book, again}},
		"only undone":             {steps: []string{save, book, undo, book, save, again, `= ROLLBACK TO a`}},
		"a savepoint kept":        {steps: []string{save, book, `= RELEASE a`, again}},
		"undone around a kept":    {steps: []string{save, `= SAVEPOINT b`, book, `= RELEASE b`, again, undo, book}},
		"kept in an undone":       {steps: []string{book, save, again, genre, undo, again, genre}, reference: true},
		"an error that is caught": {steps: []string{`= DO $$ BEGIN UPDATE books SET pages = 4; RAISE 'undone'; EXCEPTION WHEN raise_exception THEN NULL; END $$`, book}},
		"an error in a function":  {steps: []string{`+ DO $$ BEGIN UPDATE books SET pages = 4; BEGIN UPDATE books SET pages = 5; RAISE 'undone'; EXCEPTION WHEN raise_exception THEN NULL; END; END $$`, again}},
		"settings that are reset": {steps: []string{book, `= RESET ALL`, book, save, `= RESET catalogue.revised_books`, `+ UPDATE books SET pages = 6`, undo, again}},
		"marks of others": {steps: []string{`= SET catalogue.revised_books = 'on'`, book, `= SET LOCAL catalogue.revised_books = ''`, book,
			`= SELECT set_config('catalogue.revised_books', (pg_current_xact_id()::text::bigint - 1) || ' public', false)`, book}},
		"a function with a mark": {steps: []string{`= CREATE FUNCTION write() RETURNS void LANGUAGE sql SET catalogue.revised_books = 'on' AS 'UPDATE books SET pages = 7'`,
			`+ SELECT write()`, book, again}},
		"an emptied table":    {steps: []string{book, `= TRUNCATE books`, `= INSERT INTO books (name, pages, published_at, author, price_cents, genre_id) VALUES ('New', 1, '2000-01-01', 'A', 1, 1)`}},
		"only an emptied one": {steps: []string{`+ TRUNCATE books`}},
		"a role":              {steps: []string{book, `= SET LOCAL statement_timeout = '1min'`, `= SET CONSTRAINTS ALL IMMEDIATE`, again}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := program.Exec(`DROP FUNCTION IF EXISTS write; RESET ALL`); err != nil {
				t.Fatal(err)
			}
			begin := must[model.Revision](t)(s.Revision(t.Context()))
			tx := must[*sql.Tx](t)(program.BeginTx(t.Context(), nil))
			defer tx.Rollback()
			for _, step := range tt.steps {
				before := read(tx).Catalogue
				must[sql.Result](t)(tx.Exec(step[2:]))
				after := read(tx).Catalogue
				if step[0] == '+' && after <= before || step[0] == '=' && after != before || step[0] == '-' && after >= before {
					t.Errorf("%s: the revision was %d and is %d", step, before, after)
				}
			}
			last := read(tx)
			if now := must[model.Revision](t)(s.Revision(t.Context())); now != begin {
				t.Errorf("before the commit the revision was %v and is %v", begin, now)
			}
			check(t, tx.Commit())
			now := must[model.Revision](t)(s.Revision(t.Context()))
			if now != last || now.Catalogue == begin.Catalogue || (now.Reference != begin.Reference) != tt.reference {
				t.Errorf("the revision was %v, %v before the commit, and is %v", begin, last, now)
			}
		})
	}
}

// TestRevisionOfTransactionsInAProcedure commits between the statements of one procedure.
func TestRevisionOfTransactionsInAProcedure(t *testing.T) {
	t.Parallel()
	url := catalogtest.Postgres(t)
	newShelf(t, open(t, url))
	exec(t, other(t, url), `DO $$ DECLARE before bigint; BEGIN
  FOR i IN 1..3 LOOP
    before := (SELECT sum(n) FROM revision);
    UPDATE books SET pages = 8;
    IF before = (SELECT sum(n) FROM revision) THEN RAISE 'The revision stayed.'; END IF;
    COMMIT;
  END LOOP;
END $$`)
}

// TestRevisionsOfTwoSchemas writes to two catalogues of one database in a transaction: both revisions advance.
func TestRevisionsOfTwoSchemas(t *testing.T) {
	t.Parallel()
	url := dbtest.Postgres(t)
	program := other(t, url)
	exec(t, program, `CREATE SCHEMA first; CREATE SCHEMA second; CREATE EXTENSION pg_trgm`)
	var stores []*db.Store
	for _, name := range []string{"first", "second"} {
		s := must[*db.Store](t)(db.Open(t.Context(), url+"&search_path="+name+",public", db.Options{}))
		defer s.Close()
		check(t, s.Migrate(t.Context()))
		newShelf(t, s)
		stores = append(stores, s)
	}
	for range 2 {
		before := []int64{revision(t, stores[0]), revision(t, stores[1])}
		tx := must[*sql.Tx](t)(program.BeginTx(t.Context(), nil))
		for _, table := range []string{"first.books", "second.books", "first.books"} {
			must[sql.Result](t)(tx.Exec(`UPDATE ` + table + ` SET pages = pages % 9 + 1`))
		}
		check(t, tx.Commit())
		for i, s := range stores {
			if revision(t, s) == before[i] {
				t.Errorf("revision %d stayed", i)
			}
		}
	}
}

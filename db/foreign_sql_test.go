package db_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/doctor"
	"library-catalogue/graph/model"
)

// foreignWrites are ways in which SQL of another program changes rows, with the triggers on. %d is a random number below
// 10.
var foreignWrites = struct{ both, sqlite, postgres []string }{
	both: []string{
		`INSERT INTO books (name, pages, published_at, author, price_cents, genre_id) VALUES ('New dragon', 1 + %d, '1990-02-03', 'A', 7, 1)`,
		`INSERT INTO books (name, pages, published_at, author, price_cents, genre_id) SELECT name, pages, published_at, author, price_cents, genre_id FROM books WHERE id %% 10 = %d`,
		`INSERT INTO books (id, name, pages, published_at, author, price_cents, genre_id) VALUES (1 + %d, 'Upserted lantern', 8, '1991-02-03', 'B', 9, 2) ON CONFLICT (id) DO UPDATE SET name = excluded.name, genre_id = excluded.genre_id`,
		`INSERT INTO books (id, name, pages, published_at, author, price_cents, genre_id) VALUES (1 + %d, 'Not there', 8, '1991-02-03', 'B', 9, 2) ON CONFLICT DO NOTHING`,
		`WITH taken AS (SELECT %d AS n) UPDATE books SET id = (SELECT max(id) FROM books) + 1 WHERE id = (SELECT min(id) FROM books WHERE id > (SELECT n FROM taken))`,
		`UPDATE books SET version = version + 5, updated_at = '2001-02-03T04:05:06.000000Z' WHERE id %% 10 = %d`,
		`UPDATE books SET author = 'Orchard ' || id, price_cents = price_cents + 1 WHERE id %% 10 = %d`,
		`UPDATE genres SET category_id = 1 + %d %% 2`,
		`DELETE FROM books WHERE id %% 10 = %d`,
		`DELETE FROM changes WHERE seq IN (SELECT seq FROM changes ORDER BY seq DESC LIMIT 1 + %d)`,
		`DELETE FROM changes WHERE row_id %% 10 = %d`,
		`DELETE FROM changes`,
		`DELETE FROM books`,
	},
	sqlite: []string{
		`INSERT OR REPLACE INTO books (id, name, pages, published_at, author, price_cents, genre_id) VALUES (1 + %d, 'Replaced willow', 8, '1991-02-03', 'B', 9, 2)`,
		`REPLACE INTO books (id, name, pages, published_at, author, price_cents, genre_id) SELECT id, 'Meadow ' || id, 9, published_at, author, price_cents, 3 - genre_id FROM books WHERE id %% 10 < %d`,
		`INSERT OR IGNORE INTO books (id, name, pages, published_at, author, price_cents, genre_id) VALUES (1 + %d, 'Ignored castle', 8, '1991-02-03', 'B', 9, 2)`,
		`UPDATE OR REPLACE books SET id = id + 1 WHERE id %% 10 = %d`,
		`UPDATE OR REPLACE books SET rowid = 1 + %d WHERE id = (SELECT max(id) FROM books)`,
		`UPDATE OR IGNORE books SET _rowid_ = id + 2 WHERE id %% 10 = %d`,
		`UPDATE books SET oid = id + 100 WHERE id %% 10 = %d`,
		`REPLACE INTO genres (id, name, category_id) VALUES (1, 'Replaced ' || %d, 2)`,
		`REPLACE INTO categories (id, name) VALUES (2, 'Replaced ' || %d)`,
		`UPDATE OR REPLACE genres SET id = 2 WHERE id = (SELECT min(id) FROM genres WHERE id > 2 + %d)`,
		`PRAGMA recursive_triggers = 1`,
		`PRAGMA recursive_triggers = 0`,
	},
	postgres: []string{
		`MERGE INTO books b USING (VALUES (1 + %d), (999)) AS v (id) ON b.id = v.id WHEN MATCHED AND b.id %% 2 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET pages = 77
WHEN NOT MATCHED THEN INSERT (name, pages, published_at, author, price_cents, genre_id) VALUES ('Merged', 3, '1990-01-01', 'M', 1, 1)`,
		`WITH gone AS (DELETE FROM books WHERE id %% 10 = %d RETURNING *) INSERT INTO books (name, pages, published_at, author, price_cents, genre_id) SELECT name, pages, published_at, 'Moved', price_cents, 2 FROM gone`,
		`COPY books (name, pages, published_at, author, price_cents, genre_id) FROM PROGRAM 'printf "Copied harbour\t9\t1990-01-01\tC\t1\t1\n"'`,
		`TRUNCATE books`,
		`TRUNCATE genres CASCADE`,
		`TRUNCATE changes`,
		`DELETE FROM ticks`,
	},
}

// catalogue is the state of the books as a reader has it: a text of each, by id.
type catalogue map[model.ID]string

// watcher is a client that keeps the books by the feed, and asks for the past.
type watcher struct {
	s        *db.Store
	position *string
	kept     catalogue
	seen     map[model.ID]map[string]string // text by version, which is its ETag, of each book that is there
	past     catalogue
	at       model.Timestamp // of past
}

func textOfRow(b *model.Book) string {
	return fmt.Sprintf("%d %s %d %s %v %d %v", b.Version, b.Name, b.Pages, b.Author, b.Price, b.GenreID, b.PublishedAt)
}

func (w *watcher) books(t *testing.T) catalogue {
	t.Helper()
	all := catalogue{}
	for _, b := range must[[]*model.Book](t)(w.s.Unchecked(t.Context()).Books.Page(t.Context(), &model.Page{Limit: 1000})) {
		all[b.ID] = textOfRow(b)
	}
	return all
}

// look compares what the feed, the history and the versions tell with the rows.
func (w *watcher) look(t *testing.T, wrote string) {
	t.Helper()
	now := w.books(t)
	for more := true; more; {
		page, err := w.s.Changes(t.Context(), model.ChangeArgs{After: w.position, First: 1000, Types: []model.CatalogueType{model.TypeBook}})
		if w.position == nil || model.IsCode(err, model.PositionGone) { // a client reads all again
			page = must[*model.ChangePage](t)(w.s.Changes(t.Context(), model.ChangeArgs{First: 1000}))
			for page.HasMore {
				page = must[*model.ChangePage](t)(w.s.Changes(t.Context(), model.ChangeArgs{First: 1000, After: &page.Position}))
			}
			w.position, w.kept = &page.Position, maps.Clone(now)
			break
		}
		check(t, err)
		for _, c := range page.Nodes {
			switch {
			case c.Operation == model.ChangeReset:
				w.kept = w.books(t)
			case c.Operation == model.ChangeDelete:
				delete(w.kept, c.RowID)
			case c.Book != nil:
				w.kept[c.RowID] = textOfRow(c.Book)
			}
		}
		w.position, more = &page.Position, page.HasMore
	}
	if diff := cmp.Diff(now, w.kept); diff != "" {
		t.Fatalf("%s: the feed differs from the rows (-rows +feed):\n%s", wrote, diff)
	}
	for id, text := range w.past {
		b, err := pastBook(t, w.s, id, w.at)
		if err == nil && (b == nil || textOfRow(b) != text) || err != nil && !model.IsCode(err, model.PositionGone) {
			t.Fatalf("%s: book %d was %q at %v, and the history says %v, %v", wrote, id, text, w.at, b, err)
		}
	}
	w.past, w.at = now, model.Timestamp(time.Now().UnixMicro())
	for id, text := range now {
		version, _, _ := strings.Cut(text, " ")
		if known, ok := w.seen[id][version]; ok && known != text {
			t.Errorf("%s: book %d was %q, and is %q", wrote, id, known, text)
		}
		if w.seen[id] == nil {
			w.seen[id] = map[string]string{}
		}
		w.seen[id][version] = text
	}
	maps.DeleteFunc(w.seen, func(id model.ID, _ map[string]string) bool { return now[id] == "" })
}

func pastBook(t *testing.T, s *db.Store, id model.ID, at model.Timestamp) (b *model.Book, err error) {
	t.Helper()
	err = s.Read(t.Context(), model.NoRevision, model.NoReplica, func(ctx context.Context, snapshot *db.Snapshot) error {
		moment, err := snapshot.PositionAt(ctx, at)
		if err != nil {
			return err
		}
		key := db.Past{Position: moment, ID: id}
		found, err := snapshot.Books.AsOf(ctx, []db.Past{key})
		b = found[key]
		return err
	})
	return b, err
}

// TestForeignSQL writes in every way that another program has, beside a server: counts, words and pages of the feed that
// are kept are those that are read, and the log tells the past.
func TestForeignSQL(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		keeping, reading, program := openWith(t, url, db.WithKeptCounts()), open(t, url), other(t, url)
		program.SetMaxOpenConns(1) // a PRAGMA is of a connection
		writes := slices.Concat(foreignWrites.both, foreignWrites.postgres)
		if isSQLite(url) {
			writes = slices.Concat(foreignWrites.both, foreignWrites.sqlite)
		}
		random := rand.New(rand.NewPCG(5, 6))
		fill := func() {
			exec(t, program, `INSERT INTO categories (name) SELECT 'Category ' || n FROM (SELECT 1 AS n UNION ALL SELECT 2) v WHERE NOT EXISTS (SELECT 1 FROM categories)`)
			exec(t, program, `INSERT INTO genres (id, name, category_id) SELECT n, 'Genre', (SELECT min(id) FROM categories) FROM (SELECT 1 AS n UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 9) v WHERE true ON CONFLICT DO NOTHING`)
			for n := ask[int](t, program, `SELECT count(*) FROM books`); n < 20; n++ {
				exec(t, program, `INSERT INTO books (name, pages, published_at, author, price_cents, genre_id) VALUES ('Book of the dragon', $1, '1990-02-03', 'Author', 7, 1)`, 1+n)
			}
		}
		fill()
		w := &watcher{s: keeping, seen: map[model.ID]map[string]string{}}
		selections := keptSelections(t)
		var rounds []int
		for i := range writes { // each way, and then in random order
			rounds = append(rounds, i)
		}
		for range dbtest.Runs(1000) {
			rounds = append(rounds, random.IntN(len(writes)))
		}
		for step, way := range rounds {
			wrote := strings.NewReplacer("%d", strconv.Itoa(random.IntN(10)), "%%", "%").Replace(writes[way])
			_, _ = program.ExecContext(t.Context(), wrote) // a violated constraint is fine: nothing is written
			wrote = fmt.Sprintf("step %d, %s", step, wrote)
			for i, sel := range selections {
				want, got := must[counted](t)(countBooks(t.Context(), reading, sel)), must[counted](t)(countBooks(t.Context(), keeping, sel))
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					t.Fatalf("%s, selection %d (-want +got):\n%s", wrote, i, diff)
				}
			}
			for _, text := range mistyped {
				want, got := must[*string](t)(reading.Unchecked(t.Context()).Books.Correct(t.Context(), text)), must[*string](t)(keeping.Unchecked(t.Context()).Books.Correct(t.Context(), text))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("%s, %q (-want +got):\n%s", wrote, text, diff)
				}
			}
			w.look(t, wrote)
			fill()
		}
		report := must[*doctor.Report](t)(doctor.Examine(t.Context(), url, false))
		for _, p := range report.Problems {
			if p.Check != "ids" { // PostgreSQL's sequences do not know ids that others choose
				t.Errorf("%+v", p)
			}
		}
	})
}

// TestReplacedRows wants each row that REPLACE removes in the log, once, with its columns.
func TestReplacedRows(t *testing.T) {
	t.Parallel()
	for _, recursive := range []string{"0", "1"} {
		t.Run("recursive_triggers="+recursive, func(t *testing.T) {
			t.Parallel()
			url := catalogtest.SQLite(t)
			s, program := open(t, url), other(t, url)
			program.SetMaxOpenConns(1) // a PRAGMA is of a connection
			exec(t, program, `PRAGMA recursive_triggers = `+recursive)
			home := newShelf(t, s)
			addBooks(t, program, 2, home.genre.ID)
			exec(t, program, `UPDATE books SET name = 'Book ' || id`)
			_, start := changesAfter(t, s, nil, 100)
			const columns = ` (id, name, pages, published_at, author, price_cents, genre_id) `
			for _, step := range []struct {
				text string
				want []string
			}{
				{`REPLACE INTO books` + columns + `VALUES (1, 'New', 1, '2000-01-01', 'A', 1, 1)`, []string{"DELETE BOOK 1 v2", "CREATE BOOK 1 v3 New"}},
				{`UPDATE books SET name = 'Newer' WHERE id = 1`, []string{"UPDATE BOOK 1 v4 Newer"}},
				{`UPDATE OR REPLACE books SET rowid = 1 WHERE id = 2`, []string{"DELETE BOOK 1 v4", "DELETE BOOK 2 v2", "CREATE BOOK 1 v5 Book 2"}},
				{`INSERT OR IGNORE INTO books` + columns + `VALUES (3, 'Not there', 1, '2000-01-01', 'A', 1, 1)`, nil},
				{`DELETE FROM books WHERE id = 3`, []string{"DELETE BOOK 3 v2"}},
				{`REPLACE INTO books` + columns + `VALUES (3, 'Again', 1, '2000-01-01', 'A', 1, 1)`, []string{"CREATE BOOK 3 v3 Again"}},
				{`REPLACE INTO genres (id, name, category_id) VALUES (1, 'Replaced', 1)`, []string{"DELETE GENRE 1 v1", "CREATE GENRE 1 v2 Replaced"}},
			} {
				exec(t, program, step.text)
				changes, position := changesAfter(t, s, &start, 100)
				if diff := cmp.Diff(step.want, told(changes)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", step.text, diff)
				}
				start = position
			}
			if rows := must[int](t)(s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{})); rows != 2 {
				t.Errorf("%d books", rows)
			}
		})
	}
}

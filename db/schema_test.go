package db_test

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// The tests of this file write as another program does, by SQL of their own: the
// database itself must hold what every reader relies on.

// row is a row by its columns, each with an SQL expression.
type row map[string]string

func (r row) with(column, expression string) row {
	r = maps.Clone(r)
	r[column] = expression
	return r
}

func (r row) insert(table string) string {
	var columns, values []string
	for _, column := range slices.Sorted(maps.Keys(r)) {
		columns, values = append(columns, column), append(values, r[column])
	}
	return fmt.Sprintf("INSERT INTO %s (%s) VALUES (%s)", table, strings.Join(columns, ", "), strings.Join(values, ", "))
}

// text is an expression for n characters.
func text(sqlite bool, n int) string {
	if sqlite {
		return fmt.Sprintf("replace(hex(zeroblob(%d)), '00', 'é')", n)
	}
	return fmt.Sprintf("repeat('é', %d)", n)
}

func TestConstraints(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program, sqlite := open(t, url), other(t, url), isSQLite(url)
		home := newShelf(t, s)
		rows := map[string]row{
			"categories": {"name": "'A name'"},
			"genres":     {"name": "'A name'", "category_id": home.category.ID.String()},
			"books": {
				"name": "'A name'", "pages": "1", "published_at": "'2000-02-29'", "author": "'An author'",
				"price_cents": "0", "genre_id": home.genre.ID.String(),
			},
		}
		type column struct{ bad, good []string }
		shared := map[string]column{
			"id":         {bad: []string{"0", "-1"}, good: []string{"1000000", "4611686018427387904"}},
			"version":    {bad: []string{"0", "-1", "NULL"}, good: []string{"7"}},
			"created_at": {bad: []string{"NULL", "'yesterday in the rain'"}, good: []string{"'2001-02-03T04:05:06.000007Z'"}},
			"updated_at": {bad: []string{"NULL", "'2001-02-30T04:05:06.000007Z'"}, good: []string{"'2001-02-03T04:05:06.000007Z'"}},
		}
		own := map[string]map[string]column{
			"genres": {"category_id": {bad: []string{"NULL", "0", "999999"}}},
			"books": {
				"genre_id": {bad: []string{"NULL", "0", "999999"}},
				"pages":    {bad: []string{"NULL", "0", "-1", "1000001", "'many'"}, good: []string{"1", "1000000"}},
				"published_at": {
					bad: []string{"NULL", "''", "'0000-01-01'", "'10000-01-01'", "'2023-02-29'", "'2023-13-01'", "'infinity'", "'-infinity'",
						"'0001-01-01 BC'", "'soon'"},
					good: []string{"'0001-01-01'", "'9999-12-31'", "'2024-02-29'"},
				},
				"price_cents": {
					bad:  []string{"NULL", "-1", "10000000000", "'free'", "'NaN'", "'Infinity'"},
					good: []string{"0", "9999999999"},
				},
			},
		}
		if sqlite {
			for _, moment := range []string{"'now'", "'2001-02-03 04:05:06'", "'2001-02-03T04:05:06Z'", "'2001-02-03T24:05:06.000007Z'", "5", "''"} {
				shared["created_at"] = column{append(shared["created_at"].bad, moment), shared["created_at"].good}
			}
			prices := own["books"]["price_cents"]
			own["books"]["price_cents"] = column{append(prices.bad, "0.5", "9e999", "-9e999"), prices.good}
			days := own["books"]["published_at"]
			own["books"]["published_at"] = column{append(days.bad, "'now'", "'2451545'", "'2000-1-1'", "'2000-01-01 00:00'"), days.good}
		} else {
			for _, name := range []string{"created_at", "updated_at"} {
				shared[name] = column{append(shared[name].bad, "'infinity'", "'-infinity'"), shared[name].good}
			}
		}
		texts := func(typename string) map[string]column {
			columns := map[string]column{}
			for _, f := range model.Entities[typename].Fields {
				if f.Kind != model.KindText {
					continue
				}
				c := column{bad: []string{"''", text(sqlite, int(f.Max)+1)}, good: []string{"'x'", text(sqlite, int(f.Max))}}
				if f.Nullable {
					c.good = append(c.good, "NULL")
				} else {
					c.bad = append(c.bad, "NULL")
				}
				if sqlite {
					c.bad = append(c.bad, "'a' || char(0) || 'b'", "x'6162'")
				}
				columns[f.Column] = c
			}
			return columns
		}
		types := map[string]string{"categories": "Category", "genres": "Genre", "books": "Book"}
		taken := map[string]int{"categories": 1, "genres": 1, "books": 1} // the shelf
		for table, plain := range rows {
			columns := maps.Clone(shared)
			maps.Copy(columns, own[table])
			maps.Copy(columns, texts(types[table]))
			for column, values := range columns {
				for _, bad := range values.bad {
					if _, err := program.Exec(plain.with(column, bad).insert(table)); err == nil {
						t.Errorf("%s.%s takes %s", table, column, bad)
					}
					// An UPDATE must not get around what an INSERT is refused.
					if _, err := program.Exec("UPDATE " + table + " SET " + column + " = " + bad); err == nil && column != "version" && column != "created_at" && column != "updated_at" {
						t.Errorf("%s.%s can be set to %s", table, column, bad)
					}
				}
				for _, good := range values.good {
					if _, err := program.Exec(plain.with(column, good).insert(table)); err != nil {
						t.Errorf("%s.%s does not take %s: %v", table, column, good, err)
					}
					taken[table]++
				}
			}
		}
		for _, statement := range []string{"DELETE FROM genres WHERE id = " + home.genre.ID.String(), "DELETE FROM categories WHERE id = " + home.category.ID.String()} {
			if _, err := program.Exec(statement); err == nil {
				t.Errorf("%s: nothing holds it back", statement)
			}
		}
		// All that the database took can be read.
		all := &model.Page{Limit: 100}
		books := must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.Page(t.Context(), all))
		genres := must[[]*model.Genre](t)(s.Unchecked(t.Context()).Genres.Page(t.Context(), all))
		categories := must[[]*model.Category](t)(s.Unchecked(t.Context()).Categories.Page(t.Context(), all))
		read := map[string]int{"categories": len(categories), "genres": len(genres), "books": len(books)}
		if diff := cmp.Diff(taken, read); diff != "" {
			t.Errorf("rows (-taken +read):\n%s", diff)
		}
	})
}

// now returns the database's clock.
func now(t *testing.T, program *sql.DB, sqlite bool) (now model.Timestamp) {
	t.Helper()
	clock := "SELECT clock_timestamp()"
	if sqlite {
		clock = "SELECT strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')"
	}
	var answer any
	check(t, program.QueryRow(clock).Scan(&answer))
	check(t, now.Scan(answer))
	return now
}

// TestStamps holds the database to keeping version, created_at and updated_at by
// itself, whatever a program says.
func TestStamps(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program, sqlite := open(t, url), other(t, url), isSQLite(url)
		home := newShelf(t, s)
		type stamps struct {
			version          int64
			created, updated model.Timestamp
		}
		read := map[string]func() stamps{
			"categories": func() stamps {
				c := must[[]*model.Category](t)(s.Unchecked(t.Context()).Categories.ByID(t.Context(), []model.ID{home.category.ID}))[0]
				return stamps{c.Version, c.CreatedAt, c.UpdatedAt}
			},
			"genres": func() stamps {
				g := must[[]*model.Genre](t)(s.Unchecked(t.Context()).Genres.ByID(t.Context(), []model.ID{home.genre.ID}))[0]
				return stamps{g.Version, g.CreatedAt, g.UpdatedAt}
			},
			"books": func() stamps {
				b := must[[]*model.Book](t)(s.Unchecked(t.Context()).Books.ByID(t.Context(), []model.ID{home.book.ID}))[0]
				return stamps{b.Version, b.CreatedAt, b.UpdatedAt}
			},
		}
		moment := "now()"
		if sqlite {
			moment = "strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')"
		}
		types := map[string]string{"categories": "Category", "genres": "Genre", "books": "Book"}
		for table, read := range read {
			changes := []string{
				"version = version + 1, created_at = '1999-01-01T00:00:00.000000Z', updated_at = " + moment,
				"name = 'Changed'", "description = NULL",
				"version = 1", "version = version + 1", "version = version + 10", "version = 4611686018427387904",
				"created_at = '1999-01-01T00:00:00.000000Z'", "updated_at = '1999-01-01T00:00:00.000000Z'",
				"version = version + 1, updated_at = '1999-01-01T00:00:00.000000Z'",
			}
			for _, f := range model.Entities[types[table]].Fields {
				if f.Writable {
					changes = append(changes, f.Column+" = "+f.Column)
				}
			}
			for _, change := range changes {
				before := read()
				from := now(t, program, sqlite)
				for from <= before.updated { // on a clock of milliseconds
					from = now(t, program, sqlite)
				}
				exec(t, program, "UPDATE "+table+" SET "+change)
				after := read()
				if after.version != before.version+1 {
					t.Errorf("%s, %s: version %d follows %d", table, change, after.version, before.version)
				}
				if after.created != before.created {
					t.Errorf("%s, %s: created_at was %v and is %v", table, change, before.created, after.created)
				}
				if to := now(t, program, sqlite); after.updated < from || after.updated > to {
					t.Errorf("%s, %s: updated_at is %v, want the moment between %v and %v", table, change, after.updated, from, to)
				}
			}
		}
		// The store's own update is counted once, and gives what is stored.
		changed := must[*model.Book](t)(s.Books.Update(t.Context(), home.book.ID, rename("Mine"), nil))
		if stored := read["books"](); stored != (stamps{changed.Version, changed.CreatedAt, changed.UpdatedAt}) {
			t.Errorf("the update gave version %d, changed %v; stored is %+v", changed.Version, changed.UpdatedAt, stored)
		}
	})
}

// TestClock holds created_at to be this moment in UTC, wherever the server is.
func TestClock(t *testing.T) {
	onEach(t, func(t *testing.T, s *db.Store) {
		made := time.UnixMicro(int64(newShelf(t, s).book.CreatedAt))
		if off := time.Since(made).Abs(); off > time.Hour/2 {
			t.Errorf("a new book was created at %v, which is %v off", made, off)
		}
	})
}

// TestRevision holds the revision to move with every commit that changes the
// catalogue, by any program, and with nothing else.
func TestRevision(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		program := other(t, url)
		ctx := t.Context()
		seen := map[int64]string{revision(t, s): "the beginning"}
		moves := func(what string, err error) {
			t.Helper()
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			r := revision(t, s)
			if before, again := seen[r]; again {
				t.Errorf("after %s the revision is %d, as after %s", what, r, before)
			}
			seen[r] = what
		}
		stays := func(what string, run func() error) {
			t.Helper()
			before := revision(t, s)
			_ = run()
			if after := revision(t, s); after != before {
				t.Errorf("%s moves the revision from %d to %d", what, before, after)
			}
		}

		category, err := s.Categories.Create(ctx, &model.CreateCategoryInput{Name: "Fiction"})
		moves("creating a category", err)
		genre, err := s.Genres.Create(ctx, &model.CreateGenreInput{Name: "Fantasy", CategoryID: category.ID})
		moves("creating a genre", err)
		book, err := s.Books.Create(ctx, newBook("The Hobbit", genre.ID))
		moves("creating a book", err)
		_, err = s.Books.Update(ctx, book.ID, rename("There and back"), nil)
		moves("updating a book", err)
		_, err = s.Genres.Update(ctx, genre.ID, &model.GenrePatch{Name: rename("New").Name}, nil)
		moves("updating a genre", err)
		_, err = s.Categories.Update(ctx, category.ID, &model.CategoryPatch{Name: rename("New").Name}, nil)
		moves("updating a category", err)
		moves("deleting a book", s.Books.Delete(ctx, book.ID, nil, model.Cascade))
		moves("deleting a genre", s.Genres.Delete(ctx, genre.ID, nil, model.Restrict))
		moves("deleting a category", s.Categories.Delete(ctx, category.ID, nil, model.Restrict))

		for _, statement := range []string{
			"INSERT INTO categories (id, name) VALUES (77, 'Theirs')",
			"INSERT INTO genres (id, name, category_id) VALUES (77, 'Theirs', 77)",
			"INSERT INTO books (id, name, pages, published_at, author, price_cents, genre_id) VALUES (77, 'Theirs', 1, '2000-01-01', 'They', 1, 77), (78, 'Theirs', 1, '2000-01-01', 'They', 1, 77)",
			"UPDATE books SET name = 'All of them'",
			"UPDATE genres SET name = name",
			"UPDATE categories SET description = 'New'",
			"DELETE FROM books WHERE id = 78",
			"DELETE FROM books",
			"DELETE FROM genres",
			"DELETE FROM categories",
		} {
			_, err := program.Exec(statement)
			moves(statement, err)
		}
		if !isSQLite(url) {
			_, err := program.Exec("TRUNCATE books, genres, categories")
			moves("TRUNCATE", err)
		}

		home := newShelf(t, s)
		stays("reading", func() error {
			_, err := s.Unchecked(ctx).Books.Page(ctx, &model.Page{Limit: 10})
			return err
		})
		stays("a refused book", func() error { return second(s.Books.Create(ctx, newBook("Lost", 1<<40))) })
		stays("a stale update", func() error {
			return second(s.Books.Update(ctx, home.book.ID, rename("Stale"), new(int64)))
		})
		stays("a patch of nothing", func() error { return second(s.Books.Update(ctx, home.book.ID, &model.BookPatch{}, nil)) })
		stays("a refused delete", func() error { return s.Categories.Delete(ctx, home.category.ID, nil, model.Restrict) })
		stays("a write that is rolled back", func() error { return failAfterWriting(ctx, s, home) })
		stays("another program's rollback", func() error {
			tx, err := program.Begin()
			check(t, err)
			if _, err := tx.Exec("UPDATE books SET name = 'Never'"); err != nil {
				t.Fatal(err)
			}
			return tx.Rollback()
		})
		stays("keeping an answer", func() error {
			_, _, err := s.Idempotent(ctx, "me", "key", "print", answering("done"))
			return err
		})
		stays("forgetting answers", func() error { return s.ForgetAnswers(ctx) })
	})
}

func second[T any](_ T, err error) error { return err }

// TestRevisionOfManyWriters shows that writers at the same time lose no move.
// It is not parallel: a lock of SQLite is waited for no longer than 10 seconds, and
// those that wait are not served in order.
func TestRevisionOfManyWriters(t *testing.T) {
	catalogtest.Each(t, func(t *testing.T, url string) {
		const writers, each = 12, 10
		program := other(t, url)
		exec(t, program, `CREATE TABLE moves (step bigint)`)
		for _, statement := range logMoves(url) {
			exec(t, program, statement)
		}
		stores := []*db.Store{open(t, url), open(t, url)}
		home := newShelf(t, stores[0])
		exec(t, program, `DELETE FROM moves`)
		before := revision(t, stores[0])
		var run []func() error
		for i := range writers {
			s := stores[i%len(stores)]
			run = append(run, func() error {
				for range each {
					// A transaction for each: without one, several are stored together.
					err := s.Write(t.Context(), func(ctx context.Context) error {
						return second(s.Books.Create(ctx, newBook("One of many", home.genre.ID)))
					})
					if err != nil {
						return err
					}
				}
				return nil
			})
		}
		check(t, together(run...))
		moved, moves, sum := revision(t, stores[1])-before, ask[int](t, program, `SELECT count(*) FROM moves`), ask[int64](t, program, `SELECT CAST(sum(step) AS bigint) FROM moves`)
		if moves < writers*each || moved != sum {
			t.Errorf("%d writes moved the revision %d times, by %d, and it moved by %d", writers*each, moves, sum, moved)
		}
	})
}

// logMoves returns the statements after which each step of the revision is a row of moves.
func logMoves(url string) []string {
	if isSQLite(url) {
		return []string{`CREATE TRIGGER log_move AFTER UPDATE ON revision BEGIN INSERT INTO moves VALUES (NEW.n - OLD.n); END`}
	}
	return []string{
		`CREATE FUNCTION log_move() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO moves VALUES (NEW.n - coalesce(OLD.n, 0)); RETURN NULL; END $$`,
		`CREATE TRIGGER log_move AFTER INSERT OR UPDATE ON revision FOR EACH ROW EXECUTE FUNCTION log_move()`,
	}
}

// TestRevisionTells reads while others write: two readers who are given the same
// revision were given the same catalogue, and the other way round.
func TestRevisionTells(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		const writers, each = 4, 25
		s := open(t, url)
		home := newShelf(t, s)
		var run []func() error
		for range writers {
			run = append(run, func() error {
				for range each {
					// A transaction for each: without one, several are stored together.
					err := s.Write(t.Context(), func(ctx context.Context) error {
						return second(s.Books.Create(ctx, newBook("One of many", home.genre.ID)))
					})
					if err != nil {
						return err
					}
				}
				return nil
			})
		}
		type view struct {
			revision int64
			books    int
		}
		views := make([]map[view]bool, 2)
		for i := range views {
			views[i] = map[view]bool{}
			run = append(run, func() error {
				for v := (view{}); v.books < 1+writers*each; {
					if err := look(t, s, &v.revision, &v.books); err != nil {
						return err
					}
					views[i][v] = true
				}
				return nil
			})
		}
		check(t, together(run...))
		ofRevision, ofBooks := map[int64]int{}, map[int]int64{}
		for _, seen := range views {
			for v := range seen {
				if n, ok := ofRevision[v.revision]; ok && n != v.books {
					t.Errorf("revision %d had %d books and %d", v.revision, n, v.books)
				}
				if r, ok := ofBooks[v.books]; ok && r != v.revision {
					t.Errorf("the catalogue of %d books had the revisions %d and %d", v.books, r, v.revision)
				}
				ofRevision[v.revision], ofBooks[v.books] = v.books, v.revision
			}
		}
		if len(ofRevision) < 3 {
			t.Errorf("the readers saw %d revisions: they did not read while others wrote", len(ofRevision))
		}
	})
}

package db_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// TestRevisionSeesTruncate empties the table of books alone, which counts no row.
func TestRevisionSeesTruncate(t *testing.T) {
	t.Parallel()
	url := catalogtest.Postgres(t)
	s, program := open(t, url), other(t, url)
	newShelf(t, s)
	before := revision(t, s)
	exec(t, program, `TRUNCATE books`)
	if after := revision(t, s); after <= before {
		t.Errorf("the revision was %d, and is %d after TRUNCATE", before, after)
	}
}

// TestForeignIDs has another program give rows their ids itself, or move the identity
// column: new rows get ids all the same.
func TestForeignIDs(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		home := newShelf(t, s)
		book := func(ctx context.Context) error { return second(s.Books.Create(ctx, newBook("New", home.genre.ID))) }
		inTransaction := func(ctx context.Context) error {
			return s.Write(ctx, func(ctx context.Context) error {
				genre, err := s.Genres.Create(ctx, &model.CreateGenreInput{Name: "New", CategoryID: home.category.ID})
				if err != nil {
					return err
				}
				return second(s.Books.Create(ctx, newBook("New", genre.ID)))
			})
		}
		const theirs = 50 // more than are tried one after the other
		for id := range theirs {
			exec(t, program, `INSERT INTO genres (id, name, category_id) VALUES ($1, 'Theirs', 1)`, 2+id)
			exec(t, program, `INSERT INTO books (id, name, author, pages, published_at, price_cents, genre_id) VALUES ($1, 'Theirs', 'They', 1, '2000-01-01', 0, 1)`, 2+id)
		}
		for range 2 {
			if err := together(append(times(8, func() error { return book(t.Context()) }), times(8, func() error { return inTransaction(t.Context()) })...)...); err != nil {
				t.Error(err)
			}
			if !isSQLite(url) { // whose ids follow from the rows
				exec(t, program, `ALTER TABLE books ALTER COLUMN id RESTART WITH 3`)
				exec(t, program, `ALTER TABLE genres ALTER COLUMN id RESTART WITH 1`)
			}
		}
		if n := must[int](t)(s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{})); n != 1+theirs+2*16 {
			t.Errorf("there are %d books", n)
		}
	})
}

// TestNoForeignIDs has another program move an identity column to where this one cannot
// bring it back.
func TestNoForeignIDs(t *testing.T) {
	t.Parallel()
	owner, server := documentedRoles(t)
	s, program := migrated(t, owner), other(t, owner)
	home := newShelf(t, s)
	serving, err := started(t, server, db.Options{})
	check(t, err)
	exec(t, program, `ALTER TABLE books ALTER COLUMN id RESTART WITH 1`)
	exec(t, program, `REVOKE UPDATE ON SEQUENCE books_id_seq FROM "`+ask[string](t, other(t, server), `SELECT current_user`)+`"`)
	for _, statement := range []string{`ALTER TABLE books ALTER COLUMN id RESTART WITH 1`, `ALTER TABLE books ALTER COLUMN id RESTART WITH 9223372036854775807`} {
		exec(t, program, statement)
		err := second(serving.Books.Create(t.Context(), newBook("New", home.genre.ID)))
		if err == nil { // the last id that there is
			err = second(serving.Books.Create(t.Context(), newBook("New", home.genre.ID)))
		}
		wantCode(t, err, model.Unavailable, "The database has no id for a new row.")
	}
}

// TestForeignStamps lets another program write the version and the moments of a
// row as the catalogue does, but with moments of its own.
func TestForeignStamps(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		newShelf(t, s)
		for _, table := range []string{"categories", "genres", "books"} {
			column := func(name string) string {
				return ask[string](t, program, fmt.Sprintf(`SELECT CAST(%s AS text) FROM %s`, name, table))
			}
			for _, assignment := range []string{
				`updated_at = '2001-02-03T04:05:06.000000Z'`,
				`updated_at = '2001-02-03T04:05:06.000000Z', version = version + 1`,
				`created_at = '2001-02-03T04:05:06.000000Z', version = version + 1`,
				`version = version + 7`,
			} {
				version, created, before := ask[int](t, program, `SELECT version FROM `+table), column("created_at"), revision(t, s)
				exec(t, program, `UPDATE `+table+` SET `+assignment)
				if got := ask[int](t, program, `SELECT version FROM `+table); got != version+1 {
					t.Errorf("%s: version %d after %d by %s", table, got, version, assignment)
				}
				if got := column("created_at"); got != created {
					t.Errorf("%s: created at %s, and then at %s by %s", table, created, got, assignment)
				}
				if got := column("updated_at"); strings.HasPrefix(got, "2001") || got < created {
					t.Errorf("%s: updated at %s by %s", table, got, assignment)
				}
				if got := revision(t, s); got <= before {
					t.Errorf("%s: revision %d after %d by %s", table, got, before, assignment)
				}
			}
		}
	})
}

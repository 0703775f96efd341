package db_test

import (
	"fmt"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
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

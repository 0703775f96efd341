package changes_test

import (
	"database/sql"
	"strings"
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// TestPageEndsBeforeOpenChanges reads pages while a transaction runs, and while it hinders the change of another program
// from getting its time: neither change is on a page, and each is on one later.
func TestPageEndsBeforeOpenChanges(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := catalogtest.Open(t, url)
		create := func(name string) {
			t.Helper()
			if _, err := s.Categories.Create(t.Context(), &model.CreateCategoryInput{Name: name}); err != nil {
				t.Fatal(err)
			}
		}
		begin := func() *sql.Tx {
			t.Helper()
			pool := s.Pools()["postgres"]
			if pool == nil {
				pool = catalogtest.Open(t, url).Pools()["sqlite-writer"]
			}
			tx, err := pool.BeginTx(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			return tx
		}
		write := func(tx *sql.Tx, name string) {
			t.Helper()
			if _, err := tx.ExecContext(t.Context(), `INSERT INTO categories (name) VALUES ($1)`, name); err != nil {
				t.Fatal(err)
			}
		}
		commit := func(tx *sql.Tx) {
			t.Helper()
			if err := tx.Commit(); err != nil {
				t.Fatal(err)
			}
		}
		want := func(s *db.Store, names string) {
			t.Helper()
			oldest, err := s.Changes(t.Context(), model.ChangeArgs{First: 10})
			if err != nil {
				t.Fatal(err)
			}
			newest, err := s.RecentChanges(t.Context(), model.RecentArgs{First: 10})
			if err != nil {
				t.Fatal(err)
			}
			var got, back []string
			for _, c := range oldest.Nodes {
				got = append(got, c.Category.Name)
			}
			for _, c := range newest.Nodes {
				back = append([]string{c.Category.Name}, back...)
			}
			if strings.Join(got, " ") != names || strings.Join(back, " ") != names {
				t.Errorf("the pages have %q and %q, want %q", got, back, names)
			}
		}
		create("First")
		tx := begin()
		write(tx, "Second")
		want(s, "First")
		commit(tx)
		if s.Pools()["postgres"] != nil {
			want(s, "First Second")
			return
		}
		tx = begin()
		write(tx, "Third")
		want(s, "First") // the second has no time
		commit(tx)
		want(s, "First Second Third")
	})
}

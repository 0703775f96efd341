package db_test

import (
	"context"
	"testing"

	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// TestLogSize wants at most 180 bytes in the log for an imported book, indexes included.
func TestLogSize(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		home := newShelf(t, s)
		n := dbtest.Runs(200_000)
		ctx := model.WithChangeSet(by(t.Context(), "librarian@example.org"))
		for range n / 5_000 {
			var rows []*model.Book
			for range 5_000 {
				rows = append(rows, newBook("One of many", home.genre.ID).Row())
			}
			check(t, s.Write(ctx, func(ctx context.Context) error { return s.Books.Insert(ctx, rows) }))
		}
		size := `SELECT pg_total_relation_size('changes')`
		if isSQLite(url) {
			size = `SELECT sum(pgsize) FROM dbstat WHERE name IN ('changes', 'changes_row', 'changes_set')`
		}
		if bytes := ask[int](t, program, size); bytes > 180*n {
			t.Errorf("a book takes %d bytes in the log", bytes/n)
		} else {
			t.Logf("a book takes %d bytes in the log", bytes/n)
		}
	})
}

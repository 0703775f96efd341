package db_test

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// undoSet undoes a set, or nothing if a row has a conflict.
func undoSet(ctx context.Context, s *db.Store, set model.ChangeSetID) error {
	_, err := s.Undo(ctx, set, model.UndoChangeSetInput{OnConflict: model.RejectConflicts}, func([]*model.UndoneRow) error { return nil })
	return err
}

// countDone returns the number of undos that are done. The others must be a Conflict.
func countDone(t *testing.T, undone []error) (done int) {
	t.Helper()
	for _, err := range undone {
		if err == nil {
			done++
		} else {
			wantCode(t, err, model.Conflict, "Nothing was undone")
		}
	}
	return done
}

// renameAll renames books in a transaction and returns its set.
func renameAll(ctx context.Context, t *testing.T, s *db.Store, ids []model.ID, name string) model.ChangeSetID {
	t.Helper()
	check(t, s.Write(ctx, func(ctx context.Context) error {
		_, err := s.Books.UpdateAll(ctx, ids, rename(name))
		return err
	}))
	return newestChange(t, s).Set
}

func newestChange(t *testing.T, s *db.Store) *model.Change {
	t.Helper()
	return must[*model.ChangePage](t)(s.RecentChanges(t.Context(), model.RecentArgs{First: 1})).Nodes[0]
}

// TestUndoBesideWriters undoes a set twice while others write its rows: one undo brings all rows back, or none does. No write is
// lost.
func TestUndoBesideWriters(t *testing.T) {
	t.Parallel()
	const books, writers = 6, 3
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		ids := addBooks(t, program, books, newShelf(t, s).genre.ID)
		for round := range 8 {
			before := fmt.Sprint("Before ", round)
			renameAll(t.Context(), t, s, ids, before)
			set := renameAll(t.Context(), t, s, ids, "After")
			pages := 1000 * (round + 1)
			var undone [2]error
			var running sync.WaitGroup
			for i := range undone {
				running.Go(func() { undone[i] = undoSet(t.Context(), s, set) })
			}
			for i := range writers {
				running.Go(func() {
					patch := &model.BookPatch{Pages: graphql.OmittableOf(new(pages + i))}
					if i%2 == 0 {
						if _, err := s.Books.UpdateAll(t.Context(), ids[i:i+1], patch); err != nil {
							t.Error(err)
						}
					} else if _, err := program.ExecContext(t.Context(), `UPDATE books SET pages = $1 WHERE id = $2`, pages+i, ids[i]); err != nil {
						t.Error(err)
					}
				})
			}
			running.Wait()
			done := countDone(t, undone[:])
			back := ask[int](t, program, `SELECT count(*) FROM books WHERE name = $1`, before)
			if done > 1 || back != done*books {
				t.Fatalf("%d of 2 undos are done, and %d of %d books are back", done, back, books)
			}
			for i := range writers {
				if n := ask[int](t, program, `SELECT pages FROM books WHERE id = $1`, ids[i]); n != pages+i {
					t.Errorf("book %d has %d pages, want %d", ids[i], n, pages+i)
				}
			}
		}
	})
}

// TestUndoOfDeleteTwice undoes a delete twice at once, when no row exists that a lock could hold.
func TestUndoOfDeleteTwice(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		ids := addBooks(t, program, 6, newShelf(t, s).genre.ID)
		for range 4 {
			check(t, s.Write(t.Context(), func(ctx context.Context) error { return s.Books.DeleteAll(ctx, ids) }))
			set := newestChange(t, s).Set
			var undone [3]error
			var running sync.WaitGroup
			for i := range undone {
				running.Go(func() { undone[i] = undoSet(t.Context(), s, set) })
			}
			running.Wait()
			done := countDone(t, undone[:])
			if n := ask[int](t, program, `SELECT count(*) FROM books WHERE name = 'One of many'`); done != 1 || n != len(ids) {
				t.Fatalf("%d of %d undos are done, and %d of %d books are back", done, len(undone), n, len(ids))
			}
		}
	})
}

// TestUndoLocksItsRows undoes a set while another transaction holds another book of the same genre.
func TestUndoLocksItsRows(t *testing.T) {
	t.Parallel()
	url := catalogtest.Postgres(t)
	s, program := open(t, url), other(t, url)
	ids := addBooks(t, program, 2, newShelf(t, s).genre.ID)
	renameAll(t.Context(), t, s, ids[:1], "Before")
	set := renameAll(t.Context(), t, s, ids[:1], "After")
	holder := must[*sql.Tx](t)(program.BeginTx(t.Context(), nil))
	must[sql.Result](t)(holder.Exec(`UPDATE books SET pages = 7 WHERE id = $1`, ids[1]))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	check(t, undoSet(ctx, s, set))
	check(t, holder.Commit())
	if n := ask[int](t, program, `SELECT count(*) FROM books WHERE name = 'Before' OR pages = 7`); n != 2 {
		t.Errorf("%d of 2 books are as both transactions left them", n)
	}
}

// TestUndoForgotten undoes an import of two batches after the log has lost the first one: nothing is undone. A change that remains
// is a set of its own.
func TestUndoForgotten(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		ids := addBooks(t, program, 600, newShelf(t, s).genre.ID)
		ctx := model.WithChangeSet(t.Context())
		renameAll(ctx, t, s, ids, "First")
		table := "ticks"
		if isSQLite(url) {
			table = "changes"
		}
		exec(t, program, `UPDATE `+table+` SET at = '2001-02-03T04:05:06.000000Z'`)
		set := renameAll(ctx, t, s, ids, "Second")
		check(t, s.ForgetChanges(t.Context(), 1))
		wantCode(t, undoSet(t.Context(), s, set), model.PositionGone, "")
		if n := ask[int](t, program, `SELECT count(*) FROM books WHERE name = 'Second'`); n != len(ids) {
			t.Errorf("%d of %d books are as they were", n, len(ids))
		}
		last := newestChange(t, s)
		check(t, undoSet(t.Context(), s, last.Set))
		if name := ask[string](t, program, `SELECT name FROM books WHERE id = $1`, last.RowID); name != "First" {
			t.Errorf("the book is %s after an undo", name)
		}
	})
}

package db_test

import (
	"database/sql"
	"fmt"
	"slices"
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// recent reads all recent changes that args select, one page after another, and returns them oldest first. pages is the
// number of pages.
func recent(t *testing.T, s *db.Store, args model.RecentArgs) (all []*model.Change, pages int) {
	t.Helper()
	for {
		page := must[*model.ChangePage](t)(s.RecentChanges(t.Context(), args))
		all, args.After = append(all, page.Nodes...), &page.Position
		if pages++; !page.HasMore {
			slices.Reverse(all)
			return all, pages
		}
	}
}

// toldWhole is told with positions, actors, times and names.
func toldWhole(all []*model.Change) (texts []string) {
	for i, text := range told(all) {
		name := "no name"
		if n := all[i].Name(); n != nil {
			name = *n
		}
		texts = append(texts, fmt.Sprint(text, " at ", all[i].Position, " ", all[i].At, " by ", all[i].Actor, ": ", name))
	}
	return texts
}

func wantSame(t *testing.T, what string, got, want []*model.Change) {
	t.Helper()
	if got, want := toldWhole(got), toldWhole(want); !slices.Equal(got, want) {
		t.Errorf("%s: the changes are\n%q\nwant\n%q", what, got, want)
	}
}

// TestRecentChanges reads the log backwards, in pages and with filters, and compares it with the feed. Transactions that
// commit in another order than they write are in the order of the feed too.
func TestRecentChanges(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		if all, _ := recent(t, s, model.RecentArgs{First: 3}); len(all) != 0 {
			t.Errorf("a new log has %d changes", len(all))
		}
		home := newShelf(t, s)
		var middle model.Timestamp
		for i := range 12 {
			ctx := by(t.Context(), []string{"ann", "bob"}[i%2])
			book, err := s.CreateBook(ctx, newBook(fmt.Sprint("book ", i), home.genre.ID), s.Unchecked(ctx))
			check(t, err)
			if i%3 == 0 {
				check(t, second(s.Books.Update(ctx, book.ID, rename(fmt.Sprint("renamed ", i)), nil)))
			}
			if i%5 == 0 {
				check(t, s.Books.Delete(ctx, book.ID, nil, model.Restrict))
			}
			if i%2 == 0 {
				all, _ := changesAfter(t, s, nil, 100) // makes a tick
				if middle == 0 && i > 4 {
					middle = all[len(all)-1].At
				}
			}
		}
		if !isSQLite(url) {
			late := must[*sql.Tx](t)(program.BeginTx(t.Context(), nil))
			must[sql.Result](t)(late.Exec(`UPDATE genres SET name = 'Late' WHERE id = $1`, home.genre.ID))
			exec(t, program, `UPDATE categories SET name = 'Early'`)
			changesAfter(t, s, nil, 100)
			check(t, late.Commit())
		}
		forward, _ := changesAfter(t, s, nil, 7)
		for _, first := range []int{1, 2, 5, len(forward), 1000} {
			all, pages := recent(t, s, model.RecentArgs{First: first})
			wantSame(t, fmt.Sprint("pages of ", first), all, forward)
			if want := (len(forward) + first - 1) / first; pages != want {
				t.Errorf("there are %d pages of %d, want %d", pages, first, want)
			}
		}
		for name, filter := range map[string]struct {
			args model.RecentArgs
			has  func(*model.Change) bool
		}{
			"genres":  {model.RecentArgs{Types: []model.CatalogueType{model.TypeGenre}}, func(c *model.Change) bool { return c.Type == model.TypeGenre }},
			"deleted": {model.RecentArgs{Operations: []model.ChangeOperation{model.ChangeDelete}}, func(c *model.Change) bool { return c.Operation == model.ChangeDelete }},
			"ann":     {model.RecentArgs{Actor: new("ann")}, func(c *model.Change) bool { return c.Actor == "ann" }},
			"nobody":  {model.RecentArgs{Actor: new("an")}, func(*model.Change) bool { return false }},
			"since":   {model.RecentArgs{Since: &middle}, func(c *model.Change) bool { return c.At >= middle }},
			"both":    {model.RecentArgs{Since: &middle, Actor: new("bob")}, func(c *model.Change) bool { return c.At >= middle && c.Actor == "bob" }},
		} {
			filter.args.First = 2
			all, _ := recent(t, s, filter.args)
			wantSame(t, name, all, slices.DeleteFunc(slices.Clone(forward), func(c *model.Change) bool { return !filter.has(c) }))
		}
		exec(t, program, `DELETE FROM books WHERE name = 'renamed 9'`)
		newest := must[*model.ChangePage](t)(s.RecentChanges(t.Context(), model.RecentArgs{First: 1})).Nodes
		wantTold(t, newest, "DELETE BOOK 11 v2")
		if name := newest[0].Name(); name == nil || *name != "renamed 9" {
			t.Errorf("the name of the deleted book is %v", name)
		}
	})
}

// TestRecentChangesOfRareFilter reads pages of a filter that the newest 5,000 changes do not pass.
func TestRecentChangesOfRareFilter(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		home := newShelf(t, s)
		addBooks(t, program, 5_500, home.genre.ID)
		args := model.RecentArgs{First: 10, Types: []model.CatalogueType{model.TypeGenre}}
		page := must[*model.ChangePage](t)(s.RecentChanges(t.Context(), args))
		if len(page.Nodes) != 0 || !page.HasMore {
			t.Errorf("the first page has %d changes, more: %t", len(page.Nodes), page.HasMore)
		}
		args.After = &page.Position
		page = must[*model.ChangePage](t)(s.RecentChanges(t.Context(), args))
		wantTold(t, page.Nodes, fmt.Sprintf("CREATE GENRE %d v1 %s", home.genre.ID, home.genre.Name))
		if page.HasMore {
			t.Error("there is another page")
		}
	})
}

// TestRecentChangesErrors asks for positions that the log does not have, and for wrong pages.
func TestRecentChangesErrors(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		home := newShelf(t, s)
		page := must[*model.ChangePage](t)(s.RecentChanges(t.Context(), model.RecentArgs{First: 1}))
		table := "ticks"
		if isSQLite(url) {
			table = "changes"
		}
		exec(t, program, `UPDATE `+table+` SET at = '2001-02-03T04:05:06.000000Z'`)
		exec(t, program, `UPDATE books SET name = 'New' WHERE id = $1`, home.book.ID)
		recent(t, s, model.RecentArgs{First: 1}) // makes a tick
		check(t, s.ForgetChanges(t.Context(), 90))
		for after, code := range map[string]model.Code{page.Position: model.PositionGone, "1.1": model.PositionGone, "x": model.BadUserInput} {
			wantError(t, errorOf(s.RecentChanges(t.Context(), model.RecentArgs{First: 1, After: &after})), code)
		}
		for _, first := range []int{0, 1001} {
			wantError(t, errorOf(s.RecentChanges(t.Context(), model.RecentArgs{First: first})), model.BadUserInput)
		}
		all, _ := recent(t, s, model.RecentArgs{First: 1})
		wantTold(t, all, fmt.Sprintf("UPDATE BOOK %d v2 New", home.book.ID))
	})
}

package db_test

import (
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// TestHistoryAfterReadPosition reads the history of a row after the position of a response: a place after a whole tick
// on PostgreSQL. The page has the row's changes up to there, and none after it.
func TestHistoryAfterReadPosition(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		home := newShelf(t, s)
		must[*model.Book](t)(s.Books.Update(t.Context(), home.book.ID, rename("Second"), nil))
		must[*model.Category](t)(s.Categories.Create(t.Context(), &model.CreateCategoryInput{Name: "Other"}))
		changesAfter(t, s, nil, 100) // makes a tick
		position := must[string](t)(s.Unchecked(t.Context()).Position(t.Context()))
		for _, name := range []string{"Third", "Fourth", "Fifth"} {
			must[*model.Book](t)(s.Books.Update(t.Context(), home.book.ID, rename(name), nil))
		}
		args := &model.HistoryArgs{Type: model.TypeBook, First: 1, After: &position}
		ids := []model.ID{home.book.ID}
		page := must[map[model.ID]*model.ChangePage](t)(s.Unchecked(t.Context()).History(t.Context(), ids, args))[ids[0]]
		wantTold(t, page.Nodes, "UPDATE BOOK 1 v2 Second")
		if !page.HasMore {
			t.Error("there is no other page")
		}
		args.After = &page.Position
		page = must[map[model.ID]*model.ChangePage](t)(s.Unchecked(t.Context()).History(t.Context(), ids, args))[ids[0]]
		wantTold(t, page.Nodes, "CREATE BOOK 1 v1 "+home.book.Name)
		if page.HasMore {
			t.Error("there is a third page")
		}
	})
}

// TestPurgedPast asks for a row at times whose row was purged, also of a row deleted since: the error says so. The time
// before its creation and the newest one have their answers still.
func TestPurgedPast(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		home := newShelf(t, s)
		must[*model.Book](t)(s.Books.Update(t.Context(), home.book.ID, rename("Second"), nil))
		all := historyOf(t, s, model.TypeBook, home.book.ID, 10)
		must[int64](t)(s.PurgeRow(t.Context(), model.TypeBook, home.book.ID))
		past := func(position string) (*model.Book, error) {
			p, _ := model.ParsePosition(position)
			key := db.Past{Position: p, ID: home.book.ID}
			found, err := s.Unchecked(t.Context()).Books.AsOf(t.Context(), []db.Past{key})
			return found[key], err
		}
		wantCode(t, errorOf(past(all[1].Position)), model.PositionGone, "was purged")
		if b := must[*model.Book](t)(past(all[0].Position)); b.Name != "Second" {
			t.Errorf("the newest book is %s", textOfBook(b))
		}
		before, _ := changesAfter(t, s, nil, 100)
		if b := must[*model.Book](t)(past(before[1].Position)); b != nil {
			t.Errorf("before its creation the book is %s", textOfBook(b))
		}
		check(t, s.Books.Delete(t.Context(), home.book.ID, nil, model.Restrict))
		must[int64](t)(s.PurgeRow(t.Context(), model.TypeBook, home.book.ID))
		wantCode(t, errorOf(past(all[0].Position)), model.PositionGone, "was purged")
	})
}

// TestRefusedPositions moves the beginning of the log as Forget does, before it deletes changes. Each use refuses a
// position before it. At the beginning the changes after it are known, and those before it are not.
func TestRefusedPositions(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		home := newShelf(t, s)
		all, _ := changesAfter(t, s, nil, 100) // makes a tick
		must[*model.Book](t)(s.Books.Update(t.Context(), home.book.ID, rename("Second"), nil))
		_, beginning := changesAfter(t, s, nil, 100)
		move := `DELETE FROM ticks WHERE id < (SELECT max(id) FROM ticks)`
		if isSQLite(url) {
			move = `UPDATE feed SET start = (SELECT max(seq) FROM changes)`
		}
		exec(t, other(t, url), move)
		snapshot, ids := s.Unchecked(t.Context()), []model.ID{home.book.ID}
		for name, use := range map[string]struct {
			takesBeginning bool
			call           func(position string) error
		}{
			"follow": {true, func(position string) error {
				return errorOf(s.Changes(t.Context(), model.ChangeArgs{First: 1, After: &position}))
			}},
			"row of the past": {true, func(position string) error {
				p, _ := model.ParsePosition(position)
				return errorOf(snapshot.Books.AsOf(t.Context(), []db.Past{{Position: p, ID: ids[0]}}))
			}},
			"recent": {false, func(position string) error {
				return errorOf(s.RecentChanges(t.Context(), model.RecentArgs{First: 1, After: &position}))
			}},
			"history": {false, func(position string) error {
				args := &model.HistoryArgs{Type: model.TypeBook, First: 1, After: &position}
				return errorOf(snapshot.History(t.Context(), ids, args))
			}},
			"restore": {false, func(position string) error {
				return errorOf(s.Books.Revert(t.Context(), model.RestoreInput{ID: ids[0], Position: &position}, anyRow))
			}},
		} {
			t.Run(name, func(t *testing.T) {
				wantError(t, use.call(all[2].Position), model.PositionGone)
				err := use.call(beginning)
				if use.takesBeginning {
					check(t, err)
				} else {
					wantError(t, err, model.PositionGone)
				}
			})
		}
	})
}

package db_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// follow reads all changes after a position, one page after another.
func changesAfter(t *testing.T, s *db.Store, after *string, first int) (all []*model.Change, position string) {
	t.Helper()
	args := model.ChangeArgs{After: after, First: first}
	for {
		page := must[*model.ChangePage](t)(s.Changes(t.Context(), args))
		all = append(all, page.Nodes...)
		args.After = &page.Position
		if !page.HasMore {
			return all, page.Position
		}
	}
}

// told writes changes as texts.
func told(changes []*model.Change) (texts []string) {
	for _, c := range changes {
		text := fmt.Sprintf("%s %s %d v%d", c.Operation, c.Type, c.RowID, c.Version)
		switch {
		case c.Book != nil:
			text += " " + c.Book.Name
			if c.Book.ID != c.RowID || c.Book.Version != c.Version {
				text += " of another version"
			}
		case c.Genre != nil:
			text += " " + c.Genre.Name
		case c.Category != nil:
			text += " " + c.Category.Name
		}
		texts = append(texts, text)
	}
	return texts
}

func wantTold(t *testing.T, changes []*model.Change, want ...string) {
	t.Helper()
	if got := told(changes); !slices.Equal(got, want) {
		t.Errorf("the changes are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestOrderOfCommits has B write a genre, A update a book and commit, and B update the same book. By
// the number of the transaction B's change of the book came first.
func TestOrderOfCommits(t *testing.T) {
	t.Parallel()
	url := catalogtest.Postgres(t)
	s := open(t, url)
	home := newShelf(t, s)
	_, start := changesAfter(t, s, nil, 100)
	program := other(t, url)
	b := must[*sql.Tx](t)(program.BeginTx(t.Context(), nil))
	must[sql.Result](t)(b.Exec(`UPDATE genres SET name = 'B' WHERE id = $1`, home.genre.ID))
	exec(t, program, `UPDATE books SET name = 'A' WHERE id = $1`, home.book.ID)
	first, middle := changesAfter(t, s, &start, 1)
	wantTold(t, first, "UPDATE BOOK 1 v2 A")
	must[sql.Result](t)(b.Exec(`UPDATE books SET name = 'B' WHERE id = $1`, home.book.ID))
	exec(t, program, `UPDATE categories SET name = 'C' WHERE id = $1`, home.category.ID)
	between, _ := changesAfter(t, s, &middle, 1)
	wantTold(t, between, "UPDATE CATEGORY 1 v2 C")
	check(t, b.Commit())
	rest, _ := changesAfter(t, s, &start, 1)
	wantTold(t, rest, "UPDATE BOOK 1 v2 A", "UPDATE CATEGORY 1 v2 C", "UPDATE GENRE 1 v2 B", "UPDATE BOOK 1 v3 B")
}

// TestChanges reads each kind of change on each engine, of the service and of another program.
func TestChanges(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		_, start := changesAfter(t, s, nil, 10)
		home := newShelf(t, s)
		must[*model.Book](t)(s.Books.Update(t.Context(), home.book.ID, rename("Second"), nil))
		exec(t, program, `UPDATE books SET name = 'Third', pages = 7 WHERE id = $1`, home.book.ID)
		exec(t, program, `UPDATE books SET version = 77 WHERE id = $1`, home.book.ID)
		exec(t, program, `UPDATE books SET id = 9 WHERE id = $1`, home.book.ID)
		failed := fmt.Errorf("rolled back")
		if err := s.Write(t.Context(), func(ctx context.Context) error {
			must[*model.Book](t)(s.Books.Create(ctx, newBook("Never", home.genre.ID)))
			return failed
		}); err == nil {
			t.Error("the transaction is stored")
		}
		tx := must[*sql.Tx](t)(program.BeginTx(t.Context(), nil))
		for _, text := range []string{`SAVEPOINT a`, `UPDATE genres SET name = 'Undone'`, `ROLLBACK TO a`, `SAVEPOINT b`, `UPDATE genres SET name = 'Done'`, `RELEASE b`} {
			must[sql.Result](t)(tx.Exec(text))
		}
		check(t, tx.Commit())
		exec(t, program, `DELETE FROM books WHERE id = 9`)
		want := []string{
			"CREATE CATEGORY 1 v1 Fiction", "CREATE GENRE 1 v1 Fantasy", "CREATE BOOK 1 v1 The Hobbit", "UPDATE BOOK 1 v2 Second", "UPDATE BOOK 1 v3 Third", "UPDATE BOOK 1 v4 Third",
			"DELETE BOOK 1 v4", "CREATE BOOK 9 v5 Third", "UPDATE GENRE 1 v2 Done", "DELETE BOOK 9 v5",
		}
		for _, first := range []int{1, 3, 1000} {
			got, _ := changesAfter(t, s, &start, first)
			wantTold(t, got, want...)
			if first == 1000 {
				b := got[3].Book
				b.Keys = home.book.Keys
				if b.Author != home.book.Author || b.Price != home.book.Price || b.PublishedAt != home.book.PublishedAt || b.GenreID != home.book.GenreID || b.CreatedAt != home.book.CreatedAt || b.UpdatedAt < b.CreatedAt || got[4].Book.Pages != 7 {
					t.Errorf("%+v", b)
				}
			}
		}
		after := func(args model.ChangeArgs) []*model.Change {
			args.After, args.First = &start, 100
			return must[*model.ChangePage](t)(s.Changes(t.Context(), args)).Nodes
		}
		wantTold(t, after(model.ChangeArgs{Types: []model.CatalogueType{model.TypeGenre}}), want[1], want[8])
		wantTold(t, after(model.ChangeArgs{Types: []model.CatalogueType{model.TypeBook}, IDs: []model.ID{9, 4}}), want[7], want[9])
		for filter, number := range map[string][]int{"The Hobbit": {2, 3}, "Second": {3, 4}, "Third": {4, 5, 6, 7, 9}} {
			var texts []string
			for _, i := range number {
				texts = append(texts, want[i])
			}
			for _, op := range []string{"eq", "icontains", "startsWith"} {
				wantTold(t, after(model.ChangeArgs{Types: []model.CatalogueType{model.TypeBook}, Filter: map[string]any{"name": map[string]any{op: filter}}}), texts...)
			}
		}
		wantTold(t, after(model.ChangeArgs{Types: []model.CatalogueType{model.TypeBook}, Filter: map[string]any{
			"author": map[string]any{"icontains": "tolkien"}, "pages": map[string]any{"eq": 7}, "description": map[string]any{"isNull": true}, "publishedAt": map[string]any{"lt": "2000-01-01"}, "price": map[string]any{"gt": 1},
			"genre": map[string]any{"name": map[string]any{"eq": "Done"}}, "createdAt": map[string]any{"gt": "2000-01-01T00:00:00Z"}, "id": map[string]any{"in": []any{1, 9}},
		}}), want[4], want[5], want[6], want[7], want[9])

		for text, args := range map[string]model.ChangeArgs{
			"exactly one type":   {IDs: []model.ID{1}},
			"needs exactly one":  {Filter: map[string]any{"name": map[string]any{"eq": "x"}}, Types: []model.CatalogueType{model.TypeBook, model.TypeGenre}},
			"between 0 and 1000": {First: 1001},
			"BOOK, GENRE":        {Types: []model.CatalogueType{"SHELF"}},
		} {
			_, err := s.Changes(t.Context(), args)
			wantCode(t, err, model.BadUserInput, text)
		}
		for _, text := range []string{"", "x", "1", "-1.0", "01.0", "1.0 ", "1.-2", "99999999999999999999.0"} {
			_, err := s.Changes(t.Context(), model.ChangeArgs{After: &text})
			wantCode(t, err, model.BadUserInput, "after")
		}
		unknown := "1.0"
		_, err := s.Changes(t.Context(), model.ChangeArgs{After: &unknown})
		wantCode(t, err, model.PositionGone, "Read everything again")
	})
}

// TestTimesAfterClockSetBack sets the newest time to one ahead of the clock. The time of a change is never before
// that of an earlier change.
func TestTimesAfterClockSetBack(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		_, start := changesAfter(t, s, nil, 10)
		home := newShelf(t, s)
		_, middle := changesAfter(t, s, &start, 10)
		ahead := `UPDATE ticks SET at = '2999-01-01T00:00:00Z' WHERE id = (SELECT max(id) FROM ticks)`
		if isSQLite(url) {
			ahead = `UPDATE changes SET at = '2999-01-01T00:00:00.000000Z'`
		}
		exec(t, program, ahead)
		for _, name := range []string{"Second", "Third"} {
			must[*model.Book](t)(s.Books.Update(t.Context(), home.book.ID, rename(name), nil))
			changes, position := changesAfter(t, s, &middle, 10)
			if len(changes) != 1 || changes[0].At.String() != "2999-01-01T00:00:00.000000Z" {
				t.Errorf("%s: %v at %v", name, told(changes), changes[0].At)
			}
			middle = position
		}
	})
}

// TestLoggedColumns wants each field of each type in the log, and nothing that is derived from them.
func TestLoggedColumns(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		home := newShelf(t, s)
		exec(t, program, `UPDATE categories SET name = 'New'`)
		exec(t, program, `UPDATE genres SET name = 'New'`)
		exec(t, program, `UPDATE books SET name = 'New'`)
		check(t, s.Categories.Delete(t.Context(), home.category.ID, nil, model.Cascade))
		for code, entity := range map[string]string{"b": "Book", "g": "Genre", "c": "Category"} {
			for _, operation := range []string{"u", "d"} {
				var columns map[string]any
				text := ask[string](t, program, `SELECT CAST(old AS text) FROM changes WHERE type = $1 AND operation = $2`, code, operation)
				check(t, json.Unmarshal([]byte(text), &columns))
				for _, f := range model.Entities[entity].Fields {
					if _, logged := columns[f.Column]; !logged && f.Name != "id" && f.Name != "version" {
						t.Errorf("%s %s: the log lacks %s", operation, entity, f.Column)
					}
					delete(columns, f.Column)
				}
				if len(columns) > 0 {
					t.Errorf("%s %s: the log has %v too", operation, entity, columns)
				}
			}
		}
	})
}

// TestUnreadableRows breaks reads of the log at the first row, as a client does that leaves.
func TestUnreadableRows(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		home := newShelf(t, s)
		_, start := changesAfter(t, s, nil, 1)
		must[*model.Book](t)(s.Books.Update(t.Context(), home.book.ID, rename("Second"), nil))
		moment := must[model.Position](t)(s.Unchecked(t.Context()).PositionAt(t.Context(), historyOf(t, s, model.TypeBook, home.book.ID, 1)[0].At))
		db.MakeUnreadable(s)
		snapshot, ids := s.Unchecked(t.Context()), []model.ID{home.book.ID}
		for name, read := range map[string]func() error{
			"Changes": func() error { return errorOf(s.Changes(t.Context(), model.ChangeArgs{After: &start, First: 1})) },
			"Follow": func() error {
				return s.Follow(t.Context(), model.ChangeArgs{After: &start}, nil, func(context.Context, *model.ChangePage) error { return nil })
			},
			"History": func() error {
				return errorOf(snapshot.History(t.Context(), ids, &model.HistoryArgs{Type: model.TypeBook, First: 1}))
			},
			"AsOf": func() error {
				return errorOf(snapshot.Books.AsOf(t.Context(), []db.Past{{Position: moment, ID: home.book.ID}}))
			},
		} {
			if err := read(); !model.IsCode(err, model.Internal) || !strings.Contains(err.Error(), "name") {
				t.Errorf("%s: %v, want the error of the column", name, err)
			}
		}
	})
}

package db_test

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// undoModel makes change sets of a few rows at random.
type undoModel struct {
	*testing.T
	s       *db.Store
	program *sql.DB
	r       *rand.Rand
	sqlite  bool
}

// TestUndoModel undoes random sets after random writes. Without a conflict the rows of the set are as the log has them
// before it, and no other row changes. With one nothing changes, or only rows without one. An undo is undone likewise.
func TestUndoModel(t *testing.T) {
	t.Parallel()
	runs := 500
	if testing.Short() {
		runs = 40
	}
	catalogtest.Each(t, func(t *testing.T, url string) {
		h := &undoModel{T: t, s: open(t, url), program: other(t, url), sqlite: isSQLite(url)}
		undone, conflicts := 0, 0
		for seed := range runs {
			h.r = rand.New(rand.NewPCG(uint64(seed), 2))
			if h.run() {
				undone++
			} else {
				conflicts++
			}
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
		if undone < runs/4 || conflicts < runs/10 {
			t.Errorf("%d sets were undone, and %d had conflicts", undone, conflicts)
		}
	})
}

// run reports whether the set had no conflict.
func (h *undoModel) run() bool {
	h.Helper()
	for _, table := range []string{"books", "genres", "categories"} {
		exec(h.T, h.program, `DELETE FROM `+table)
	}
	for i := range 2 {
		exec(h.T, h.program, `INSERT INTO categories (id, name) VALUES ($1, 'C')`, i+1)
		exec(h.T, h.program, `INSERT INTO genres (id, name, category_id) VALUES ($1, 'G', $1)`, i+1)
		for k := range 2 {
			exec(h.T, h.program, `INSERT INTO books (id, genre_id, name, pages, published_at, author, price_cents) VALUES ($1, $2, 'B', 7, '1999-01-01', 'A', 0)`, 2*i+k+1, i+1)
		}
	}
	before := h.state()
	h.newest() // makes a tick
	moment := must[string](h.T)(h.s.Unchecked(h.Context()).Position(h.Context()))
	ctx := model.WithChangeSet(h.Context())
	foreign := h.r.IntN(6) == 0
	if foreign {
		h.foreign()
	} else {
		h.write(ctx)
	}
	set, after := h.newest(), h.state()
	if !foreign && h.r.IntN(3) == 0 { // another batch of an import, after a write of another
		h.write(h.Context())
		for row, text := range h.state() { // a row that the set changes only now is as this write left it
			if before[row] == after[row] {
				before[row] = text
			}
		}
		h.write(ctx)
		after, moment = nil, ""
	}
	for range h.r.IntN(3) {
		h.write(h.Context())
	}
	now := h.state()
	plan := must[*model.UndoChangeSetPayload](h.T)(h.undo(set, model.UndoChangeSetInput{DryRun: true}))
	h.want("after a dry run", h.state(), now)
	conflicts := 0
	rows := map[ref]bool{}
	for _, row := range plan.Rows {
		key := ref{row.Type, row.RowID}
		rows[key] = row.Conflict == nil
		if row.Conflict != nil {
			conflicts++
		}
		if after != nil && after[key] != now[key] && row.Conflict == nil {
			h.Errorf("%v was %q and is %q, and has no conflict", key, after[key], now[key])
		}
	}
	in := model.UndoChangeSetInput{OnConflict: model.RejectConflicts}
	if conflicts > 0 {
		_, err := h.undo(set, in)
		wantCode(h.T, err, model.Conflict, "Nothing was undone")
		h.want("after a conflict", h.state(), now)
		in.OnConflict = model.SkipConflicts
	}
	done := must[*model.UndoChangeSetPayload](h.T)(h.undo(set, in))
	want := maps.Clone(now)
	for key, back := range rows {
		if text, existed := before[key]; back && existed {
			want[key] = text
		} else if back {
			delete(want, key)
		}
	}
	h.want("after the undo", h.state(), want)
	if moment != "" {
		h.compareAsOf(moment, rows)
	}
	if done.ChangeSetID == nil {
		return false
	}
	if _, err := h.undo(set, model.UndoChangeSetInput{OnConflict: model.RejectConflicts}); err == nil {
		h.Error("the set was undone twice")
	}
	again, _ := model.ParseChangeSetID(*done.ChangeSetID)
	must[*model.UndoChangeSetPayload](h.T)(h.undo(again, model.UndoChangeSetInput{OnConflict: model.RejectConflicts}))
	h.want("after the undo of the undo", h.state(), now)
	return conflicts == 0
}

// compareAsOf compares the rows that an undo brought back with the log's at the moment before the set.
func (h *undoModel) compareAsOf(moment string, rows map[ref]bool) {
	h.Helper()
	at, _ := model.ParsePosition(moment)
	for key, back := range rows {
		if !back || key.typ != model.TypeBook {
			continue
		}
		past := db.Past{Position: at, ID: key.id}
		then := must[map[db.Past]*model.Book](h.T)(h.s.Unchecked(h.Context()).Books.AsOf(h.Context(), []db.Past{past}))[past]
		args := &model.HistoryArgs{Type: model.TypeBook, First: 1}
		pages := must[map[model.ID]*model.ChangePage](h.T)(h.s.Unchecked(h.Context()).History(h.Context(), []model.ID{key.id}, args))
		now := pages[key.id].Nodes[0].Book // after the undo
		if withoutVersion(textOfBook(then)) != withoutVersion(textOfBook(now)) {
			h.Errorf("book %d is %s, and was %s", key.id, textOfBook(now), textOfBook(then))
		}
	}
}

func (h *undoModel) undo(set model.ChangeSetID, in model.UndoChangeSetInput) (*model.UndoChangeSetPayload, error) {
	return h.s.Undo(h.Context(), set, in, func([]*model.UndoneRow) error { return nil })
}

// newest returns the set of the newest change.
func (h *undoModel) newest() model.ChangeSetID {
	h.Helper()
	return newestChange(h.T, h.s).Set
}

// state returns all rows, without versions and times of updates.
func (h *undoModel) state() state {
	h.Helper()
	found := state{}
	for typ, text := range map[model.CatalogueType]string{
		model.TypeCategory: `SELECT id, name || ' ' || created_at FROM categories`,
		model.TypeGenre:    `SELECT id, name || ' in ' || category_id || ' ' || created_at FROM genres`,
		model.TypeBook:     `SELECT id, name || ' in ' || genre_id || ' ' || pages || ' ' || coalesce(description, '-') || ' ' || created_at FROM books`,
	} {
		func() {
			rows, err := h.program.QueryContext(h.Context(), text)
			check(h.T, err)
			defer rows.Close()
			for rows.Next() {
				row := ref{typ: typ}
				var text string
				check(h.T, rows.Scan(&row.id, &text))
				found[row] = text
			}
			check(h.T, rows.Err())
		}()
	}
	return found
}

func (h *undoModel) want(when string, got, want state) {
	h.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		h.Errorf("%s: %s", when, diff)
	}
}

// one returns an existing id, or 0.
func (h *undoModel) one(typ model.CatalogueType) model.ID {
	for row := range h.state() { // maps have a random order
		if row.typ == typ {
			return row.id
		}
	}
	return 0
}

// write changes several rows in a transaction. It changes at least one.
func (h *undoModel) write(ctx context.Context) {
	h.Helper()
	name := fmt.Sprint("Name ", h.r.IntN(1000))
	check(h.T, h.s.Write(ctx, func(ctx context.Context) error {
		c, err := h.s.Categories.Create(ctx, &model.CreateCategoryInput{Name: name})
		if err != nil || h.r.IntN(3) > 0 {
			return err
		}
		g, err := h.s.Genres.Create(ctx, &model.CreateGenreInput{Name: name, CategoryID: c.ID})
		if err != nil {
			return err
		}
		_, err = h.s.Books.Create(ctx, newBook(name, g.ID))
		return err
	}))
	genre, book, target := h.one(model.TypeGenre), h.one(model.TypeBook), h.one(model.TypeGenre)
	check(h.T, h.s.Write(ctx, func(ctx context.Context) (err error) {
		for range 1 + h.r.IntN(2) {
			switch choice := h.r.IntN(5); {
			case choice == 0 && genre != 0:
				err = h.s.Genres.DeleteAll(ctx, []model.ID{genre})
				if genre == target {
					target = 0
				}
				genre = 0
			case choice == 1 && genre != 0:
				_, err = h.s.Genres.UpdateAll(ctx, []model.ID{genre}, &model.GenrePatch{Name: graphql.OmittableOf(&name)})
			case choice == 2 && target != 0:
				_, err = h.s.Books.Create(ctx, newBook(name, target))
			case book != 0:
				_, err = h.s.Books.UpdateAll(ctx, []model.ID{book}, &model.BookPatch{Name: graphql.OmittableOf(&name), Description: graphql.OmittableOf(&name)})
			}
			if err != nil {
				return err
			}
		}
		return nil
	}))
}

// foreign changes rows by SQL in a transaction.
func (h *undoModel) foreign() {
	h.Helper()
	tx := must[*sql.Tx](h.T)(h.program.BeginTx(h.Context(), nil))
	texts := []string{`UPDATE books SET pages = pages + 1`, `UPDATE genres SET name = 'SQL' WHERE id = 1`, `DELETE FROM books WHERE id = 2`}
	if h.sqlite { // each change is a set
		texts = texts[2:]
	}
	for _, text := range texts {
		must[sql.Result](h.T)(tx.Exec(text))
	}
	check(h.T, tx.Commit())
}

// TestChangeSets wants one set for each transaction of the service, for each book of a batch, for each transaction of
// another program on PostgreSQL, and for each of its changes on SQLite.
func TestChangeSets(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		home := newShelf(t, s)
		ids := addBooks(t, program, 3, home.genre.ID)
		check(t, s.Write(t.Context(), func(ctx context.Context) error {
			_, err := s.Books.UpdateAll(ctx, ids, rename("All"))
			return err
		}))
		tx := must[*sql.Tx](t)(program.BeginTx(t.Context(), nil))
		must[sql.Result](t)(tx.Exec(`UPDATE books SET pages = pages + 1 WHERE id = 2`))
		must[sql.Result](t)(tx.Exec(`UPDATE books SET pages = pages + 1 WHERE id = 3`))
		check(t, tx.Commit())
		page, _ := changesAfter(t, s, nil, 100)
		var told []string
		names := map[model.ChangeSetID]string{}
		for _, c := range page {
			id := c.Set
			if names[id] == "" {
				names[id] = string(rune('a' + len(names)))
			}
			told = append(told, names[id])
		}
		want := "a b c d d d e e e f f"
		if isSQLite(url) {
			want = "a b c d e f g g g h i"
		}
		if got := strings.Join(told, " "); got != want {
			t.Errorf("the sets are %s, want %s", got, want)
		}
	})
}

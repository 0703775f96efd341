package db_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

func wantError(t *testing.T, err error, code model.Code) {
	t.Helper()
	if !model.IsCode(err, code) {
		t.Errorf("the error is %v, want %s", err, code)
	}
}

func anyRow(bool) error { return nil }

// historyOf returns the whole history of a row, read in pages of first changes.
func historyOf(t *testing.T, s *db.Store, typ model.CatalogueType, id model.ID, first int) (all []*model.Change) {
	t.Helper()
	args := &model.HistoryArgs{Type: typ, First: first}
	for {
		page := must[map[model.ID]*model.ChangePage](t)(s.Unchecked(t.Context()).History(t.Context(), []model.ID{id}, args))[id]
		all = append(all, page.Nodes...)
		if !page.HasMore {
			return all
		}
		args.After = new(page.Position)
	}
}

// asOf returns a row as it was at a time.
func asOf[T any](t *testing.T, s *db.Store, rows func(*db.Snapshot) db.Reader[T], id model.ID, at model.Timestamp) *T {
	t.Helper()
	snapshot := s.Unchecked(t.Context())
	key := db.Past{Position: must[model.Position](t)(snapshot.PositionAt(t.Context(), at)), ID: id}
	return must[map[db.Past]*T](t)(rows(snapshot).AsOf(t.Context(), []db.Past{key}))[key]
}

func bookRows(s *db.Snapshot) db.Reader[model.Book]         { return s.Books }
func categoryRows(s *db.Snapshot) db.Reader[model.Category] { return s.Categories }
func errorOf[T any](_ T, err error) error                   { return err }
func textOfBook(b *model.Book) string {
	return textOf(b, func() string { return fmt.Sprint("v", b.Version, " ", b.Name, " ", b.Pages, " in ", b.GenreID) })
}
func textOfGenre(g *model.Genre) string {
	return textOf(g, func() string { return fmt.Sprint("v", g.Version, " ", g.Name, " in ", g.CategoryID) })
}
func textOf[T any](row *T, text func() string) string {
	if row == nil {
		return "none"
	}
	return text()
}

// TestHonestHistory reads the history of rows that other programs deleted, created again with the same id, and truncated.
func TestHonestHistory(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := catalogtest.Open(t, url), other(t, url)
		tell := func() string {
			t.Helper()
			return strings.Join(told(historyOf(t, s, model.TypeCategory, 1, 2)), "; ")
		}
		exec(t, program, `INSERT INTO categories (id, name) VALUES (1, 'First')`)
		exec(t, program, `UPDATE categories SET name = 'Second' WHERE id = 1`)
		tell() // makes a tick
		exec(t, program, `DELETE FROM categories WHERE id = 1`)
		exec(t, program, `INSERT INTO categories (id, name) VALUES (1, 'Other')`)
		if got, want := tell(), "CREATE CATEGORY 1 v1 Other; DELETE CATEGORY 1 v2; UPDATE CATEGORY 1 v2 Second; CREATE CATEGORY 1 v1 First"; got != want {
			t.Errorf("the history is %s, want %s", got, want)
		}
		all := historyOf(t, s, model.TypeCategory, 1, 10)
		if got := asOf(t, s, categoryRows, 1, all[2].At); got == nil || got.Name != "Second" && all[2].At != all[0].At {
			t.Errorf("as of the update: %+v", got)
		}
		if strings.HasPrefix(url, "sqlite:") {
			return
		}
		exec(t, program, `TRUNCATE categories CASCADE`)
		exec(t, program, `INSERT INTO categories (id, name) VALUES (1, 'Last')`)
		if got, want := tell(), "CREATE CATEGORY 1 v1 Last; RESET CATEGORY 0 v0; CREATE CATEGORY 1 v1; DELETE CATEGORY 1 v2; UPDATE CATEGORY 1 v2 Second; CREATE CATEGORY 1 v1 First"; got != want {
			t.Errorf("after a reset the history is %s, want %s", got, want)
		}
		reverted := func(position string) error {
			_, err := s.Categories.Revert(t.Context(), model.RestoreInput{ID: 1, Position: &position}, anyRow)
			return err
		}
		wantError(t, reverted(all[0].Position), model.PositionGone) // what the reset lost
		check(t, reverted(all[2].Position))
		if got := asOf(t, s, categoryRows, 1, historyOf(t, s, model.TypeCategory, 1, 1)[0].At); got.Name != "Second" || got.Version != 2 {
			t.Errorf("after the restore: %+v", got)
		}
		snapshot := s.Unchecked(t.Context())
		_, err := snapshot.Categories.AsOf(t.Context(), []db.Past{{Position: must[model.Position](t)(snapshot.PositionAt(t.Context(), all[0].At)), ID: 1}})
		wantError(t, err, model.PositionGone)
	})
}

// TestStrangeTimes wants an error with advice for a time whose year an engine does not read.
func TestStrangeTimes(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		for at, code := range map[string]model.Code{
			"0000-01-01T00:00:00Z":      model.PositionGone,
			"0001-01-01T00:00:00+10:00": model.PositionGone,
			"9999-12-31T23:59:59-10:00": model.BadUserInput,
		} {
			moment, err := time.Parse(time.RFC3339, at)
			check(t, err)
			_, err = s.Unchecked(t.Context()).PositionAt(t.Context(), model.Timestamp(moment.UnixMicro()))
			wantCode(t, err, code, "")
		}
	})
}

// TestPastWhileTickRuns asks for the past while another server's tick has its time and is not committed.
// The answer must wait for it, because the tick changes it.
func TestPastWhileTickRuns(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		home := newShelf(t, s)
		texts := []string{`SELECT pg_advisory_xact_lock(7305140136)`, `INSERT INTO ticks SELECT max(id) + 1, pg_current_snapshot(), clock_timestamp(), (SELECT sum(n) FROM revision) FROM ticks`}
		if isSQLite(url) {
			texts = []string{`UPDATE changes SET at = strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'), untimed = NULL`}
		}
		tick := must[*sql.Tx](t)(other(t, url).BeginTx(t.Context(), nil))
		for _, text := range texts {
			must[sql.Result](t)(tick.Exec(text))
		}
		at := model.Timestamp(time.Now().UnixMicro())
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := s.Unchecked(ctx).PositionAt(ctx, at)
		wantCode(t, err, model.Unavailable, "")
		check(t, tick.Commit())
		if b := asOf(t, s, bookRows, home.book.ID, at); textOfBook(b) != textOfBook(home.book) {
			t.Errorf("the book is %s, want %s", textOfBook(b), textOfBook(home.book))
		}
	})
}

// TestReadsDoNotWaitForWriters reads the log and the past while another program writes on an SQLite file. What the
// service has stored has its time. What another program has stored before has none yet: the log and the past end before
// it, until the writer commits.
func TestReadsDoNotWaitForWriters(t *testing.T) {
	t.Parallel()
	url := catalogtest.SQLite(t)
	s, program := open(t, url), other(t, url)
	home := newShelf(t, s)
	_, start := changesAfter(t, s, nil, 100)
	writer := must[*sql.Tx](t)(program.BeginTx(t.Context(), nil))
	must[*model.Book](t)(s.Books.Update(t.Context(), home.book.ID, rename("Second"), nil))
	second := must[*model.Book](t)(s.Books.Create(t.Context(), newBook("Created", home.genre.ID)))
	acknowledged := model.Timestamp(time.Now().UnixMicro())
	must[sql.Result](t)(writer.Exec(`UPDATE books SET name = 'Theirs'`))

	stored := func() {
		t.Helper()
		changes, _ := changesAfter(t, s, &start, 100)
		wantTold(t, changes[:2], "UPDATE BOOK 1 v2 Second", "CREATE BOOK 2 v1 Created")
		if b := asOf(t, s, bookRows, second.ID, acknowledged); b == nil || b.Name != "Created" {
			t.Errorf("the book is %v as of its acknowledgement", b)
		}
		if b := asOf(t, s, bookRows, home.book.ID, acknowledged); b.Name != "Second" {
			t.Errorf("the book is %v as of the acknowledgement of another", b)
		}
	}
	stored()
	check(t, writer.Commit())
	changesAfter(t, s, &start, 100) // a tick gives theirs a time
	must[sql.Result](t)(program.Exec(`UPDATE books SET name = 'Without a time'`))
	writer = must[*sql.Tx](t)(program.BeginTx(t.Context(), nil))
	must[sql.Result](t)(writer.Exec(`UPDATE books SET name = 'Not committed'`))
	stored()
	asked := model.Timestamp(time.Now().UnixMicro())
	_, err := s.Unchecked(t.Context()).PositionAt(t.Context(), asked)
	wantCode(t, err, model.Unavailable, "busy with a long write")
	check(t, writer.Commit())
	stored()
	if b := asOf(t, s, bookRows, second.ID, asked); b.Name != "Theirs" {
		t.Errorf("the book is %v, and its new name had no time then", b)
	}
}

// TestHistoryHasNewestChange reads rows and their histories while another program changes a row: in a
// transaction, and on a replica. No tick was made meanwhile, but the history ends at the row's version.
func TestHistoryHasNewestChange(t *testing.T) {
	t.Parallel()
	read := func(t *testing.T, s *db.Store, id model.ID, replicas model.Replicas, between func(*db.Snapshot)) {
		t.Helper()
		var version, newest int64
		check(t, s.Read(t.Context(), model.NoRevision, replicas, func(ctx context.Context, snapshot *db.Snapshot) error {
			books, err := snapshot.Books.ByID(ctx, []model.ID{id})
			if err != nil {
				return err
			}
			between(snapshot)
			pages, err := snapshot.History(ctx, []model.ID{id}, &model.HistoryArgs{Type: model.TypeBook, First: 1})
			if err != nil {
				return err
			}
			version, newest = books[0].Version, 0
			for _, c := range pages[id].Nodes {
				newest = c.Version
			}
			return nil
		}))
		if version != newest || version < 2 {
			t.Errorf("the book has version %d, and its history ends at %d", version, newest)
		}
	}
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		home := newShelf(t, s)
		read(t, s, home.book.ID, model.NoReplica, func(snapshot *db.Snapshot) {
			if !snapshot.InTransaction() {
				exec(t, program, `UPDATE books SET pages = pages + 1 WHERE id = $1`, home.book.ID)
			}
		})
	})
	t.Run("replica", func(t *testing.T) {
		p := newReplicated(t, 1, db.Options{})
		exec(t, p.primary, `UPDATE books SET pages = pages + 1 WHERE id = $1`, p.home.book.ID)
		p.caughtUp()
		read(t, p.Store, p.home.book.ID, model.FreshReplica, func(*db.Snapshot) {})
	})
}

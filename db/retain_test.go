package db_test

import (
	"context"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// TestForgetChanges deletes old changes in more than one batch, and what refers to them.
func TestForgetChanges(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		home := newShelf(t, s)
		_, early := changesAfter(t, s, nil, 1000)
		addBooks(t, program, 1_200, home.genre.ID)
		all, old := changesAfter(t, s, nil, 1000)
		check(t, s.ForgetChanges(t.Context(), 1))
		if kept, _ := changesAfter(t, s, nil, 1000); len(kept) != len(all) {
			t.Fatalf("%d of %d changes are kept", len(kept), len(all))
		}
		table := "ticks"
		if isSQLite(url) {
			table = "changes"
		}
		exec(t, program, `UPDATE `+table+` SET at = '2001-02-03T04:05:06.000000Z'`)
		exec(t, program, `UPDATE books SET name = 'New' WHERE id = $1`, home.book.ID)
		new, _ := changesAfter(t, s, &old, 1000)
		check(t, s.ForgetChanges(t.Context(), 0))
		if kept, _ := changesAfter(t, s, nil, 1000); len(kept) != len(all)+1 {
			t.Fatalf("%d changes are kept for ever", len(kept))
		}
		check(t, s.ForgetChanges(t.Context(), 90))
		kept, _ := changesAfter(t, s, nil, 1000)
		wantTold(t, kept, told(new)...)
		if n := ask[int](t, program, `SELECT count(*) FROM changes`); n != 1 {
			t.Errorf("%d changes are stored", n)
		}
		_, err := s.Changes(t.Context(), model.ChangeArgs{After: &early, First: 1})
		wantCode(t, err, model.PositionGone, "no longer kept")
		_, err = s.Changes(t.Context(), model.ChangeArgs{After: &all[500].Position, First: 1})
		wantCode(t, err, model.PositionGone, "no longer kept")
		still, _ := changesAfter(t, s, &old, 1000) // all before it is deleted, nothing after it
		wantTold(t, still, told(new)...)

		exec(t, program, `UPDATE `+table+` SET at = '2001-02-03T04:05:06.000000Z'`)
		check(t, s.ForgetChanges(t.Context(), 90)) // an empty log still has a position
		_, end := changesAfter(t, s, nil, 1000)
		exec(t, program, `DELETE FROM books WHERE id = $1`, home.book.ID)
		last, _ := changesAfter(t, s, &end, 1000)
		wantTold(t, last[len(last)-1:], "DELETE BOOK 1 v2")
	})
}

// TestPurge removes a person's name from the log: of a row, of every row, and of the actors.
func TestPurge(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		home := newShelf(t, s)
		for _, name := range []string{"By José Doe", "Clean"} {
			must[*model.Book](t)(s.Books.Update(by(t.Context(), "jose.doe"), home.book.ID, rename(name), nil))
		}
		check(t, s.Genres.Delete(by(t.Context(), "José Doe"), home.genre.ID, nil, model.Cascade))
		remember := func(subject string) (answer []byte, replayed bool, err error) {
			return s.Idempotent(t.Context(), subject, "key", "print", func(context.Context) ([]byte, error) { return []byte(`{"name":"By José Doe"}`), nil })
		}
		for _, subject := range []string{"Somebody", "José Doe"} {
			_, _, err := remember(subject)
			check(t, err)
		}
		rows, actors, err := s.PurgeText(t.Context(), "jose DOE")
		if err != nil || rows != 1 || actors != 2 {
			t.Errorf("%d rows, %d actors: %v", rows, actors, err)
		}
		if left := ask[int](t, program, `SELECT count(*) FROM idempotency_keys WHERE subject = 'José Doe' OR length(answer) > 1`); left != 0 {
			t.Errorf("%d stored answers or keys have the name", left)
		}
		_, _, err = remember("Somebody")
		wantCode(t, err, model.Conflict, "is stored, but its response was purged")
		changes, _ := changesAfter(t, s, nil, 100)
		wantTold(t, changes, "CREATE CATEGORY 1 v1 Fiction", "CREATE GENRE 1 v1 Fantasy", "CREATE BOOK 1 v1 The Hobbit", "UPDATE BOOK 1 v2", "UPDATE BOOK 1 v3 Clean", "DELETE BOOK 1 v3", "DELETE GENRE 1 v1")
		if changes[3].Actor != "jose.doe" || changes[5].Actor != "" {
			t.Errorf("the actors are %q and %q", changes[3].Actor, changes[5].Actor)
		}
		_, _, err = s.Idempotent(t.Context(), "Somebody", "other", "print", func(context.Context) ([]byte, error) { return []byte("name"), nil })
		check(t, err)
		if n := must[int64](t)(s.PurgeRow(t.Context(), model.TypeBook, home.book.ID)); n != 2 {
			t.Errorf("%d rows", n)
		}
		if left := ask[int](t, program, `SELECT count(*) FROM idempotency_keys WHERE length(answer) > 1`); left != 0 {
			t.Errorf("%d stored answers remain", left)
		}
		if n := ask[int](t, program, `SELECT count(*) FROM changes WHERE old IS NOT NULL`); n != 1 {
			t.Errorf("%d changes have columns", n)
		}
		_, _, err = s.PurgeText(t.Context(), "")
		wantCode(t, err, model.BadUserInput, "must not be empty")
	})
}

// TestPurgeAccount removes an account from the log and the Idempotency-Keys, but not another whose number begins with its own.
func TestPurgeAccount(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		home := newShelf(t, s)
		for _, subject := range []string{"account:1", "account:12"} {
			must[*model.Book](t)(s.Books.Update(by(t.Context(), subject), home.book.ID, rename(subject+" was here"), nil))
			_, _, err := s.Idempotent(t.Context(), subject, "key", "print", func(context.Context) ([]byte, error) { return []byte("{}"), nil })
			check(t, err)
		}
		_, actors, err := s.PurgeText(t.Context(), "account:1")
		if err != nil || actors != 1 {
			t.Errorf("%d actors: %v", actors, err)
		}
		if left := ask[string](t, program, `SELECT max(actor) FROM changes WHERE actor LIKE 'account:%'`); left != "account:12" {
			t.Errorf("the actor %s is left", left)
		}
		if left := ask[string](t, program, `SELECT max(subject) FROM idempotency_keys`); left != "account:12" {
			t.Errorf("the key of %s is left", left)
		}
	})
}

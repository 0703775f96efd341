package db_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// by returns the context of a caller's request.
func by(ctx context.Context, subject string) context.Context {
	return model.WithCaller(ctx, model.Caller{Subject: subject})
}

// TestActors logs the caller of each write, also of those that share a statement or follow another on
// the same connection, and the role of another program.
func TestActors(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		home := newShelf(t, s)
		_, start := changesAfter(t, s, nil, 100)
		role := ""
		if !isSQLite(url) {
			role = ask[string](t, program, `SELECT session_user`)
		}
		want := map[string]string{}
		var creates []func() error
		for i := range 200 {
			actor := fmt.Sprintf("caller %d", i)
			if i%5 == 0 {
				actor = ""
			}
			ctx, name := by(t.Context(), actor), fmt.Sprintf("by %d", i)
			want[name] = actor
			creates = append(creates, func() error {
				_, err := s.CreateBook(ctx, newBook(name, home.genre.ID), s.Unchecked(ctx))
				return err
			})
		}
		check(t, together(creates...))
		long := strings.Repeat("é", 200) + "\x00"
		for actor, write := range map[string]func(ctx context.Context) error{
			"writer": func(ctx context.Context) error {
				return second(s.Books.Update(ctx, home.book.ID, rename("updated"), nil))
			},
			long: func(ctx context.Context) error { return second(s.Books.Create(ctx, newBook("long", home.genre.ID))) },
			"a\x00\nb": func(ctx context.Context) error {
				return s.Write(ctx, func(ctx context.Context) error {
					return second(s.Books.Create(ctx, newBook("in a transaction", home.genre.ID)))
				})
			},
		} {
			check(t, write(by(t.Context(), actor)))
		}
		want["updated"], want["long"], want["in a transaction"], want["theirs"] = "writer", strings.Repeat("é", 127), "ab", role
		addBooks(t, program, 1, home.genre.ID)
		exec(t, program, `UPDATE books SET name = 'theirs' WHERE name = 'One of many'`)
		check(t, second(s.Books.Create(t.Context(), newBook("nobody", home.genre.ID))))
		want["nobody"] = role
		changes, _ := changesAfter(t, s, &start, 1000)
		for _, c := range changes {
			if wanted, known := want[c.Book.Name]; known && c.Actor != wanted && (wanted != "" || c.Actor != role) {
				t.Errorf("%s has the actor %q, want %q", c.Book.Name, c.Actor, wanted)
			}
		}
		if len(changes) != 206 {
			t.Errorf("there are %d changes", len(changes))
		}
		if isSQLite(url) {
			for _, left := range []string{`SELECT count(*) FROM books WHERE actor IS NOT NULL`, `SELECT count(*) FROM feed WHERE actor IS NOT NULL`} {
				if n := ask[int](t, program, left); n != 0 {
					t.Errorf("%s: %d", left, n)
				}
			}
		}
	})
}

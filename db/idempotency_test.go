package db_test

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

func answering(text string) func(context.Context) ([]byte, error) {
	return func(context.Context) ([]byte, error) { return []byte(text), nil }
}

func TestOnce(t *testing.T) {
	onEach(t, func(t *testing.T, s *db.Store) {
		ctx := t.Context()
		once := func(subject, key, fingerprint, answer string, wantAnswer string, wantReplayed bool) {
			t.Helper()
			got, replayed, err := s.Idempotent(ctx, subject, key, fingerprint, answering(answer))
			if err != nil || string(got) != wantAnswer || replayed != wantReplayed {
				t.Errorf("%s, %s, %s: %q, replayed %t, %v; want %q, %t", subject, key, fingerprint, got, replayed, err, wantAnswer, wantReplayed)
			}
		}
		once("me", "key", "print", "first", "first", false)
		once("me", "key", "print", "second", "first", true)
		once("you", "key", "print", "yours", "yours", false)
		once("me", "other key", "print", "other", "other", false)
		once("", "key", "print", "nobody's", "nobody's", false)
		once("me", "key", "print", "third", "first", true)

		_, _, err := s.Idempotent(ctx, "me", "key", "another request", answering("never"))
		wantCode(t, err, model.BadUserInput, "This Idempotency-Key was used with another request.")
		once("me", "key", "print", "fourth", "first", true)

		// An error is not kept, and nothing that was written before it.
		home := newShelf(t, s)
		_, _, err = s.Idempotent(ctx, "me", "failing", "print", func(ctx context.Context) ([]byte, error) {
			if _, err := s.Books.Create(ctx, newBook("Never", home.genre.ID)); err != nil {
				return nil, err
			}
			return nil, model.Errorf(model.Conflict, "no")
		})
		wantCode(t, err, model.Conflict, "no")
		_, _, err = s.Idempotent(ctx, "me", "failing", "print", func(ctx context.Context) ([]byte, error) {
			return nil, second(s.Books.Create(ctx, newBook("Lost", 1<<40)))
		})
		wantNoSuch(t, err, "genre_id", "The selected genre id is invalid.")
		func() {
			defer func() { _ = recover() }()
			_, _, _ = s.Idempotent(ctx, "me", "failing", "print", func(ctx context.Context) ([]byte, error) { panic("half way") })
		}()
		once("me", "failing", "another request", "now", "now", false)
		if n := must[int](t)(s.Unchecked(ctx).Books.Count(ctx, model.Selection{})); n != 1 {
			t.Errorf("%d books, want 1", n)
		}

		// An answer is bytes: none of them may be lost or changed.
		all := make([]byte, 256)
		for i := range all {
			all[i] = byte(i)
		}
		for key, answer := range map[string][]byte{"all bytes": all, "nothing": {}, "long": bytes.Repeat(all, 4_096)} {
			for _, replay := range []bool{false, true} {
				got, replayed, err := s.Idempotent(ctx, "me", key, "print", func(context.Context) ([]byte, error) { return answer, nil })
				if !bytes.Equal(got, answer) || replayed != replay || err != nil {
					t.Errorf("%s: %d bytes, replayed %t, %v", key, len(got), replayed, err)
				}
			}
		}
	})
}

func TestAnswersAreForgotten(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		program := other(t, url)
		ctx := t.Context()
		hoursAgo := func(hours, key string) {
			t.Helper()
			moment := "now() - interval '" + hours + "'"
			if isSQLite(url) {
				moment = "strftime('%Y-%m-%dT%H:%M:%f000Z', 'now', '-" + hours + "')"
			}
			exec(t, program, "UPDATE idempotency_keys SET created_at = "+moment+" WHERE key = $1", key)
		}
		for _, key := range []string{"new", "old", "older"} {
			if _, _, err := s.Idempotent(ctx, "me", key, "print", answering("first")); err != nil {
				t.Fatal(err)
			}
		}
		hoursAgo("23 hours", "new")
		hoursAgo("25 hours", "old")
		hoursAgo("2500 hours", "older")

		// An old key is free again, also for another request.
		for _, want := range []struct {
			key, fingerprint, answer string
			replayed                 bool
		}{{"new", "print", "first", true}, {"old", "another", "second", false}, {"old", "another", "second", true}} {
			got, replayed, err := s.Idempotent(ctx, "me", want.key, want.fingerprint, answering("second"))
			if string(got) != want.answer || replayed != want.replayed || err != nil {
				t.Errorf("%s: %q, replayed %t, %v; want %+v", want.key, got, replayed, err, want)
			}
		}
		if err := s.ForgetAnswers(ctx); err != nil {
			t.Error(err)
		}
		if n := ask[int](t, program, "SELECT count(*) FROM idempotency_keys"); n != 2 {
			t.Errorf("%d answers are kept, want 2", n)
		}
		if n := ask[int](t, program, "SELECT count(*) FROM idempotency_keys WHERE key = 'older'"); n != 0 {
			t.Error("the oldest is kept")
		}
	})
}

// TestOnceAtOnce sends the same request many times at once, to two processes.
func TestOnceAtOnce(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		stores := []*db.Store{open(t, url), open(t, url)}
		home := newShelf(t, stores[0])
		for round := range 5 {
			key := string(rune('a' + round))
			var ran, firsts atomic.Int32
			var run []func() error
			for i := range 16 {
				s := stores[i%2]
				run = append(run, func() error {
					answer, replayed, err := s.Idempotent(t.Context(), "me", key, "print", func(ctx context.Context) ([]byte, error) {
						if ran.Add(1) == 1 {
							return nil, errRolledBack // the next one is the first then
						}
						b, err := s.Books.Create(ctx, newBook("Only one", home.genre.ID))
						if err != nil {
							return nil, err
						}
						return []byte(b.ID.String()), nil
					})
					if errors.Is(err, errRolledBack) {
						return nil
					}
					if !replayed {
						firsts.Add(1)
					}
					if id := model.ParseID(string(answer)); err == nil && id <= home.book.ID {
						t.Errorf("the answer is %q", answer)
					}
					return err
				})
			}
			if err := together(run...); err != nil {
				t.Error(err)
			}
			if ran.Load() != 2 || firsts.Load() != 1 {
				t.Errorf("it ran %d times, one of them to fail; %d were told that they were the first", ran.Load(), firsts.Load())
			}
			if n := must[int](t)(stores[0].Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{})); n != 2+round {
				t.Errorf("%d books, want %d", n, 2+round)
			}
		}
	})
}

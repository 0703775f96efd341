package account_test

import (
	"testing"

	"library-catalogue/db/account"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// must returns a value, or ends the test at its error.
func must[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestAccounts stores accounts and what belongs to them: each key once, links that work once, no session after a new
// password, a bounded number of tokens, and failures in a window.
func TestAccounts(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		ctx, s := t.Context(), catalogtest.Open(t, url).Accounts
		row := must[*account.Row](t)
		ann := row(s.Add(ctx, "Ann", "ann", "Ann", "secret", model.Admin, 1))
		if again := row(s.Add(ctx, "ANN", "ann", "Ann", "other", model.Admin, 2)); again != nil {
			t.Errorf("a taken key made %+v", again)
		}
		if found := row(s.ByKey(ctx, "ann")); found == nil || found.ID != ann.ID || row(s.ByKey(ctx, "bob")) != nil {
			t.Errorf("by key: %+v", found)
		}
		if n := must[int64](t)(s.OtherAdmins(ctx, ann.ID)); n != 0 {
			t.Errorf("%d other admins", n)
		}

		if id := must[model.ID](t)(s.AddSession(ctx, ann, []byte("first"), "agent", 10, 20)); id == 0 {
			t.Error("no session")
		}
		session := must[*account.Session](t)
		if session(s.SessionBySecret(ctx, []byte("first"), 19)) == nil || session(s.SessionBySecret(ctx, []byte("first"), 20)) != nil {
			t.Error("a session does not end at its time")
		}
		if must[bool](t)(s.SetPassword(ctx, ann.ID, "wrong", "new")) || !must[bool](t)(s.SetPassword(ctx, ann.ID, "secret", "new")) {
			t.Error("a password was replaced that was not the old one, or was not replaced")
		}
		if id := must[model.ID](t)(s.AddSession(ctx, ann, []byte("second"), "agent", 11, 20)); id != 0 {
			t.Error("a session after a new password")
		}

		link := must[*account.Link](t)
		check(t, s.AddLink(ctx, &ann.ID, []byte("old"), 100))
		check(t, s.AddLink(ctx, &ann.ID, []byte("link"), 100))
		if link(s.Link(ctx, []byte("old"))) != nil {
			t.Error("an account has two links")
		}
		if link(s.UseLink(ctx, []byte("link"), 100)) != nil || link(s.UseLink(ctx, []byte("link"), 99)) == nil || link(s.UseLink(ctx, []byte("link"), 99)) != nil {
			t.Error("a link works after its end, or not once")
		}

		token := must[model.ID](t)
		for n, secret := range []string{"a", "b", "c"} {
			if id := token(s.AddToken(ctx, ann.ID, secret, "books:read", []byte(secret), 1, 50, 2)); (id == 0) != (n == 2) {
				t.Errorf("token %d of at most 2 has the id %d", n+1, id)
			}
		}
		if must[*account.Token](t)(s.TokenBySecret(ctx, []byte("a"), 50)) != nil {
			t.Error("a token works after its end")
		}
		check(t, s.SetDisabled(ctx, ann.ID, new(int64(30))))
		if must[*account.Token](t)(s.TokenBySecret(ctx, []byte("a"), 49)) != nil || session(s.SessionBySecret(ctx, []byte("first"), 19)) != nil {
			t.Error("a disabled account has a token or a session")
		}

		for _, step := range []struct{ now, ends, count, end int64 }{{1, 10, 1, 10}, {2, 11, 2, 10}, {10, 20, 1, 20}} {
			count, end, err := s.CountFailure(ctx, []byte("key"), step.now, step.ends)
			if err != nil || count != step.count || end != step.end {
				t.Errorf("at %d: %d failures until %d, %v; want %d until %d", step.now, count, end, err, step.count, step.end)
			}
		}
		check(t, s.BoundFailures(ctx, 15, 0))
		if count, _, err := s.Failures(ctx, []byte("key"), 15); count != 0 || err != nil {
			t.Errorf("%d failures are left, %v", count, err)
		}
		if !must[bool](t)(s.Remove(ctx, ann.ID)) || row(s.ByID(ctx, ann.ID)) != nil {
			t.Error("the account is not removed")
		}
	})
}

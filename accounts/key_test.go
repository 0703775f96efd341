package accounts

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"library-catalogue/db/account"
	"library-catalogue/graph/model"
)

// noKeys is a database with an installation and without keys, which counts the reads of keys.
type noKeys struct {
	account.DB
	reads atomic.Int64
}

func (d *noKeys) Read(_ context.Context, into any, _ string, _ ...any) error {
	if names, ok := into.(*[]string); ok {
		*names = []string{"home"}
		return nil
	}
	d.reads.Add(1)
	return nil
}

// TestUnknownKeys sends many unknown ids at once and one after the other.
func TestUnknownKeys(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		db := &noKeys{}
		s := New(account.Store{DB: db}, time.Now, nil)
		ask := func(issuer string) error {
			key, err := s.Key(t.Context(), issuer, "unknown")
			if key != nil {
				t.Errorf("there is a key %x", key)
			}
			return err
		}
		check(t, ask("catalogue:home")) // reads the keys
		db.reads.Store(0)
		if check(t, ask("catalogue:other")); db.reads.Load() != 0 {
			t.Errorf("another issuer makes %d reads", db.reads.Load())
		}
		began := time.Now()
		if o := inParallel(40, func(int) error { return ask("catalogue:home") }); o.succeeded != 40 {
			t.Error(o.errors)
		}
		if n := db.reads.Load(); n > 2 {
			t.Errorf("%d reads for 40 ids at once", n)
		}
		for range 10 {
			check(t, ask("catalogue:home"))
		}
		if n, most := db.reads.Load(), int64(time.Since(began)/reloadInterval)+1; n > most {
			t.Errorf("%d reads in %s", n, time.Since(began))
		}
	})
}

// TestReplacedKey replaces the key of login tokens: the last token of the old key counts until it expires, on a server
// that starts then too, and its key no longer than that and what clocks may differ.
func TestReplacedKey(t *testing.T) {
	on(t, func(t *testing.T, b *bench) {
		b.add(t, "ada", model.Reader)
		kidOf := func(token string) (issuer, kid string) {
			t.Helper()
			claims := jwt.MapClaims{}
			parsed, _, err := jwt.NewParser().ParseUnverified(token, claims)
			check(t, err)
			return claims["iss"].(string), parsed.Header["kid"].(string)
		}
		logIn := func() (issuer, kid string) {
			t.Helper()
			token, _, err := b.LoginToken(t.Context(), "ada", password, "")
			check(t, err)
			return kidOf(token)
		}
		logIn()
		b.pass(keyAge - time.Microsecond)
		issuer, old := logIn() // the last token of the key, nearly
		b.pass(time.Second)
		_, replaced := logIn()
		if replaced == old {
			t.Fatal("the key was not replaced")
		}
		wantKey := func(when string, want bool) {
			t.Helper()
			b.pass(maxAge) // what servers remember has ended
			fresh := New(b.store.Accounts, b.now, b.Service.network)
			for i, server := range []*Service{b.Service, b.other, fresh} {
				if key := must(server.Key(t.Context(), issuer, old)); (key != nil) != want {
					t.Errorf("server %d, %s: the replaced key counts: %t, want %t", i, when, key != nil, want)
				}
			}
		}
		b.pass(loginTTL + model.TokenLeeway - time.Second)
		wantKey("while its last token counts", true)
		b.pass(oldKeyAge - loginTTL - model.TokenLeeway - 2*time.Second)
		wantKey("before its end", true)
		b.pass(3 * time.Second)
		wantKey("after its end", false)
	})
}

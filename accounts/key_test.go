package accounts

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"library-catalogue/db/account"
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

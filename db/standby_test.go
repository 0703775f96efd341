package db_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/graph/model"
)

// TestStandbyAway stops the standby that commits wait for. What PostgreSQL has
// committed on its own is not acknowledged, whatever ended the wait.
func TestStandbyAway(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	url := cluster.Database(t)
	s, program := migrated(t, url), other(t, url)
	home := newShelf(t, s)
	cluster.Standby(t).Freeze(t)
	calls := map[string]func(context.Context) error{
		"a statement": func(ctx context.Context) error {
			return second(s.Books.Create(ctx, newBook("Perhaps", home.genre.ID)))
		},
		"a transaction": func(ctx context.Context) error {
			return second(s.Books.Update(ctx, home.book.ID, rename("Perhaps"), nil))
		},
		"under a key": func(ctx context.Context) error {
			_, _, err := s.Idempotent(ctx, "me", "key", "print", answering("done"))
			return err
		},
	}
	ends := map[string]func(context.Context) (context.Context, context.CancelFunc){
		"at its deadline": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Second)
		},
		"by an administrator": func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithTimeout(ctx, time.Minute)
			var administrator sync.WaitGroup
			administrator.Go(func() {
				for ctx.Err() == nil {
					_, _ = program.ExecContext(ctx, `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`)
				}
			})
			return ctx, func() { cancel(); administrator.Wait() }
		},
	}
	for name, call := range calls {
		for end, begin := range ends {
			t.Run(name+" that ends "+end, func(t *testing.T) {
				ctx, cancel := begin(t.Context())
				defer cancel()
				if err := call(ctx); !model.IsInDoubt(err) || !model.IsCode(err, model.Unavailable) {
					t.Errorf("the answer is %v", err)
				}
			})
		}
	}
	if _, err := s.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{}); err != nil {
		t.Errorf("reads go on: %v", err)
	}
	for ask[bool](t, program, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep')`) { // none waits for ever
	}
}

// TestNotInDoubt lets writes fail before anything was sent: then nothing is stored.
func TestNotInDoubt(t *testing.T) {
	t.Parallel()
	cluster := dbtest.Durable(t)
	s := migrated(t, cluster.Database(t))
	home := newShelf(t, s)
	held, release := make(chan struct{}), make(chan struct{})
	var holding sync.WaitGroup
	for range 16 {
		holding.Go(func() {
			_ = s.ReadTransaction(t.Context(), model.NoReplica, func(context.Context, *db.Snapshot) error { held <- struct{}{}; <-release; return nil })
		})
	}
	for range 16 {
		<-held
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, noConnection := s.Books.Update(ctx, home.book.ID, rename("Never"), nil)
	_, noConnectionAlone := s.Books.Create(ctx, newBook("Never", home.genre.ID))
	close(release)
	holding.Wait()
	cluster.Kill(t)
	_, away := s.Books.Update(t.Context(), home.book.ID, rename("Never"), nil)
	_, awayAlone := s.Books.Create(t.Context(), newBook("Never", home.genre.ID))
	for _, err := range []error{noConnection, noConnectionAlone, away, awayAlone} {
		if !model.IsCode(err, model.Unavailable) || model.IsInDoubt(err) {
			t.Errorf("nothing was stored: %v", err)
		}
	}
}

// TestPromotion ends the primary under eight writers and promotes its synchronous
// standby: what was acknowledged is there.
func TestPromotion(t *testing.T) {
	t.Parallel()
	if !dbtest.Soak {
		t.Skip("only with the build tag soak")
	}
	for range 3 {
		t.Run("", promote)
	}
}

func promote(t *testing.T) {
	cluster := dbtest.Durable(t)
	url := cluster.Database(t)
	s := migrated(t, url)
	home := newShelf(t, s)
	standby := cluster.Standby(t)
	var mu sync.Mutex
	var stored []model.ID
	var dead atomic.Bool
	enough := make(chan struct{})
	var writers sync.WaitGroup
	for range 8 {
		writers.Go(func() {
			for !dead.Load() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				b, err := s.Books.Create(ctx, newBook("One of many", home.genre.ID))
				cancel()
				if err != nil {
					wantCode(t, err, model.Unavailable, "")
					continue
				}
				mu.Lock()
				if stored = append(stored, b.ID); len(stored) == 1000 {
					close(enough)
				}
				mu.Unlock()
			}
		})
	}
	<-enough
	standby.Freeze(t) // commits wait, and are given up at their deadline
	for range 16 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		_ = second(s.Books.Create(ctx, newBook("One of many", home.genre.ID)))
		cancel()
	}
	cluster.Kill(t)
	dead.Store(true)
	writers.Wait()
	standby.Thaw(t)
	standby.Promote(t)
	allThere(t, open(t, standby.On(t, url)), stored)
}

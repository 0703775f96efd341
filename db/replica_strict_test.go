package db_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
)

// TestReplicaIsStrict reads from two replicas, whose replay is paused and resumed at random, and from the
// primary, while writers count up the pages of a book each. No read sees less than was committed before
// it began, nor less than a read that ended before it began.
func TestReplicaIsStrict(t *testing.T) {
	t.Parallel()
	reads := int64(400)
	if dbtest.Soak {
		reads = 10_000
	}
	p := newReplicated(t, 2, db.Options{})
	const writers, first = 3, 1000 // more pages than a new book has
	var books [writers]model.ID
	for i := range books {
		books[i] = must[*model.Book](t)(p.Books.Create(t.Context(), newBook("One of many", p.home.genre.ID))).ID
	}
	var committed, seen [writers]atomic.Int64
	var begun, stale, backward, replica atomic.Int64
	done := make(chan struct{})
	var changing, reading sync.WaitGroup
	for i := range writers {
		changing.Go(func() {
			for pages := first; !closed(done); pages++ {
				if err := second(p.Books.Update(t.Context(), books[i], &model.BookPatch{Pages: graphql.OmittableOf(&pages)}, nil)); err != nil {
					t.Error(err)
					return
				}
				committed[i].Store(int64(pages))
				_ = second(p.primary.ExecContext(t.Context(), `SELECT pg_sleep($1)`, rand.Float64()/50))
			}
		})
	}
	for i := range p.replicas {
		changing.Go(func() {
			server := p.replica(i)
			exec(t, server, `ALTER SYSTEM SET hot_standby_feedback = on`) // else replay waits for the reads
			exec(t, server, `SELECT pg_reload_conf()`)
			for !closed(done) {
				for _, text := range []string{`SELECT pg_wal_replay_pause()`, `SELECT pg_wal_replay_resume()`} {
					exec(t, server, text)
					exec(t, server, `SELECT pg_sleep($1)`, rand.Float64()/5)
				}
			}
		})
	}
	for range 4 {
		reading.Go(func() {
			for n := begun.Add(1); n <= reads || replica.Load() < 20; n = begun.Add(1) {
				var commits, views, found [writers]int64
				for i := range writers {
					commits[i], views[i] = committed[i].Load(), seen[i].Load()
				}
				ctx, record := stats.With(t.Context())
				err := p.Read(ctx, model.NoRevision, model.Replicas(min(n%4, 1)), func(ctx context.Context, snapshot *db.Snapshot) error {
					all, err := snapshot.Books.Page(ctx, &model.Page{Limit: 100})
					for _, book := range all {
						for i, id := range books {
							if book.ID == id {
								found[i] = int64(book.Pages)
							}
						}
					}
					return err
				})
				if err != nil {
					t.Error(err)
					return
				}
				if record.Replica() {
					replica.Add(1)
				}
				for i := range writers {
					if found[i] < first {
						found[i] = 0
					}
					if found[i] < commits[i] {
						stale.Add(1)
					}
					if found[i] < views[i] {
						backward.Add(1)
					}
					for old := seen[i].Load(); found[i] > old && !seen[i].CompareAndSwap(old, found[i]); old = seen[i].Load() {
					}
				}
				exec(t, p.primary, `SELECT pg_sleep($1)`, rand.Float64()/100)
			}
		})
	}
	reading.Wait()
	close(done)
	changing.Wait()
	t.Logf("%d reads, %d of replicas; the last changes: %d, %d, %d", begun.Load(), replica.Load(), committed[0].Load(), committed[1].Load(), committed[2].Load())
	if stale.Load() > 0 || backward.Load() > 0 {
		t.Errorf("%d stale, %d back in time", stale.Load(), backward.Load())
	}
}

// closed reports whether a channel is closed.
func closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

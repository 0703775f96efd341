package db

import (
	"context"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"library-catalogue/graph/model"
)

// revisionSQL reads where the catalogue stands. Each writer's transaction counts
// one of the rows up, so the sum is the number of changes that are committed;
// the highest number of a sequence would not be, since transactions do not
// commit in the order in which they draw numbers.
const revisionSQL = `SELECT CAST(sum(n) AS bigint) AS catalogue, CAST(sum(taxonomy) AS bigint) AS taxonomy FROM revision`

func (s *Store) readRevision(ctx context.Context) (r model.Revision, err error) {
	err = s.run(ctx, false, func(h handle) error {
		return sqlx.GetContext(ctx, h, &r, revisionSQL)
	})
	return r, err
}

// Revision tells where the catalogue stands now: it sees every change that was
// committed before the call. Calls that wait at the same time share one read,
// which begins after the last of them; it counts as a statement of none of them.
func (s *Store) Revision(ctx context.Context) (model.Revision, error) {
	if t := txOf(ctx); t != nil {
		if known := t.revision.Load(); known != nil {
			return *known, nil
		}
		r, err := s.readRevision(ctx)
		if err == nil && t.snapshot {
			t.revision.Store(&r)
		}
		return r, err
	}
	read := s.revisions.join(s.readRevision)
	select {
	case <-read.done:
		return read.revision, read.err
	case <-ctx.Done():
		return model.Revision{}, s.fail(ctx.Err())
	}
}

// revisionTimeout bounds a read that many may wait for.
const revisionTimeout = 5 * time.Second

// revisionReads lets one read of the revision follow the other, each for all
// who came while the one before it was under way (as etcd does with ReadIndex).
type revisionReads struct {
	background func(func(context.Context)) bool // runs what others wait for; nil: go does

	mu      sync.Mutex
	running bool
	next    *revisionRead // begins when the running one has ended
}

type revisionRead struct {
	done     chan struct{} // closed when the rest is set
	revision model.Revision
	err      error
}

// join gives a read that has not begun yet.
func (r *revisionReads) join(read func(context.Context) (model.Revision, error)) *revisionRead {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.next == nil {
		r.next = &revisionRead{done: make(chan struct{})}
	}
	joined := r.next
	if !r.running {
		r.running = true
		all := func(context.Context) { r.readAll(read) }
		if r.background == nil || !r.background(all) {
			go r.readAll(read) // where the store is closed, they find out for themselves
		}
	}
	return joined
}

// readAll reads until nobody waits.
func (r *revisionReads) readAll(read func(context.Context) (model.Revision, error)) {
	for {
		r.mu.Lock()
		current := r.next
		r.next = nil
		if current == nil {
			r.running = false
			r.mu.Unlock()
			return
		}
		r.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), revisionTimeout)
		current.revision, current.err = read(ctx)
		cancel()
		close(current.done)
	}
}

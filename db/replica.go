package db

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db/batch"
	"library-catalogue/db/postgres"
	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
)

// replicaSet are the replicas of a Store. They serve expensive reads.
//
// The rows of the table revision are a version vector: a transaction that changes the catalogue
// increments one of them, and holds it locked until its commit. A snapshot with at least the vector
// of another one therefore sees all its commits. A replica serves a read if its snapshot has
//   - at least the vector that the primary had after the read began, so it lacks no commit from before;
//   - at most the vector of the primary now, because a replica can show a commit before the primary does.
type replicaSet struct {
	all     []*replica
	vectors *batch.Batcher[struct{}, vector] // of the primary

	withoutPrimary bool        // serve all reads while there is no primary
	away           atomic.Bool // the last probe of the primary failed
	primary        atomic.Pointer[probed]
	passedOver     atomic.Int64 // expensive reads that the primary served
}

// replica is a standby with a pool of its own.
type replica struct {
	name  string
	pool  *pool
	lacks atomic.Pointer[vector] // a read has waited for this vector without effect; nil: none
	reads atomic.Int64

	mu     sync.Mutex
	life   context.Context // ends when the replica fails; nil: it is passed over
	end    context.CancelFunc
	reason string    // why it is passed over
	seen   vector    // at the last probe
	behind vector    // oldest probed vector of the primary that it lacks; nil: none
	since  time.Time // when the primary had behind
}

const (
	// replicaWait is the time between the two attempts of a read to find a replica that is not late.
	replicaWait = 15 * time.Millisecond
	// replicaTimeout bounds the start of a read on a replica that does not answer.
	replicaTimeout = 250 * time.Millisecond
	// primaryTimeout is the time without an answer after which there is no primary.
	primaryTimeout = 5 * time.Second
)

// openReplicas connects to no replica yet, because one that does not answer must not delay the start.
func (s *Store) openReplicas(urls []string, withoutPrimary bool) error {
	if len(urls) == 0 {
		if withoutPrimary {
			return errors.New("reading without a primary needs a replica: set its URL")
		}
		return nil
	}
	if s.connector == nil {
		return errors.New("an SQLite database has no replicas: remove the replica URL, or set a PostgreSQL database URL")
	}
	set := &replicaSet{withoutPrimary: withoutPrimary}
	for _, url := range urls {
		if strings.HasPrefix(url, sqlitePrefix) {
			return errors.New("a replica URL must begin with postgres://")
		}
		if err := CheckURL(url); err != nil {
			return fmt.Errorf("replica URL: %w", err)
		}
		connector, err := postgres.NewConnector(url)
		switch {
		case err != nil:
			return fmt.Errorf("replica URL: %w", err)
		case connector.Hosts() > 1:
			return errors.New("a replica URL must name one host: separate the URLs of several replicas by spaces")
		case slices.ContainsFunc(set.all, func(r *replica) bool { return r.name == connector.Host() }):
			return fmt.Errorf("two replica URLs name %s: remove one of them", connector.Host())
		}
		r := &replica{name: connector.Host(), pool: s.newPool(sqlx.NewDb(s.openPool(connector), "postgres"))}
		r.pool.unprepared.Store(true) // all statements run in transactions, which prepare none
		set.all = append(set.all, r)
	}
	set.vectors = sharedRead(s, func(ctx context.Context) (v vector, err error) {
		err = s.run(ctx, nil, false, func(h handle) (err error) {
			v, _, err = readVector(ctx, h)
			return err
		})
		return v, err
	})
	s.replicas = set
	s.Background(func(ctx context.Context) { s.probePrimary(ctx) })
	for _, r := range set.all {
		s.Background(func(ctx context.Context) { s.probeReplica(ctx, r) })
	}
	return nil
}

// vector has the numbers of the table revision by slot.
type vector map[int64]int64

// covers reports whether a snapshot with the vector v sees all commits of one with the vector w.
func (v vector) covers(w vector) bool {
	for slot, n := range w {
		if v[slot] < n {
			return false
		}
	}
	return true
}

// sum is the number of the revision. Of two states of one history the later has the larger sum.
func (v vector) sum() (sum int64) {
	for _, n := range v {
		sum += n
	}
	return sum
}

// readVector reads the vector and the revision of a snapshot.
func readVector(ctx context.Context, h interface {
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}) (v vector, at model.Revision, err error) {
	rows, err := h.QueryContext(ctx, `SELECT slot, n, reference FROM revision WHERE n > 0`)
	if err != nil {
		return nil, at, err
	}
	v = vector{}
	err = scanAll(rows, nil, func(rows *sql.Rows, _ *model.Revision) error {
		var slot, n, reference int64
		err := rows.Scan(&slot, &n, &reference)
		v[slot] = n
		at.Catalogue += n
		at.Reference += reference
		return err
	})
	return v, at, err
}

// withoutPrimary reports whether replicas serve all reads, because there is no primary.
func (s *Store) withoutPrimary() bool {
	return s.replicas != nil && s.replicas.withoutPrimary && s.replicas.away.Load()
}

// ReadLong is like ReadTransaction, but reads from a replica if one has every commit from before the
// call. fn may run twice.
func (s *Store) ReadLong(ctx context.Context, fn func(context.Context, *Snapshot) error) error {
	if served, err := s.readReplica(ctx, fn); served {
		return err
	}
	return s.ReadTransaction(ctx, fn)
}

// readReplica calls fn with a Snapshot of a replica, in a transaction. It returns false if the primary
// must serve the read, because no replica has every commit from before the call in time, or because
// one failed. fn may have run then.
func (s *Store) readReplica(ctx context.Context, fn func(context.Context, *Snapshot) error) (served bool, err error) {
	set := s.replicas
	if set == nil {
		return false, nil
	}
	r, o := s.openReplica(ctx)
	if o == nil {
		set.passedOver.Add(1)
		return false, nil
	}
	t := &tx{handle: txHandle{o.tx, r.pool}, readOnly: true, replica: true}
	defer func() {
		t.mu.Lock() // no statement of fn may run when the transaction ends
		defer t.mu.Unlock()
		t.ended = true
		o.close()
		if !served && ctx.Err() == nil && t.failure != nil && !conflicts(t.failure) {
			s.passOver(r, t.failure.Error())
		}
	}()
	snapshot := s.newSnapshot(t)
	snapshot.RecordRead(o.at)
	record := stats.Of(ctx)
	record.SetReplica(true)
	if err = fn(o.ctx, snapshot); errors.Is(err, model.ErrSnapshotChanged) {
		record.SetReplica(false)
		set.passedOver.Add(1)
		return false, nil
	}
	r.reads.Add(1)
	return true, err
}

// openReplica returns a replica with an open transaction that may serve a read, or nil.
func (s *Store) openReplica(ctx context.Context) (*replica, *openedReplica) {
	if s.withoutPrimary() {
		for _, r := range s.replicas.mostAdvanced() {
			if o := s.begin(ctx, r); o != nil {
				stats.Of(ctx).SetWithoutPrimary()
				return r, o
			}
		}
		return nil, nil
	}
	candidates := s.replicas.inTime()
	if len(candidates) == 0 {
		return nil, nil
	}
	least, err := s.replicas.vectors.Do(ctx, struct{}{})
	if err != nil {
		return nil, nil // reading from the primary fails too, and says why
	}
	for attempt := 1; ; attempt++ {
		for _, r := range candidates {
			o := s.begin(ctx, r)
			switch {
			case o == nil:
			case !o.vector.covers(least):
				o.close()
			case least.covers(o.vector):
				return r, o
			default: // there was a commit between the two reads
				if now, err := s.replicas.vectors.Do(ctx, struct{}{}); err == nil && now.covers(o.vector) {
					return r, o
				}
				o.close()
				return nil, nil
			}
		}
		if attempt == 2 {
			break
		}
		select {
		case <-time.After(replicaWait):
		case <-ctx.Done():
			return nil, nil
		}
	}
	for _, r := range candidates {
		r.lacks.Store(&least)
	}
	return nil, nil
}

// inTime returns the replicas that are not passed over, the least used first.
func (set *replicaSet) inTime() (usable []*replica) {
	for _, r := range set.all {
		if r.alive() != nil && r.lacks.Load() == nil {
			usable = append(usable, r)
		}
	}
	slices.SortFunc(usable, func(a, b *replica) int { return a.pool.Stats().InUse - b.pool.Stats().InUse })
	return usable
}

// mostAdvanced returns the replicas that are not passed over, the most advanced first.
func (set *replicaSet) mostAdvanced() (usable []*replica) {
	for _, r := range set.all {
		if r.alive() != nil {
			usable = append(usable, r)
		}
	}
	slices.SortStableFunc(usable, func(a, b *replica) int { return cmp.Compare(b.sum(), a.sum()) })
	return usable
}

// openedReplica is a transaction on a replica with its snapshot.
type openedReplica struct {
	ctx    context.Context // ends with close, or with the cause ErrSnapshotChanged if the replica fails
	cancel context.CancelCauseFunc
	stop   func() bool // detaches the replica's life from ctx
	tx     *sqlx.Tx
	vector vector
	at     model.Revision
}

func (o *openedReplica) close() {
	o.stop()
	_ = o.tx.Rollback()
	o.cancel(nil)
}

// begin begins a transaction on a replica and reads the vector of its snapshot. It returns nil if the
// replica fails, or does not answer in time.
func (s *Store) begin(ctx context.Context, r *replica) *openedReplica {
	life := r.alive()
	if life == nil {
		return nil
	}
	o := new(openedReplica)
	o.ctx, o.cancel = context.WithCancelCause(ctx)
	o.stop = context.AfterFunc(life, func() { o.cancel(model.ErrSnapshotChanged) })
	done := make(chan error, 1)
	s.runInBackground(func(context.Context) { // lib/pq may return later than ctx ends
		done <- func() (err error) {
			if o.tx, err = r.pool.BeginTxx(o.ctx, s.dialect.Snapshot); err == nil {
				o.vector, o.at, err = readVector(o.ctx, o.tx)
			}
			return err
		}()
	})
	timeout := time.NewTimer(replicaTimeout)
	defer timeout.Stop()
	var err error
	select {
	case err = <-done:
	case <-timeout.C:
		err = fmt.Errorf("no answer within %v", replicaTimeout)
	}
	if err == nil {
		return o
	}
	if ctx.Err() == nil && !conflicts(err) {
		s.passOver(r, err.Error())
	}
	o.stop()
	o.cancel(nil) // which also rolls the transaction back
	return nil
}

package replica

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/lib/pq"

	"library-catalogue/db/stats"
	"library-catalogue/task"
)

const (
	// interval is the time between two probes of a replica, and of the primary.
	interval = 100 * time.Millisecond
	// probeTimeout is the time without an answer after which a replica is passed over.
	probeTimeout = 1500 * time.Millisecond
	// primaryTimeout is the time without an answer after which there is no primary.
	primaryTimeout = 5 * time.Second
)

// probed is the answer of a server to a probe.
type probed struct {
	standby  bool
	feedback bool   // hot_standby_feedback is on
	cluster  string // system identifier
	started  string // start of the server
	schema   int64  // version of the schema
	vector   Vector
	at       time.Time
}

// probe asks a server.
func (set *Set) probe(ctx context.Context, server *sql.DB) (p probed, err error) {
	p.at = time.Now()
	text := `SELECT pg_is_in_recovery(), current_setting('hot_standby_feedback') = 'on',
CAST(system_identifier AS text),
CAST(pg_postmaster_start_time() AS text), (` + set.Schema + `) FROM pg_control_system()`
	err = server.QueryRowContext(ctx, text).Scan(&p.standby, &p.feedback, &p.cluster, &p.started, &p.schema)
	if err == nil {
		p.vector, _, err = ReadVector(ctx, server.QueryContext)
	}
	return p, err
}

// probePrimary asks the primary until ctx ends, on the connection of Checks.
func (set *Set) probePrimary(ctx context.Context) error {
	return set.repeat(ctx, primaryTimeout, func(ctx context.Context) {
		p, err := set.probe(ctx, set.Primary)
		if err == nil {
			set.primary.Store(&p)
			set.history.add(&p, set.MaxLag)
		}
		if away := err != nil; set.away.Swap(away) != away && set.WithoutPrimary {
			set.Logger.Warn("primary", "away", away, "error", err)
		}
	})
}

// probeReplica asks a replica until ctx ends. It decides whether the replica is passed over.
func (set *Set) probeReplica(ctx context.Context, r *replica) error {
	return set.repeat(ctx, probeTimeout, func(ctx context.Context) {
		primary := set.primary.Load() // before the replica
		p, err := set.probe(ctx, r.pool.DB)
		switch {
		case ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled): // the store is closed
		case err != nil:
			set.passOver(r, err.Error())
		case primary == nil:
			set.passOver(r, "the primary has not answered yet")
		case p.started == primary.started:
			set.passOver(r, "its URL leads to the server of the database URL")
		case p.cluster != primary.cluster:
			set.passOver(r, "it belongs to another cluster than the database URL")
		case !p.standby:
			set.passOver(r, "it is not a standby")
		case p.schema != primary.schema:
			set.passOver(r,
				fmt.Sprintf("its schema has version %d, and that of the primary %d", p.schema, primary.schema))
		default:
			set.use(r, p, primary)
		}
	})
}

// repeat calls fn at each interval until ctx ends. After a panic of fn it goes on.
func (set *Set) repeat(ctx context.Context, timeout time.Duration, fn func(context.Context)) error {
	for tick := time.NewTicker(interval); ; {
		limited, cancel := context.WithTimeout(ctx, timeout)
		_ = task.Run(ctx, func() error { fn(limited); return nil }) // it is reported
		cancel()
		select {
		case <-ctx.Done():
			tick.Stop()
			return nil
		case <-tick.C:
		}
	}
}

// passOver lets a replica serve no reads until a probe succeeds. Its reads in progress fail.
func (set *Set) passOver(r *replica, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.life != nil {
		r.end()
		r.life = nil
	}
	if r.reason != reason {
		r.reason = reason
		set.Logger.Warn("a replica is passed over", "replica", r.name, "reason", reason)
	}
}

// use lets a replica serve reads.
func (set *Set) use(r *replica, p probed, primary *probed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = p.vector
	if r.behind != nil && r.seen.covers(r.behind) {
		r.behind = nil
	}
	if r.behind == nil && !r.seen.covers(primary.vector) {
		r.behind, r.since = primary.vector, primary.at
	}
	if r.behind == nil {
		r.isLate.Store(false)
	}
	if r.life == nil {
		r.life, r.end = context.WithCancel(set.Life)
		r.reason = ""
		set.Logger.Info("a replica serves reads", "replica", r.name, "hot_standby_feedback", p.feedback)
	}
}

// alive returns the context that ends when the replica fails, or nil if it is passed over.
func (r *replica) alive() context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.life
}

// isConflict reports whether the server canceled a statement because of a conflict with recovery.
func isConflict(err error) bool {
	e, ok := errors.AsType[*pq.Error](err)
	return ok && e.Code == "40001"
}

// State returns the state of the replicas.
func (set *Set) State() *stats.Replicas {
	all := &stats.Replicas{PassedOver: set.passedOver.Load()}
	for _, r := range set.all {
		r.mu.Lock()
		state := stats.Replica{Name: r.name, Up: r.life != nil, Reason: r.reason, Reads: r.reads.Load()}
		if r.behind != nil {
			state.Lag = time.Since(r.since)
		}
		r.mu.Unlock()
		all.Each = append(all.Each, state)
	}
	return all
}

package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/lib/pq"

	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
)

// replicaInterval is the time between two probes of a replica, and of the primary.
const replicaInterval = 100 * time.Millisecond

// probed is the answer of a server to a probe.
type probed struct {
	standby bool
	cluster string // system identifier
	started string // start of the server
	schema  int64  // version of the schema
	vector  vector
	at      time.Time
}

const probeSQL = `SELECT pg_is_in_recovery() AS standby, CAST(system_identifier AS text) AS cluster, CAST(pg_postmaster_start_time() AS text) AS started, (` +
	schemaSQL + `) AS schema FROM pg_control_system()`

// probe asks a server.
func probe(ctx context.Context, server *sql.DB) (p probed, err error) {
	p.at = time.Now()
	err = server.QueryRowContext(ctx, probeSQL).Scan(&p.standby, &p.cluster, &p.started, &p.schema)
	if err == nil {
		p.vector, _, err = readVector(ctx, server)
	}
	return p, err
}

// probePrimary asks the primary until ctx ends, on the connection of Checks.
func (s *Store) probePrimary(ctx context.Context) {
	s.repeatProbe(ctx, primaryTimeout, func(ctx context.Context) {
		p, err := probe(ctx, s.healthDB)
		if err == nil {
			s.replicas.primary.Store(&p)
		}
		if away := err != nil; s.replicas.away.Swap(away) != away && s.replicas.withoutPrimary {
			s.options.Logger.Warn("primary", "away", away, "error", err)
		}
	})
}

// probeReplica asks a replica until ctx ends. It decides whether the replica is passed over.
func (s *Store) probeReplica(ctx context.Context, r *replica) {
	s.repeatProbe(ctx, checkTimeout, func(ctx context.Context) {
		primary := s.replicas.primary.Load() // before the replica
		p, err := probe(ctx, r.pool.DB.DB)
		switch {
		case ctx.Err() != nil && errors.Is(context.Cause(ctx), context.Canceled): // the store is closed
		case err != nil:
			s.passOver(r, err.Error())
		case primary == nil:
			s.passOver(r, "the primary has not answered yet")
		case p.started == primary.started:
			s.passOver(r, "its URL leads to the server of the database URL")
		case p.cluster != primary.cluster:
			s.passOver(r, "it belongs to another cluster than the database URL")
		case !p.standby:
			s.passOver(r, "it is not a standby")
		case p.schema != primary.schema:
			s.passOver(r, fmt.Sprintf("its schema has version %d, and that of the primary %d", p.schema, primary.schema))
		default:
			s.use(r, p.vector, primary)
		}
	})
}

// repeatProbe calls fn at each interval until ctx ends.
func (s *Store) repeatProbe(ctx context.Context, timeout time.Duration, fn func(context.Context)) {
	for tick := time.NewTicker(replicaInterval); ; {
		limited, cancel := context.WithTimeout(ctx, timeout)
		fn(limited)
		cancel()
		select {
		case <-ctx.Done():
			tick.Stop()
			return
		case <-tick.C:
		}
	}
}

// passOver lets a replica serve no reads until a probe succeeds. Its reads in progress fail.
func (s *Store) passOver(r *replica, reason string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.life != nil {
		r.end()
		r.life = nil
	}
	if r.reason != reason {
		r.reason = reason
		s.options.Logger.Warn("a replica is passed over", "replica", r.name, "reason", reason)
	}
}

// use lets a replica serve reads.
func (s *Store) use(r *replica, seen vector, primary *probed) {
	if lacks := r.lacks.Load(); lacks != nil && seen.covers(*lacks) {
		r.lacks.Store(nil)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.seen = seen
	if r.behind != nil && seen.covers(r.behind) {
		r.behind = nil
	}
	if r.behind == nil && !seen.covers(primary.vector) {
		r.behind, r.since = primary.vector, primary.at
	}
	if r.life == nil {
		r.life, r.end = context.WithCancel(s.life)
		r.reason = ""
		s.options.Logger.Info("a replica serves reads", "replica", r.name)
	}
}

// alive returns the context that ends when the replica fails, or nil if it is passed over.
func (r *replica) alive() context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.life
}

// sum returns the revision's number at the last probe.
func (r *replica) sum() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.seen.sum()
}

// conflicts reports whether the server canceled a statement because of a conflict with recovery.
func conflicts(err error) bool {
	e, ok := errors.AsType[*pq.Error](err)
	return ok && e.Code == "40001"
}

// Replicas returns the state of the replicas, nil without any.
func (s *Store) Replicas() *stats.Replicas {
	if s.replicas == nil {
		return nil
	}
	all := &stats.Replicas{PassedOver: s.replicas.passedOver.Load()}
	for _, r := range s.replicas.all {
		r.mu.Lock()
		state := stats.Replica{Name: r.name, Up: r.life != nil, Reads: r.reads.Load()}
		if r.behind != nil {
			state.Lag = time.Since(r.since)
		}
		r.mu.Unlock()
		all.Each = append(all.Each, state)
	}
	return all
}

// checkReplicas reports the replicas that are passed over.
func (s *Store) checkReplicas() []model.Check {
	if s.replicas == nil {
		return nil
	}
	check := model.Check{Name: "replicas", Status: model.Pass}
	var failed []string
	for _, r := range s.replicas.all {
		r.mu.Lock()
		if r.life == nil {
			check.Status = model.Warn
			failed = append(failed, r.name+" is passed over.")
			check.Err = errors.Join(check.Err, errors.New(r.name+": "+r.reason))
		}
		r.mu.Unlock()
	}
	check.Output = strings.Join(failed, " ")
	return []model.Check{check}
}

package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"library-catalogue/db/fault"
	"library-catalogue/db/schema"
	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
	"library-catalogue/task"
)

// Checks reports reachability, schema version, pending statements, pool exhaustion, disk space and
// the feed of changes and replicas.
// A dedicated connection tells an exhausted pool from an unreachable database. Unknown results are
// omitted.
func (s *Store) Checks(ctx context.Context) []model.Check {
	statements := s.checkStatements() // before checkDatabase adds a statement
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	own := make(chan session, 1)
	pool := model.Check{Name: "pool"}
	done := task.Go(ctx, func() error {
		pool = s.checkPool(ctx, own)
		return nil
	})
	checks := s.checkDatabase(ctx, own)
	if err := <-done; err != nil {
		pool.Status, pool.Output, pool.Err = model.Fail,
			"The pool could not be checked. The server's log has the cause.", err
	}
	checks = append(append(checks, pool, statements, s.checkDisk()), s.feed.Checks()...)
	return append(checks, s.checkReplicas()...)
}

// checkDatabase sends the session of the dedicated connection to own, unless the check fails, and
// closes own.
func (s *Store) checkDatabase(ctx context.Context, own chan<- session) []model.Check {
	defer close(own)
	var version schema.Version
	var at session
	done, _ := s.start(ctx, func() error { // lib/pq may return later than ctx ends
		return s.retry(ctx, func() error {
			var err error
			if version, err = s.schema.Read(ctx, s.healthDB); err == nil {
				at, err = s.session(ctx, s.healthDB)
			}
			return fault.Translate(err)
		})
	})
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		output := "The database is unreachable or refuses connections."
		switch {
		case fault.TimedOut(err):
			output = fmt.Sprintf("The database did not answer within %v.", checkTimeout)
		case model.IsCode(err, model.Internal):
			output = "The database has no tables of the catalogue. Check the database URL, or run " +
				"catalogue db migrate up."
		}
		return []model.Check{{Name: "database", Status: model.Fail, Output: output, Err: err}}
	}
	own <- at
	database := model.Check{Name: "database", Status: model.Pass}
	if at.readOnly {
		database.Status, database.Output = model.Warn,
			"The database is read-only or a standby. Changes are refused; reads work."
	}
	return []model.Check{database, s.schema.Check(version)}
}

// detectPooler prepares no statements if the dedicated connection and the pool share a process. If one
// fails, for example at a limit of connections, Checks compares them later.
func (s *Store) detectPooler(ctx context.Context) {
	own, failed := s.session(ctx, s.healthDB)
	if at, err := s.session(ctx, s.readPool.DB); err == nil && failed == nil {
		s.comparePool(at, own)
	}
}

// comparePool records that the sessions of two open connections share a process, which happens only
// behind a pooler. A URL with pooler=prepared says that this pooler keeps prepared statements.
func (s *Store) comparePool(at, own session) {
	if !s.pooled() && at.process != "" && at.process == own.process {
		s.readPool.Unprepared.Store(true)
	}
}

// checkPool compares a connection of the pool with the dedicated one. Their servers differ if the
// database's address has moved since one of them was opened.
func (s *Store) checkPool(ctx context.Context, own <-chan session) model.Check {
	check := model.Check{Name: "pool", Status: model.Pass}
	conn, err := s.readPool.Conn(ctx)
	if err == nil {
		probed, reachable := <-own
		var at session
		asked, started := s.start(ctx, func() (err error) { // lib/pq may return later than ctx ends
			defer conn.Close()
			at, err = s.session(ctx, conn)
			return err
		})
		if !started {
			conn.Close()
		}
		var failed error
		select {
		case failed = <-asked:
		case <-ctx.Done():
			failed = ctx.Err()
		}
		switch {
		case reachable && ctx.Err() != nil:
			check.Status, check.Output, check.Err = model.Warn,
				fmt.Sprintf("A connection of the pool did not answer within %v.", checkTimeout), failed
		case reachable && failed == nil:
			s.comparePool(at, probed)
			if at.readOnly != probed.readOnly {
				check.Status, check.Output = model.Warn,
					"Some connections lead to a read-only server, others to the primary."
			}
			if at.readOnly && !probed.readOnly {
				s.connector.Retire()
				check.Output += " New ones replace them."
			}
		}
	}
	if s.readPool.Unprepared.Load() && (!s.pooled() || s.connector.Prepares) {
		check.Status, check.Output = model.Fail, fault.PoolerAdvice
	}
	stats := s.readPool.Stats()
	// checkDatabase reports all other errors.
	if errors.Is(err, context.DeadlineExceeded) && stats.InUse >= stats.MaxOpenConnections {
		return model.Check{Name: "pool", Status: model.Fail, Err: err, Output: fmt.Sprintf(
			"All %d connections are in use; none became free within %v.", stats.MaxOpenConnections, checkTimeout)}
	}
	return check
}

// checkStatements reports a pending statement that takes long, which explains an exhausted pool.
func (s *Store) checkStatements() model.Check {
	if waiting := s.Waiting(); waiting > checkTimeout {
		return model.Check{Name: "statements", Status: model.Warn, Output: fmt.Sprintf(
			"The longest pending query has run for %v. The database is slow or a lock is held.",
			waiting.Round(100*time.Millisecond))}
	}
	return model.Check{Name: "statements", Status: model.Pass}
}

func (s *Store) checkDisk() model.Check {
	if s.diskFull.Load() {
		return model.Check{Name: "disk", Status: model.Warn,
			Output: s.dialect.Disks + " is full. Changes are refused; reads work."}
	}
	return model.Check{Name: "disk", Status: model.Pass}
}

// checkReplicas reports the replicas that are passed over.
func (s *Store) checkReplicas() []model.Check {
	if s.replicas == nil {
		return nil
	}
	check := model.Check{Name: "replicas", Status: model.Pass}
	var names []string
	for _, r := range s.Replicas().Each {
		if !r.Up {
			check.Status = model.Warn
			names = append(names, r.Name+" is passed over.")
			check.Err = errors.Join(check.Err, errors.New(r.Name+": "+r.Reason))
		}
	}
	check.Output = strings.Join(names, " ")
	return []model.Check{check}
}

// Observe sets a function that is called after every statement, including BEGIN and COMMIT. Call it
// before the Store is used.
func (s *Store) Observe(fn func(context.Context, stats.Statement)) { s.observe = fn }

// Pools returns the connection pools by name, for metrics.
func (s *Store) Pools() map[string]*sql.DB {
	if s.readPool == s.writePool {
		pools := map[string]*sql.DB{s.dialect.Name: s.readPool.DB.DB}
		if s.replicas != nil {
			for name, pool := range s.replicas.Pools() {
				pools[s.dialect.Name+" replica "+name] = pool
			}
		}
		return pools
	}
	return map[string]*sql.DB{
		s.dialect.Name + "-reader": s.readPool.DB.DB,
		s.dialect.Name + "-writer": s.writePool.DB.DB,
	}
}

// Replicas returns the state of the replicas, nil without any.
func (s *Store) Replicas() *stats.Replicas {
	if s.replicas == nil {
		return nil
	}
	return s.replicas.State()
}

// Waiting returns how long the oldest pending query of PostgreSQL has run, 0 if none is pending. It
// excludes the wait for a connection. It is always 0 on SQLite.
func (s *Store) Waiting() time.Duration { return s.waiting() }

// System returns the engine's name in OpenTelemetry's conventions.
func (s *Store) System() string { return s.dialect.System }

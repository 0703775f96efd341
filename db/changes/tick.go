package db

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db/fault"
	"library-catalogue/graph/model"
	"library-catalogue/task"
)

// tickLock is the key of PostgreSQL's advisory lock for ticks.
const tickLock = 7_305_140_136

// tickChannel is the channel of NOTIFY for new ticks.
const tickChannel = "catalogue_ticks"

// tickState compares the newest tick with the catalogue.
type tickState struct {
	Moved   bool // there are changes since the tick
	Foreign bool // the log comes from another server, whose transactions had higher numbers
}

const tickStateSQL = `SELECT coalesce(t.revision IS DISTINCT FROM r.n, true) AS moved, coalesce(t.foreign_log, false) AS foreign
FROM (SELECT sum(n) AS n FROM revision) r LEFT JOIN
(SELECT revision, pg_snapshot_xmax(snapshot) > now.xmax OR coalesce((SELECT xid FROM changes ORDER BY xid DESC LIMIT 1) >= now.xmax, false) AS foreign_log
FROM ticks, (SELECT pg_snapshot_xmax(pg_current_snapshot()) AS xmax) now ORDER BY id DESC LIMIT 1) t ON true`

// tick divides the changes if there are any since the newest tick, and gives them their time. Reads
// that begin after it see no change without a time from before the call. The transaction takes the lock
// before the statement that takes the snapshot, so that each tick sees all that the one before it
// sees. In a higher isolation level, which may be the role's default, the lock's statement would take
// the snapshot already. Only this transaction notifies, because NOTIFY makes commits of the whole
// server wait for each other.
func (s *Store) tick(ctx context.Context) error {
	if !s.dialect.HasTicks {
		return s.timeChanges(ctx)
	}
	var state tickState
	err := s.run(ctx, nil, false, func(h handle) error { return sqlx.GetContext(ctx, h, &state, tickStateSQL) })
	if err != nil || !state.Moved && !state.Foreign {
		return err
	}
	makeTick := func(ctx context.Context) error {
		if _, err := s.exec(ctx, lockTicksSQL, tickLock); err != nil {
			return err
		}
		if state.Foreign {
			if err := s.restartLog(ctx); err != nil {
				return err
			}
		}
		_, err := s.exec(ctx, makeTickSQL, tickChannel, state.Foreign)
		return err
	}
	return s.retry(ctx, func() error {
		return s.transact(ctx, s.writePool, &sql.TxOptions{Isolation: sql.LevelReadCommitted}, withTx(makeTick))
	})
}

// lockTicksSQL locks the ticks. A server that stops in the middle holds the lock for 10 s at most.
const lockTicksSQL = `SELECT pg_advisory_xact_lock($1) FROM set_config('idle_in_transaction_session_timeout', '10s', true)`

// makeTickSQL makes a tick unless another process was faster. After a reset of the log it lets the
// next tick follow at once, because this one does not see the reset.
const makeTickSQL = `WITH made AS (INSERT INTO ticks (id, snapshot, at, revision)
SELECT coalesce(t.id, 0) + 1 + floor(random() * 16777216)::bigint, pg_current_snapshot(), greatest(t.at, clock_timestamp()), CASE WHEN $2 THEN -1 ELSE r.n END
FROM (SELECT sum(n) AS n FROM revision) r LEFT JOIN (SELECT id, at, revision FROM ticks ORDER BY id DESC LIMIT 1) t ON true
WHERE $2 OR t.revision IS DISTINCT FROM r.n RETURNING id)
SELECT pg_notify($1, '') FROM made`

// isUntimedSQL is the condition that there are changes since the newest tick.
const isUntimedSQL = `(SELECT revision FROM ticks ORDER BY id DESC LIMIT 1) IS DISTINCT FROM (SELECT sum(n) FROM revision)`

// isUntimedSQLite is isUntimedSQL for SQLite.
const isUntimedSQLite = `EXISTS (SELECT 1 FROM feed f JOIN changes c ON c.seq > f.ticked)`

// timeChangesSQL sets the time of the changes since the last tick. It is never before that tick's.
const timeChangesSQL = `UPDATE changes SET at = max($1, (SELECT coalesce((SELECT c.at FROM changes c WHERE c.seq = f.ticked), f.at) FROM feed f))
WHERE seq > (SELECT ticked FROM feed)`

// timeChanges is tick for SQLite. Transactions commit one after the other, so the changes are in order
// and need only their time, which is the same for all changes of a transaction. The time is read after
// the transaction has begun, because it excludes other writers: later commits get a later time.
//
// Concurrent calls share a transaction (single-flight), and wait for it at most maxTickWait: a read must not wait for
// the writes of another program. The error is then errTickWaits.
func (s *Store) timeChanges(ctx context.Context) error {
	limit := time.NewTimer(maxTickWait)
	defer limit.Stop()
	for range 2 { // a transaction that runs already may not see all
		var untimed bool
		err := s.run(ctx, nil, false, func(h handle) error { return sqlx.GetContext(ctx, h, &untimed, `SELECT `+isUntimedSQLite) })
		if err != nil || !untimed {
			return err
		}
		timed := s.startTiming()
		select {
		case <-timed.done:
			if timed.err != nil {
				return timed.err
			}
		case <-ctx.Done():
			return fault.Unavailable(ctx.Err())
		case <-limit.C:
			return errTickWaits
		}
	}
	return nil
}

// maxTickWait is longer than a batch of an import.
const maxTickWait = time.Second

var errTickWaits = model.Errorf(model.Unavailable, "The database is busy with a long write. Try again in a moment.")

// timing is a transaction that gives changes their time.
type timing struct {
	done chan struct{} // closed after err is set
	err  error
}

// startTiming returns the running transaction, or starts one.
func (s *Store) startTiming() *timing {
	s.timingMu.Lock()
	t := s.timing
	if t != nil {
		s.timingMu.Unlock()
		return t
	}
	t = &timing{done: make(chan struct{})}
	s.timing = t
	s.timingMu.Unlock()
	s.runInBackground(func(ctx context.Context) {
		t.err = task.Run(ctx, func() error { return s.timeCommitted(ctx) })
		s.timingMu.Lock()
		defer s.timingMu.Unlock()
		s.timing = nil
		close(t.done)
	})
	return t
}

// timeCommitted gives all committed changes their time.
func (s *Store) timeCommitted(ctx context.Context) error {
	return s.retry(ctx, func() error {
		return s.transact(ctx, s.writePool, &sql.TxOptions{}, withTx(func(ctx context.Context) error {
			if _, err := s.exec(ctx, timeChangesSQL, timeNow()); err != nil {
				return err
			}
			_, err := s.exec(ctx, `UPDATE feed SET ticked = max(ticked, coalesce((SELECT max(seq) FROM changes), 0))`)
			return err
		}))
	})
}

// timeNow returns the time in the form of SQLite's columns.
func timeNow() string { return model.Timestamp(time.Now().UnixMicro()).String() }

// restartLog deletes a log that another server wrote and a dump brought here. Numbers of this
// server's transactions would count as older than its ticks. The newest tick stays, so that clients that
// followed to the end get the reset.
func (s *Store) restartLog(ctx context.Context) error {
	for _, text := range []string{
		`UPDATE ticks SET snapshot = '1:1:', at = now() WHERE id = (SELECT max(id) FROM ticks)`,
		`DELETE FROM ticks WHERE id < (SELECT max(id) FROM ticks)`,
		`DELETE FROM changes`,
		s.dialect.LogReset,
	} {
		if _, err := s.exec(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// tickForPage is tickIfWritable for a page of the log, which ends before the changes of a tick that waits.
func (s *Store) tickForPage(ctx context.Context) error {
	err := s.tickIfWritable(ctx)
	if errors.Is(err, errTickWaits) {
		return nil
	}
	return err
}

// tickIfWritable is tick, but does nothing on a database that refuses writes.
func (s *Store) tickIfWritable(ctx context.Context) error {
	err := s.tick(ctx)
	if s.refusesTicks.Store(fault.Of(err) == fault.ReadOnly); s.refusesTicks.Load() {
		return nil
	}
	return err
}

// tick gives each committed change that the Snapshot sees a position and a time, and reports whether a
// further read sees them. It cannot if the transaction writes or the database refuses writes. It
// returns ErrSnapshotChanged if only another transaction would see them.
func (s *Snapshot) tick(ctx context.Context) (done bool, err error) {
	switch {
	case s.tx == nil:
		err = s.store.tickIfWritable(ctx)
		return err == nil && !s.store.refusesTicks.Load(), err
	case !s.tx.readOnly, s.store.refusesTicks.Load(), s.store.replicas.ServesAll():
		return false, nil
	}
	s.needsTick.Store(true)
	return false, model.ErrSnapshotChanged
}

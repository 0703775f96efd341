package db

import (
	"context"
	"database/sql"

	"github.com/jmoiron/sqlx"
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

// tick divides the changes if there are any since the newest tick. The transaction takes the lock
// before the statement that takes the snapshot, so that each tick sees all that the one before it
// sees. In a higher isolation level, which may be the role's default, the lock's statement would take
// the snapshot already. Only this transaction notifies, because NOTIFY makes commits of the whole
// server wait for each other.
func (s *Store) tick(ctx context.Context) error {
	if !s.dialect.HasTicks {
		return nil
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

// tickIfWritable is tick, but does nothing on a database that refuses writes.
func (s *Store) tickIfWritable(ctx context.Context) error {
	err := s.tick(ctx)
	if classify(err) == readOnlyFault {
		return nil
	}
	return err
}

package changes

import (
	"context"
	"errors"
	"slices"
	"time"

	"library-catalogue/db/dialect"
	"library-catalogue/db/fault"
	"library-catalogue/graph/model"
	"library-catalogue/task"
)

// tickLock is the key of PostgreSQL's advisory lock for ticks.
const tickLock = 7_305_140_136

// Channel is the channel of NOTIFY for new ticks.
const Channel = "catalogue_ticks"

// tickState compares the newest tick with the catalogue.
type tickState struct {
	Newest  int64 // id of the newest tick
	Moved   bool  // there are changes since the tick
	Foreign bool  // the log comes from another server, whose transactions had higher numbers
	Recent  bool  // the tick was made within tickInterval
}

const tickStateSQL = `SELECT coalesce(t.id, 0) AS newest, coalesce(t.revision IS DISTINCT FROM r.n, true) AS moved, coalesce(t.foreign_log, false) AS foreign,
coalesce(t.age BETWEEN interval '0' AND interval '50 ms', false) AS recent
FROM (SELECT sum(n) AS n FROM revision) r LEFT JOIN
(SELECT id, revision, clock_timestamp() - at AS age, pg_snapshot_xmax(snapshot) > now.xmax OR coalesce((SELECT xid FROM changes ORDER BY xid DESC LIMIT 1) >= now.xmax, false) AS foreign_log
FROM ticks, (SELECT pg_snapshot_xmax(pg_current_snapshot()) AS xmax) now ORDER BY id DESC LIMIT 1) t ON true`

// Tick divides the changes if there are any since the newest tick, and gives them their time. Reads
// that begin after it see no change without a time from before the call. It waits for another process that
// makes a tick, because that one may see less.
func (l *Log) Tick(ctx context.Context) error {
	if !l.Dialect.HasTicks {
		return l.timeChanges(ctx, false)
	}
	var state tickState
	err := l.DB.Get(ctx, &state, tickStateSQL)
	if err != nil || !state.Moved && !state.Foreign {
		return err
	}
	return l.makeTick(ctx, lockTicksSQL, state.Foreign)
}

// look is Tick for a feed: it makes no tick within tickInterval of the newest one, and none while another process makes
// one. It returns the newest position that it knows. lacks means that there were changes after that position, so
// that the feed must look again soon.
func (l *Log) look(ctx context.Context) (newest Position, lacks bool, err error) {
	if !l.Dialect.HasTicks {
		if err := l.TickForPage(ctx); err != nil {
			return newest, false, err
		}
		newest, err = l.Newest(ctx)
		return newest, false, err
	}
	var state tickState
	err = l.DB.Get(ctx, &state, tickStateSQL)
	newest, lacks = Position{Tick: state.Newest}, state.Moved || state.Foreign
	if err != nil || !lacks || state.Recent && !state.Foreign {
		return newest, lacks, err
	}
	if err := l.ifWritable(l.makeTick(ctx, tryLockTicksSQL, state.Foreign)); err != nil || l.RefusesTicks() {
		return newest, false, err
	}
	newest, err = l.Newest(ctx)
	return newest, true, err
}

// makeTick makes a tick in a transaction, unless lock returns false or another process was faster. The lock is
// taken before the statement that takes the snapshot, so that each tick sees all that the one before it sees. In a
// higher isolation level, which may be the role's default, the lock's statement would take the snapshot already.
// Only this transaction notifies, because NOTIFY makes commits of the whole server wait for each other.
func (l *Log) makeTick(ctx context.Context, lock string, foreign bool) error {
	return l.DB.Write(ctx, func(ctx context.Context) error {
		var locked []bool
		if err := l.DB.Select(ctx, &locked, lock, tickLock); err != nil || !slices.Contains(locked, true) {
			return err
		}
		if foreign { // a dump brought a log whose transactions have higher numbers
			if _, err := l.DB.Exec(ctx, `SELECT restart_log()`); err != nil {
				return err
			}
		}
		_, err := l.DB.Exec(ctx, makeTickSQL, Channel, foreign)
		return err
	})
}

// lockTicksSQL locks the ticks, and tryLockTicksSQL does if no other process has locked them. A server that stops in
// the middle holds the lock for 10 s at most.
const (
	lockTicksSQL    = `SELECT pg_advisory_xact_lock($1) IS NOT NULL` + boundLockSQL
	tryLockTicksSQL = `SELECT pg_try_advisory_xact_lock($1)` + boundLockSQL
	boundLockSQL    = ` FROM set_config('idle_in_transaction_session_timeout', '10s', true)`
)

// makeTickSQL makes a tick unless another process was faster. After a reset of the log it lets the
// next tick follow at once, because this one does not see the reset.
const makeTickSQL = `WITH made AS (INSERT INTO ticks (id, snapshot, at, revision)
SELECT coalesce(t.id, 0) + 1 + floor(random() * 16777216)::bigint, pg_current_snapshot(), greatest(t.at, clock_timestamp()), CASE WHEN $2 THEN -1 ELSE r.n END
FROM (SELECT sum(n) AS n FROM revision) r LEFT JOIN (SELECT id, at, revision FROM ticks ORDER BY id DESC LIMIT 1) t ON true
WHERE $2 OR t.revision IS DISTINCT FROM r.n RETURNING id)
SELECT pg_notify($1, '') FROM made`

// isUntimedSQL is the condition that there are changes since the newest tick.
const isUntimedSQL = `(SELECT revision FROM ticks ORDER BY id DESC LIMIT 1) IS DISTINCT FROM (SELECT sum(n) FROM revision)`

// The changes of SQLite that have no time yet, and the newest one that has.
const (
	isUntimedSQLite = `EXISTS (SELECT 1 FROM changes WHERE untimed = 1)`
	lastTimedSQL    = `(SELECT max(f.start, coalesce(max(c.seq), 0)) FROM feed f LEFT JOIN changes c ON c.seq < coalesce((SELECT min(seq) FROM changes WHERE untimed = 1), 9223372036854775807))`
)

// GiveTimesSQL gives all changes of SQLite that have none their time: $1, or that of the newest change. Each transaction
// ends with it. Transactions commit one after the other, so the changes are in order. The caller holds the lock of
// writers, so that later commits get a later time. The changes of other programs get theirs from the next transaction of
// this one.
const GiveTimesSQL = `UPDATE changes SET at = max($1, (SELECT at FROM changes ORDER BY seq DESC LIMIT 1)), untimed = NULL WHERE untimed = 1`

// TimeNow returns the current time.
func TimeNow() model.Timestamp { return model.Timestamp(time.Now().UnixMicro()) }

// OpenSince returns the earliest time that a commit may still get on SQLite, after a read that begins now. A transaction
// may have taken its time before now; its commit takes less than maxTickWait.
func (l *Log) OpenSince() model.Timestamp {
	return max(TimeNow()-model.Timestamp(maxTickWait.Microseconds()), model.Timestamp(l.settled.Load()))
}

// Settle is Tick for a question about a time: it also waits for transactions that have taken their time and are not
// committed. It does nothing on a database that refuses writes.
func (l *Log) Settle(ctx context.Context) error {
	if l.Dialect.HasTicks {
		return l.TickIfWritable(ctx)
	}
	return l.ifWritable(l.timeChanges(ctx, true))
}

// Waits reports whether an error is that of a tick that waited too long for a writer.
func Waits(err error) bool { return errors.Is(err, errTickWaits) }

// timeChanges is Tick for SQLite, and Settle if always is true. Concurrent calls share a transaction (single-flight), and
// wait for it at most maxTickWait: a read must not wait for the writes of another program. The error is then
// errTickWaits.
func (l *Log) timeChanges(ctx context.Context, always bool) error {
	limit := time.NewTimer(maxTickWait)
	defer limit.Stop()
	for attempt, isNew := 1, false; attempt <= 2 && !isNew; attempt++ { // a transaction that runs already may not see all
		if !always {
			var untimed bool
			err := l.DB.Get(ctx, &untimed, `SELECT `+isUntimedSQLite)
			if err != nil || !untimed {
				return err
			}
		}
		var timed *timing
		timed, isNew = l.startTiming()
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
func (l *Log) startTiming() (t *timing, isNew bool) {
	l.mu.Lock()
	if l.timing != nil {
		defer l.mu.Unlock()
		return l.timing, false
	}
	t = &timing{done: make(chan struct{})}
	l.timing = t
	l.mu.Unlock()
	l.DB.Start(func(ctx context.Context) {
		t.err = task.Run(ctx, func() error { return l.settle(ctx) })
		l.mu.Lock()
		defer l.mu.Unlock()
		l.timing = nil
		close(t.done)
	})
	return t, true
}

// settle waits for all transactions that have a time before now, by one that gives times at its end. An INSERT has its
// time in milliseconds, so it waits for the next one.
func (l *Log) settle(ctx context.Context) error {
	pause(ctx, time.Millisecond-time.Duration(time.Now().Nanosecond())%time.Millisecond)
	var settled time.Time
	err := l.DB.Write(ctx, func(context.Context) error {
		settled = time.Now().Truncate(time.Millisecond)
		return nil
	})
	if err == nil {
		l.settled.Store(settled.UnixMicro())
	}
	return err
}

// TickForPage is TickIfWritable for a page of the log, which ends before the changes of a tick that waits.
func (l *Log) TickForPage(ctx context.Context) error {
	err := l.TickIfWritable(ctx)
	if errors.Is(err, errTickWaits) {
		return nil
	}
	return err
}

// TickIfWritable is Tick, but does nothing on a database that refuses writes.
func (l *Log) TickIfWritable(ctx context.Context) error {
	return l.ifWritable(l.Tick(ctx))
}

// ifWritable returns the error of a tick, but nil from a database that refuses writes.
func (l *Log) ifWritable(err error) error {
	if l.refusesTicks.Store(fault.Of(err) == fault.ReadOnly); l.refusesTicks.Load() {
		return nil
	}
	return err
}

// RefusesTicks reports whether the database refused the last tick, because it is read-only.
func (l *Log) RefusesTicks() bool { return l.refusesTicks.Load() }

// Newest returns the position after all changes that are logged now.
func (l *Log) Newest(ctx context.Context) (p Position, err error) {
	err = l.DB.Get(ctx, &p.Tick, NewestSQL(l.Dialect))
	return p, err
}

// NewestSQL returns the SELECT of the tick of the position after all changes that a snapshot has.
func NewestSQL(d *dialect.Dialect) string {
	if d.HasTicks {
		return `SELECT max(id) AS tick FROM ticks`
	}
	return `SELECT ` + lastTimedSQL + ` AS tick`
}

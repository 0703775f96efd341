package changes

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"library-catalogue/db/fault"
	"library-catalogue/db/query"
	"library-catalogue/graph/model"
	"library-catalogue/task"
)

// serial is the engine of SQLite, which has one writer at a time. Each transaction of this program ends with an UPDATE
// that gives its changes their time; the changes of other programs get theirs from the next one.
type serial struct {
	*Log
	settled atomic.Int64 // all changes before this time are committed
	timing  singleflight.Group
}

// lastTimedSQL is the seq of the newest change that has a time, and before all that have none.
const lastTimedSQL = `(SELECT max(f.start, coalesce(max(c.seq), 0)) FROM feed f LEFT JOIN changes c
ON c.seq < coalesce((SELECT min(seq) FROM changes WHERE untimed = 1), 9223372036854775807))`

var serialSQL = Statements{
	Newest: `SELECT ` + lastTimedSQL + ` AS tick`,
	Kept:   `EXISTS (SELECT 1 FROM changes WHERE seq = $1 AND seq > (SELECT start FROM feed))`,
	mark:   `SELECT max(start, coalesce((SELECT max(seq) FROM changes), 0)), '', '' FROM feed`,
	// The writer holds the lock, so later commits get a later time. No time is before the time of the newest change.
	Commit: `UPDATE changes SET at = max($1, (SELECT at FROM changes ORDER BY seq DESC LIMIT 1)), untimed = NULL
WHERE untimed = 1`,
	size: `SELECT coalesce(sum(pgsize), 0) AS log, 0 AS revision FROM dbstat
WHERE name IN ('changes', 'changes_row', 'changes_set')`,
	members: `json_each`,
	lost:    `c.seq <= (SELECT start FROM feed)`,
	timed: `SELECT seq AS tick, seq, row_id, type, operation, coalesce(actor, '') AS actor, at FROM changes c
WHERE c.untimed IS NULL AND c.seq > (SELECT start FROM feed) AND `,
	purge: `DELETE FROM replaced`,
	// The row of feed moves before the changes go, so that no position is known after a part of its changes is deleted.
	forget: []string{
		`UPDATE feed SET (start, at) = (SELECT c.seq, c.at
FROM (SELECT seq, at FROM changes WHERE seq > start ORDER BY seq LIMIT $1) c WHERE c.at < {cut} ORDER BY c.seq DESC
LIMIT 1)
WHERE (SELECT c.at FROM changes c WHERE c.seq > start ORDER BY c.seq LIMIT 1) < {cut}`,
		`UPDATE changes SET change_set = NULL WHERE seq IN (SELECT c.seq FROM feed f JOIN changes c ON c.seq > f.start
AND c.change_set IN (SELECT l.change_set FROM changes l WHERE l.seq <= f.start) LIMIT $1)`,
		`DELETE FROM changes WHERE seq IN (SELECT c.seq FROM changes c, feed f WHERE c.seq <= f.start ORDER BY c.seq
LIMIT $1)`,
	},
}

// tick gives all committed changes their time; if settles is false, only if one has none. Concurrent calls share a
// transaction (single-flight), and wait for it at most maxTickWait: a read must not wait for the writes of another
// program. The error is then errTickWaits.
func (e *serial) tick(ctx context.Context, settles bool) error {
	limit := time.NewTimer(maxTickWait)
	defer limit.Stop()
	// a transaction that runs already may not see all
	for attempt, isNew := 1, false; attempt <= 2 && !isNew; attempt++ {
		if !settles {
			var untimed bool
			err := e.DB.Get(ctx, &untimed, `SELECT EXISTS (SELECT 1 FROM changes WHERE untimed = 1)`)
			if err != nil || !untimed {
				return err
			}
		}
		timed := task.Go(ctx, func() error {
			_, err, _ := e.timing.Do("", func() (any, error) { isNew = true; return nil, e.commitTimes() })
			return err
		})
		select {
		case err := <-timed:
			if err != nil {
				return err
			}
		case <-ctx.Done():
			return fault.Unavailable(ctx.Err())
		case <-limit.C:
			return errTickWaits
		}
	}
	return nil
}

// OpenSince heeds that a transaction may have taken its time before now; its commit takes less than maxTickWait.
func (e *serial) OpenSince() model.Timestamp {
	return max(TimeNow()-model.Timestamp(maxTickWait.Microseconds()), model.Timestamp(e.settled.Load()))
}

func (e *serial) look(ctx context.Context) (newest model.Position, lacks bool, err error) {
	if err := e.Tick(ctx); err != nil {
		return newest, false, err
	}
	newest, err = e.Newest(ctx)
	return newest, false, err
}

// maxTickWait is longer than a batch of an import.
const maxTickWait = time.Second

var errTickWaits = model.Errorf(model.Unavailable, "The database is busy with a long write. Try again in a moment.")

// commitTimes waits for all transactions that have a time before now, by one that gives times at its end. An INSERT has
// its time in milliseconds, so it waits for the next one.
func (e *serial) commitTimes() (err error) {
	done := make(chan struct{})
	e.DB.Start(func(ctx context.Context) {
		defer close(done)
		task.Wait(ctx, time.Millisecond-time.Duration(time.Now().Nanosecond())%time.Millisecond, nil)
		var settled time.Time
		err = task.Run(ctx, func() error {
			return e.DB.Write(ctx, func(context.Context) error {
				settled = time.Now().Truncate(time.Millisecond)
				return nil
			})
		})
		if err == nil {
			e.settled.Store(settled.UnixMicro())
		}
	})
	<-done
	return err
}

func (e *serial) window(ctx context.Context, s Snapshot, after *model.Position) (w window, err error) {
	var found []struct {
		Start, Last int64
		Known       bool
	}
	tick := int64(-1)
	if after != nil {
		tick = after.Tick
	}
	err = s.Select(ctx, &found, `SELECT start, `+lastTimedSQL+` AS last,
`+placeSQL("$1")+` AS known FROM feed`, tick)
	switch {
	case err != nil:
		return w, err
	case len(found) == 0, after != nil && (!found[0].Known || after.Seq != 0):
		return w, ErrGone
	}
	w.begin, w.end = model.Position{Tick: found[0].Start}, model.Position{Tick: found[0].Last}
	if after != nil {
		w.begin, w.end.Tick = *after, max(w.end.Tick, after.Tick)
	}
	return w, nil
}

// placeSQL returns the condition that a seq is the beginning of the log or of a change in it.
func placeSQL(seq string) string {
	return `EXISTS (SELECT 1 FROM feed WHERE start = ` + seq + ` OR start < ` + seq +
		` AND EXISTS (SELECT 1 FROM changes WHERE seq = ` + seq + `))`
}

func (e *serial) windowSQL(b *query.Builder, w window, limit int) string {
	return `SELECT seq AS tick, seq, version, row_id, type, operation, actor, at, old, change_set FROM changes
WHERE seq > ` + b.Arg(w.begin.Tick) +
		` AND seq <= ` + b.Arg(w.end.Tick) + ` ORDER BY seq LIMIT ` + b.Arg(limit)
}

func (e *serial) before(
	ctx context.Context, s Snapshot, end model.Position, limit int,
) (rows []brief, begin model.Position, more bool, err error) {
	err = s.Select(ctx,
		&rows, `SELECT seq AS tick, seq, row_id, type, operation, coalesce(actor, '') AS actor, at FROM changes
WHERE seq > (SELECT start FROM feed) AND seq <= min(`+lastTimedSQL+`, $1) ORDER BY seq DESC LIMIT $2`, end.Tick-1,
		limit)
	if err != nil || len(rows) == 0 {
		return nil, end, false, err
	}
	return rows, e.PositionOf(rows[len(rows)-1].Tick, 0), len(rows) == limit, nil
}

func (e *serial) PositionOf(tick, _ int64) model.Position { return model.Position{Tick: tick} }

func (e *serial) Seq(p model.Position) int64 { return p.Tick }

func (e *serial) HistorySQL(
	code string, ids []model.ID, end model.Position, limit int,
) (text string, args []any) {
	return historyColumns +
		`CASE WHEN c.untimed = 1 THEN 0 ELSE c.seq END, c.at FROM (SELECT value AS id FROM json_each($1)) k
JOIN changes c ON c.seq IN (SELECT n.seq FROM ` + historyRows(code, firstSeq(code, "m.seq >= $2")) +
		`) ORDER BY k.id, c.seq DESC`, []any{e.Dialect.Array(ids), e.Seq(end), limit}
}

func (e *serial) NextSQL(code string, ids []model.ID, at []model.Position) (text string, args []any) {
	ticks := make([]int64, len(at))
	for i, p := range at {
		ticks[i] = p.Tick
	}
	return `SELECT i.key + 1 AS n, ` + placeSQL("t.value") + ` AS kept,
coalesce(c.operation, '') AS operation, coalesce(c.version, 0) AS version, c.old
FROM json_each($1) i JOIN json_each($2) t ON t.key = i.key
LEFT JOIN changes c ON c.seq = (SELECT min(n.seq) FROM changes n WHERE n.row_id IN (i.value, 0) AND n.type = '` + code +
			`' AND n.seq > t.value)`,
		[]any{e.Dialect.Array(ids), e.Dialect.Array(ticks)}
}

// AtSQL has now as $2, and as $3 the time since which commits may still get a time.
func (e *serial) AtSQL(at, since model.Timestamp) (search, columns string, args []any) {
	return timeline{
		table: "changes", key: "seq", first: "(SELECT start FROM feed)", last: lastTimedSQL,
		begin: "(SELECT at FROM feed)", now: "$2",
		open: "($1 >= $3 OR EXISTS (SELECT 1 FROM changes WHERE untimed = 1 AND at <= $1))",
	}.search(at.String(), TimeNow().String(), since.String())
}

func (e *serial) sinceSQL(b *query.Builder, mark Mark) (known, after, current string) {
	tick := b.Arg(mark.Tick)
	return placeSQL(tick), `c.seq > ` + tick, `firsts f CROSS JOIN books r ON r.id = f.row_id`
}

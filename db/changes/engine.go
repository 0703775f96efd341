package changes

import (
	"context"
	"fmt"

	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

// engine is what PostgreSQL (ticked) and SQLite (serial) do differently to put commits in order.
type engine interface {
	// tick gives each committed change its place and time. If settles is true, it also waits for transactions that have
	// taken an earlier time and are not committed; on PostgreSQL it always does.
	tick(ctx context.Context, settles bool) error
	// look is Tick for a feed, which returns the newest position that it knows. lacks means that there were changes
	// after it, so that the feed must look again soon.
	look(ctx context.Context) (newest model.Position, lacks bool, err error)

	// window returns the part of the log after a position, or from its beginning for nil. It returns ErrGone if the
	// log does not have the position.
	window(ctx context.Context, s Snapshot, after *model.Position) (window, error)
	// windowSQL returns the SELECT of the first changes of a window.
	windowSQL(b *query.Builder, w window, limit int) string
	// before reads at most limit changes before a position, newest first, and the position before them. more is true
	// if the log may have older ones.
	before(ctx context.Context, s Snapshot, end model.Position, limit int) (rows []brief, begin model.Position,
		more bool, err error)
	// sinceSQL returns the condition that the log goes back to a mark, the condition that a change c is after it, and
	// the FROM item of the current books r of the changes firsts.
	sinceSQL(b *query.Builder, mark Mark) (known, after, current string)

	// PositionOf returns the position after a change, and Seq the greatest seq of its tick before a position.
	PositionOf(tick, seq int64) model.Position
	Seq(p model.Position) int64
	// HistorySQL returns a SELECT of the newest changes of each row before the position end, newest first. One later
	// change comes before them, because its old columns are the row after the newest of them. limit counts it too.
	// Changes that are not committed, or have no time yet, have the tick 0.
	HistorySQL(code string, ids []model.ID, end model.Position, limit int) (text string, args []any)
	// OpenSince returns the earliest time that a commit may still get after a read that begins now. PostgreSQL compares
	// revisions instead.
	OpenSince() model.Timestamp
	// AtSQL returns the search for the newest position at or before a time, and the columns to select FROM s: its
	// tick, whether the time is in the future or before the log, and whether further changes may get a time until
	// then. since is OpenSince before the read.
	AtSQL(at, since model.Timestamp) (search, columns string, args []any)
	// NextSQL returns a SELECT of the first change of each row after a position: the number of the row, from 1,
	// whether the log still has the position, and the change's operation, version and old columns. code is the type's
	// code in the log.
	NextSQL(code string, ids []model.ID, at []model.Position) (text string, args []any)
}

// Statements are the texts in which the engines differ.
type Statements struct {
	Newest  string // SELECT of the tick of the newest position
	Kept    string // condition that the log has the changes of the tick $1, so not its beginning
	Commit  string // UPDATE that ends each transaction and gives its changes the time $1; empty where ticks do
	mark    string // SELECT of the columns of the newest mark
	size    string // SELECT of the bytes of the log, and of the table revision
	members string // function that returns the members of a JSON object as rows
	lost    string // condition that a change c is before the beginning of the log
	timed   string // SELECT of the columns of brief of timed changes c in the log, to its WHERE
	purge   string // DELETE of rows that triggers keep; empty for none

	// forget has statements that delete some of the changes before {cut}. Each runs until it changes nothing. The
	// argument is the maximum number. The second parts sets: a change that remains of a set is a set of its own.
	forget []string
}

// timeline is a table in which times and keys have the same order, so that a binary search needs no index on times.
type timeline struct {
	table, key         string
	first, last, begin string // SELECT of the first key, of the last one, and of the first time
	now                string // a time before the snapshot of the statement
	open               string // condition that the time $1 is not final
}

// search returns the statement of engine.AtSQL. The first of args is the time.
func (t timeline) search(args ...any) (search, columns string, _ []any) {
	search = fmt.Sprintf(`WITH RECURSIVE s (low, high) AS (
SELECT %[3]s, %[4]s
UNION ALL
SELECT CASE WHEN c.at <= $1 THEN c.%[2]s ELSE s.low END, CASE WHEN c.at <= $1 THEN s.high
ELSE s.low + (s.high - s.low + 1) / 2 - 1 END
FROM s JOIN %[1]s c ON c.%[2]s = (SELECT min(n.%[2]s) FROM %[1]s n WHERE n.%[2]s >= s.low + (s.high - s.low + 1) / 2)
WHERE s.low < s.high)
`, t.table, t.key, t.first, t.last)
	return search, `max(low), $1 > ` + t.now + `, $1 < ` + t.begin + `, max(low) = ` + t.last + ` AND ` + t.open, args
}

// historyColumns are the columns of a change c of a row k, before its tick and time.
const historyColumns = `SELECT k.id, c.seq, CAST(c.operation AS text), c.version, coalesce(c.actor, ''),
CAST(c.old AS text), c.change_set, `

// historyRows returns the changes n of a row k for HistorySQL. later is the seq of the first change after them.
func historyRows(code, later string) string {
	return `changes n WHERE n.row_id IN (k.id, 0) AND n.type = '` + code + `' AND n.seq <= coalesce(` + later + `, $2)
ORDER BY n.seq DESC LIMIT $3`
}

// firstSeq returns the SELECT of the first change m of a row k that meets a condition. Writers of a row wait for each
// other, so its changes commit in the order of seq.
func firstSeq(code, condition string) string {
	return `(SELECT min(m.seq) FROM changes m WHERE m.row_id IN (k.id, 0) AND m.type = '` + code + `' AND ` +
		condition + `)`
}

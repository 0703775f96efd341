package changes

import (
	"context"
	"fmt"

	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

// engine is what PostgreSQL (ticked) and SQLite (serial) do differently to put commits in order.
type engine interface {
	// tick gives each committed change its place and time.
	tick(ctx context.Context) error
	// settle is tick, and waits for transactions that have taken an earlier time and are not committed.
	settle(ctx context.Context) error
	// openSince returns the earliest time that a commit may still get after a read that begins now.
	openSince() model.Timestamp
	// look is Tick for a feed, which returns the newest position that it knows. lacks means that there were changes
	// after it, so that the feed must look again soon.
	look(ctx context.Context) (newest model.Position, lacks bool, err error)

	// window returns the part of the log after a position, or from its beginning for nil. It returns ErrGone if the
	// position is unknown, or part of the window is deleted.
	window(ctx context.Context, s Snapshot, after *model.Position) (window, error)
	// windowSQL returns the SELECT of the first changes of a window.
	windowSQL(b *query.Builder, w window, limit int) string
	// before reads at most limit changes before a position, newest first, and the position before them. more is true
	// if the log may have older ones.
	before(ctx context.Context, s Snapshot, end model.Position, limit int) (rows []brief, begin model.Position, more bool, err error)

	// position returns the position after a change, and seq the seq of the change before a position.
	position(tick, seq int64) model.Position
	seq(p model.Position) int64

	// nextSQL returns the SELECT of Log.NextSQL.
	nextSQL(code string, ids []model.ID, at []model.Position) (text string, args []any)
	// timeline returns where the times of the log are, to find the position at a time.
	timeline(at, since model.Timestamp) timeline
	// sinceSQL returns the condition that the log goes back to a mark, the condition that a change c is after it, and
	// the FROM item of the current books r of the changes firsts.
	sinceSQL(b *query.Builder, mark Mark) (known, after, current string)
}

// statements are the texts in which the engines differ.
type statements struct {
	newest  string // SELECT of the tick of the newest position
	kept    string // condition that the changes of the tick $1 are in the log
	mark    string // SELECT of the columns of the newest mark
	history string // SELECT of Log.HistorySQL; {code} is that of the type
	commit  string // UPDATE that ends each transaction, with the time as argument; empty where ticks give times
	size    string // SELECT of the bytes of the log, and of the table revision
	members string // function that returns the members of a JSON object as rows
	purge   string // DELETE of rows that triggers keep; empty for none

	// forget has statements that delete some of the changes before {cut}. Each runs until it deletes nothing. The
	// argument is the maximum number.
	forget []string
}

// timeline is a table whose times have the order of its keys, so a binary search needs no index on them.
type timeline struct {
	table, key         string
	first, last, begin string // SELECT of the first key, of the last one, and of the first time
	now                string // a time before the snapshot of the statement
	open               string // condition that further changes may get a time until $1
	args               []any
}

// sql returns the SELECT of Log.AtSQL.
func (t timeline) sql() (search, columns string) {
	search = fmt.Sprintf(`WITH RECURSIVE s (low, high) AS (
SELECT %[3]s, %[4]s
UNION ALL
SELECT CASE WHEN c.at <= $1 THEN c.%[2]s ELSE s.low END, CASE WHEN c.at <= $1 THEN s.high ELSE s.low + (s.high - s.low + 1) / 2 - 1 END
FROM s JOIN %[1]s c ON c.%[2]s = (SELECT min(n.%[2]s) FROM %[1]s n WHERE n.%[2]s >= s.low + (s.high - s.low + 1) / 2) WHERE s.low < s.high)
`, t.table, t.key, t.first, t.last)
	return search, `max(low), $1 > ` + t.now + `, $1 < ` + t.begin + `, max(low) = ` + t.last + ` AND ` + t.open
}

// newestSQL returns the SELECT of the newest changes of each row of $1, those before the seq $2, and the one before them
// in the answer, which has the row after the first of them. Their number is $3.
const newestSQL = `changes n WHERE n.row_id IN (k.id, 0) AND n.type = '{code}' AND n.seq <= coalesce(
  (SELECT min(m.seq) FROM changes m WHERE m.row_id IN (k.id, 0) AND m.type = '{code}' AND m.seq >= $2), $2) ORDER BY n.seq DESC LIMIT $3`

// historyColumns are the columns of a change c of a row k, before its tick and time.
const historyColumns = `SELECT k.id, c.seq, CAST(c.operation AS text), c.version, coalesce(c.actor, ''), CAST(c.old AS text), `

package changes

import (
	"strings"

	"library-catalogue/graph/model"
)

// ErrGone is the error of a position that the log does not have.
var ErrGone = model.Errorf(model.PositionGone, "The position is no longer kept, or belongs to another state of the database. Read everything again and follow from the new position.")

// Parse parses the argument after, or returns nil for nil. The error is BadUserInput.
func Parse(text *string) (*model.Position, error) {
	if text == nil {
		return nil, nil
	}
	p, ok := model.ParsePosition(*text)
	if !ok {
		return nil, BadArgument("after", "The after argument must be a position that the changes gave.")
	}
	return &p, nil
}

// NewestSQL returns the SELECT of the tick of the position after all changes that a snapshot has.
func (l *Log) NewestSQL() string { return l.sql.newest }

// KeptSQL returns the condition that the changes of the tick $1 are in the log.
func (l *Log) KeptSQL() string { return l.sql.kept }

// CommitSQL returns the UPDATE with which each transaction that writes must end, or an empty text where ticks give
// times. Its argument is the time, which all changes without one get. Transactions commit one after the other, so the
// changes are in order.
func (l *Log) CommitSQL() string { return l.sql.commit }

// Position returns the position after a change, and Seq the seq of the change before a position.
func (l *Log) Position(tick, seq int64) model.Position { return l.engine.position(tick, seq) }

// Seq returns the seq of the change with a position.
func (l *Log) Seq(p model.Position) int64 { return l.engine.seq(p) }

// NextSQL returns a SELECT of the first change of each row after a position: the number of the row, from 1, whether the
// log still has the position, and the change's operation, version and old columns. code is that of the type.
func (l *Log) NextSQL(code string, ids []model.ID, at []model.Position) (text string, args []any) {
	return l.engine.nextSQL(code, ids, at)
}

// HistorySQL returns the SELECT of the newest changes of each row of $1, those before the seq $2,
// and the one before them in the answer, which has the row after the first of them. Their number is $3.
func (l *Log) HistorySQL(code string) string {
	return strings.ReplaceAll(l.sql.history, "{code}", code)
}

// AtSQL returns the search for the newest position at or before a time, and the columns to select FROM s: its tick,
// whether the time is in the future or before the log, and whether further changes may get a time until then. since is
// OpenSince before the read.
func (l *Log) AtSQL(at, since model.Timestamp) (search, columns string, args []any) {
	t := l.engine.timeline(at, since)
	search, columns = t.sql()
	return search, columns, t.args
}

package changes

import (
	"strings"

	"library-catalogue/graph/model"
)

// ErrGone is the error of a position that the log does not have.
var ErrGone = model.Errorf(model.PositionGone, "The position is no longer kept, or belongs to another state of the "+
	"database. Read everything again and follow from the new position.")

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

// HistorySQL returns the SELECT of the newest changes of each row of $1, those before the seq $2,
// and the one before them in the answer, which has the row after the first of them. Their number is $3.
func (l *Log) HistorySQL(code string) string {
	return strings.ReplaceAll(l.SQL.history, "{code}", code)
}

package changes

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"

	"library-catalogue/db/dialect"
	"library-catalogue/graph/model"
)

// Position is a place in the log: after the change seq in the batch of a tick, or after the whole
// batch if seq is 0. SQLite has one change in each batch, whose tick is its seq.
type Position struct{ Tick, Seq int64 }

func (p Position) String() string { return fmt.Sprintf("%d.%d", p.Tick, p.Seq) }

// Before reports whether p is before q in the log.
func (p Position) Before(q Position) bool {
	return cmp.Or(cmp.Compare(p.Tick, q.Tick), cmp.Compare(p.last(), q.last())) < 0
}

// last returns the seq of the last change before the position in its batch.
func (p Position) last() int64 {
	if p.Seq == 0 {
		return math.MaxInt64
	}
	return p.Seq
}

// ErrGone is the error of a position that the log does not have.
var ErrGone = model.Errorf(model.PositionGone, "The position is no longer kept, or belongs to another state of the database. Read everything again and follow from the new position.")

// Parse parses the argument after, or returns nil for nil. The error is BadUserInput.
func Parse(text *string) (*Position, error) {
	if text == nil {
		return nil, nil
	}
	var p Position
	tick, seq, _ := strings.Cut(*text, ".")
	p.Tick, _ = strconv.ParseInt(tick, 10, 64)
	p.Seq, _ = strconv.ParseInt(seq, 10, 64)
	if p.Tick < 0 || p.Seq < 0 || p.String() != *text {
		return nil, BadArgument("after", "The after argument must be a position that the changes gave.")
	}
	return &p, nil
}

// CheckPosition returns BadUserInput unless text is nil or has the form of a position.
func CheckPosition(text *string) error {
	_, err := Parse(text)
	return err
}

// ChangeSeq returns the seq of the change with a position.
func (p Position) ChangeSeq(d *dialect.Dialect) int64 {
	if d.HasTicks {
		return p.Seq
	}
	return p.Tick
}

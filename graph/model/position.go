package model

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Position is a place in the log of changes: after the change Seq in the batch of a tick, or after the whole batch if
// Seq is 0. Package db/changes explains ticks.
type Position struct{ Tick, Seq int64 }

func (p Position) String() string { return fmt.Sprintf("%d.%d", p.Tick, p.Seq) }

// Before reports whether p is before q in the log.
func (p Position) Before(q Position) bool {
	return cmp.Or(cmp.Compare(p.Tick, q.Tick), cmp.Compare(p.Last(), q.Last())) < 0
}

// Last returns the greatest seq that a change before the position can have in its batch.
func (p Position) Last() int64 {
	if p.Seq == 0 {
		return math.MaxInt64
	}
	return p.Seq
}

// ParsePosition parses a position. It returns false for another text.
func ParsePosition(text string) (p Position, ok bool) {
	tick, seq, _ := strings.Cut(text, ".")
	p.Tick, _ = strconv.ParseInt(tick, 10, 64)
	p.Seq, _ = strconv.ParseInt(seq, 10, 64)
	return p, p.Tick >= 0 && p.Seq >= 0 && p.String() == text
}

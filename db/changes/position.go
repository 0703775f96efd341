package db

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"

	"library-catalogue/graph/model"
)

// position is a place in the log: after the change seq in the batch of a tick, or after the whole
// batch if seq is 0. SQLite has one change in each batch, whose tick is its seq.
type position struct{ tick, seq int64 }

func (p position) String() string { return fmt.Sprintf("%d.%d", p.tick, p.seq) }

// before reports whether p is before q in the log.
func (p position) before(q position) bool {
	return cmp.Or(cmp.Compare(p.tick, q.tick), cmp.Compare(p.last(), q.last())) < 0
}

// last returns the seq of the last change before the position in its batch.
func (p position) last() int64 {
	if p.seq == 0 {
		return math.MaxInt64
	}
	return p.seq
}

var errPositionGone = model.Errorf(model.PositionGone, "The position is no longer kept, or belongs to another state of the database. Read everything again and follow from the new position.")

// parseAfter parses the argument after, or returns nil for nil. The error is BadUserInput.
func parseAfter(text *string) (*position, error) {
	if text == nil {
		return nil, nil
	}
	var p position
	tick, seq, _ := strings.Cut(*text, ".")
	p.tick, _ = strconv.ParseInt(tick, 10, 64)
	p.seq, _ = strconv.ParseInt(seq, 10, 64)
	if p.tick < 0 || p.seq < 0 || p.String() != *text {
		return nil, badArgument("after", "The after argument must be a position that the changes gave.")
	}
	return &p, nil
}

// CheckPosition returns BadUserInput unless text is nil or has the form of a position.
func CheckPosition(text *string) error {
	_, err := parseAfter(text)
	return err
}

// newestSQL returns the SELECT of the position after all changes that a snapshot has.
func (s *Store) newestSQL() string {
	if s.dialect.HasTicks {
		return `SELECT max(id) AS tick FROM ticks`
	}
	return `SELECT max(start, ticked) AS tick FROM feed`
}

// newest returns the position after all changes that are logged now.
func (s *Store) newest(ctx context.Context) (p position, err error) {
	err = s.run(ctx, nil, false, func(h handle) error { return sqlx.GetContext(ctx, h, &p.tick, s.newestSQL()) })
	return p, err
}

// Position returns the newest position that the Snapshot sees.
func (s *Snapshot) Position(ctx context.Context) (string, error) {
	var p position
	err := s.read(ctx, readStmt{text: versioned(s.store.newestSQL())}, func() scanRow {
		return func(rows *sql.Rows, at *model.Revision) error {
			return rows.Scan(append(revisionTargets(at), &p.tick)...)
		}
	})
	return p.String(), err
}

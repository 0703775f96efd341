package replica

import (
	"context"
	"database/sql"

	"library-catalogue/graph/model"
)

// Vector has the numbers of the table revision by slot.
type Vector map[int64]int64

// covers reports whether a snapshot with the vector v sees all commits of one with the vector w.
func (v Vector) covers(w Vector) bool {
	for slot, n := range w {
		if v[slot] < n {
			return false
		}
	}
	return true
}

// sum is the number of the revision. Of two states of one history the later has the larger sum.
func (v Vector) sum() (sum int64) {
	for _, n := range v {
		sum += n
	}
	return sum
}

// ReadVector reads the vector and the revision of a snapshot.
func ReadVector(ctx context.Context, query func(ctx context.Context, text string, args ...any) (*sql.Rows, error)) (v Vector, at model.Revision, err error) {
	rows, err := query(ctx, `SELECT slot, n, reference FROM revision WHERE n > 0`)
	if err != nil {
		return nil, at, err
	}
	defer rows.Close()
	v = Vector{}
	for rows.Next() {
		var slot, n, reference int64
		if err := rows.Scan(&slot, &n, &reference); err != nil {
			return nil, at, err
		}
		v[slot] = n
		at.Catalogue += n
		at.Reference += reference
	}
	return v, at, rows.Err()
}

package replica

import (
	"context"
	"database/sql"
	"slices"
	"sync"
	"time"

	"library-catalogue/graph/model"
)

// Vector has the numbers of the table revision by slot. Package changes explains it.
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

// sum is the revision. The later one of two states of one history has the larger sum.
func (v Vector) sum() (sum int64) {
	for _, n := range v {
		sum += n
	}
	return sum
}

// VectorSQL is the statement of ReadVector.
const VectorSQL = `SELECT slot, n, reference FROM revision WHERE n > 0`

// ReadVector reads the vector and the revision of a snapshot.
func ReadVector(
	ctx context.Context, query func(ctx context.Context, text string, args ...any) (*sql.Rows, error),
) (v Vector, at model.Revision, err error) {
	rows, err := query(ctx, VectorSQL)
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

// history is the primary's vectors of the last probes, the oldest first. It is safe for concurrent use.
type history struct {
	mu     sync.Mutex
	probes []*probed
}

// add adds a probe of the primary and removes those that are older than age.
func (h *history) add(p *probed, age time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.probes = append(h.probes, p)
	for p.at.Sub(h.probes[0].at) > age {
		h.probes = h.probes[1:]
	}
}

// newest returns the time of the newest probe that a snapshot with the vector v covers: it lacks no commit from before.
func (h *history) newest(v Vector) (at time.Time, found bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range slices.Backward(h.probes) {
		if v.covers(p.vector) {
			return p.at, true
		}
	}
	return at, false
}

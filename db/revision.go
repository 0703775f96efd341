package db

import (
	"context"

	"github.com/jmoiron/sqlx"

	"library-catalogue/graph/model"
)

// revisionSQL reads where the catalogue stands. Each writer's transaction counts
// one of the rows up, so the sum is the number of changes that are committed;
// the highest number of a sequence would not be, since transactions do not
// commit in the order in which they draw numbers.
const revisionSQL = `SELECT CAST(sum(n) AS bigint) AS catalogue, CAST(sum(reference) AS bigint) AS reference FROM revision`

func (s *Store) readRevision(ctx context.Context) (r model.Revision, err error) {
	err = s.run(ctx, false, func(h handle) error {
		return sqlx.GetContext(ctx, h, &r, revisionSQL)
	})
	return r, err
}

// Revision tells where the catalogue stands now: it sees every change that was
// committed before the call. Calls that wait at the same time share one read,
// which begins after the last of them; it counts as a statement of none of them.
func (s *Store) Revision(ctx context.Context) (model.Revision, error) {
	if t := txOf(ctx); t != nil {
		if known := t.revision.Load(); known != nil {
			return *known, nil
		}
		r, err := s.readRevision(ctx)
		if err == nil && t.snapshot {
			t.revision.Store(&r)
		}
		return r, err
	}
	return s.revisions.do(ctx, struct{}{})
}

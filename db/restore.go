package db

import (
	"context"
	"database/sql"
	"errors"

	"library-catalogue/db/query"
)

// ErrNotEmpty is the error of Restore for a catalogue that has rows.
var ErrNotEmpty = errors.New("the catalogue is not empty: give the URL of an empty database")

// usedSQL reports whether the catalogue has rows.
const usedSQL = `SELECT EXISTS (SELECT 1 FROM categories) OR EXISTS (SELECT 1 FROM genres)
OR EXISTS (SELECT 1 FROM books)`

// Restore runs fn in one transaction of an empty catalogue and blocks other writers until it ends.
// All writes of fn are stored, or none, and logged after a reset of each type. It then moves the
// sequences past the ids that fn stored. Unlike Write, it never runs fn again.
func (s *Store) Restore(ctx context.Context, fn func(ctx context.Context) error) error {
	defer s.feed.Changed()
	return giveUp(s.transact(ctx, s.writePool, &sql.TxOptions{}, withTx(s.asActor(func(ctx context.Context) error {
		if _, err := s.exec(ctx, s.dialect.BeginRestore); err != nil {
			return err
		}
		var used bool
		err := s.getRow(ctx, &used, usedSQL)
		if err != nil {
			return err
		}
		if used {
			return ErrNotEmpty
		}
		if _, err := s.exec(ctx, s.dialect.LogReset); err != nil {
			return err
		}
		if err := fn(ctx); err != nil {
			return err
		}
		return s.passIDs(ctx)
	}))))
}

// Errors of a copy that cannot go on.
var (
	ErrTargetChanged = errors.New(
		"another program has changed the catalogue since the copy began: give the URL of an empty database")
	ErrSourceChanged = errors.New("the catalogue holds the copy of another one, or the source has changed since the " +
		"copy began: give the URL of an empty database")
)

// Copying is a copy of another catalogue, stored in steps of one transaction each. The database
// records it, so that another process can go on with it.
type Copying struct {
	store            *Store
	source, revision int64
}

// BeginCopy begins the copy of a catalogue that has the revision source, or goes on with it. It
// returns ErrNotEmpty, ErrTargetChanged or ErrSourceChanged if the database holds anything else. The
// rows are logged after a reset of each type.
func (s *Store) BeginCopy(ctx context.Context, source int64) (*Copying, error) {
	c := &Copying{store: s, source: source}
	return c, s.Write(ctx, func(ctx context.Context) (err error) {
		if c.revision, err = s.lockForCopy(ctx); err != nil {
			return err
		}
		var used bool
		if err := s.getRow(ctx, &used, usedSQL); err != nil {
			return err
		}
		if !used {
			if _, err := s.exec(ctx, s.dialect.LogReset); err != nil {
				return err
			}
			return c.record(ctx, c.revision)
		}
		var begun []struct{ Source, Revision int64 }
		err = s.getRows(ctx, &begun, `SELECT source, revision FROM copies`)
		switch {
		case err != nil:
			return err
		case len(begun) == 0:
			return ErrNotEmpty
		case begun[0].Revision != c.revision:
			return ErrTargetChanged
		case begun[0].Source != source:
			return ErrSourceChanged
		}
		return nil
	})
}

// Step runs fn in one transaction, and blocks other writers until it ends. fn may run more than
// once. Step returns ErrTargetChanged if another program has written since the last step.
func (c *Copying) Step(ctx context.Context, fn func(ctx context.Context) error) error {
	var after int64
	err := c.store.Write(ctx, func(ctx context.Context) error {
		before, err := c.store.lockForCopy(ctx)
		if err != nil {
			return err
		}
		if before != c.revision {
			return ErrTargetChanged
		}
		if err := fn(ctx); err != nil {
			return err
		}
		if err := c.store.passIDs(ctx); err != nil {
			return err
		}
		r, err := c.store.readRevision(ctx, txOf(ctx))
		if err != nil {
			return err
		}
		after = r.Catalogue
		return c.record(ctx, after)
	})
	if err == nil {
		c.revision = after
	}
	return err
}

// lockForCopy blocks other writers until the transaction ends, and returns the revision.
func (s *Store) lockForCopy(ctx context.Context) (revision int64, err error) {
	if _, err := s.exec(ctx, s.dialect.BeginRestore); err != nil {
		return 0, err
	}
	r, err := s.readRevision(ctx, txOf(ctx))
	return r.Catalogue, err
}

func (c *Copying) record(ctx context.Context, revision int64) error {
	_, err := c.store.exec(ctx, c.store.numbered(`INSERT INTO copies (id, source, revision) VALUES (1, ?, ?)
ON CONFLICT (id) DO UPDATE SET source = excluded.source, revision = excluded.revision`), c.source, revision)
	return err
}

// passIDs moves the sequences past the ids of all rows.
func (s *Store) passIDs(ctx context.Context) error {
	if !s.dialect.HasSequences {
		return nil
	}
	for _, t := range []*query.Table{query.Categories, query.Genres, query.Books} {
		if _, err := s.exec(ctx, passIDsSQL(t.Name)); err != nil {
			return err
		}
	}
	return nil
}

package db

import (
	"context"

	"library-catalogue/graph/model"
)

// Sizes returns how many rows there were at the last CountSizes; none before the first.
func (s *Store) Sizes() model.Sizes {
	if sizes := s.sizes.Load(); sizes != nil {
		return *sizes
	}
	return model.Sizes{}
}

// CountSizes counts the rows of each type, unless nothing has changed since it did: for
// what requests cost, which need not be exact. 1,000,000 books take PostgreSQL 0.1 s.
func (s *Store) CountSizes(ctx context.Context) error {
	revision, err := s.readRevision(ctx)
	if err != nil || revision == s.sizesAt {
		return err
	}
	var sizes model.Sizes
	if err := s.get(ctx, false, &sizes, `SELECT (SELECT count(*) FROM books) AS books,
		(SELECT count(*) FROM genres) AS genres, (SELECT count(*) FROM categories) AS categories`); err != nil {
		return err
	}
	s.sizes.Store(&sizes)
	s.sizesAt = revision
	return nil
}

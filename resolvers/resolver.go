// Package resolvers is the application: every use case of the catalogue is one
// method here, and GraphQL and REST call it. It authorises and validates; it holds no
// SQL and knows nothing of HTTP.
package resolvers

import (
	"context"
	"time"

	"library-catalogue/db"
	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers/loader"
)

//go:generate go tool gqlgen generate

// Resolver answers for a catalogue.
type Resolver struct {
	store *db.Store
	cache *loader.Cache
	wait  time.Duration
}

var _ graph.ResolverRoot = (*Resolver)(nil)

// New makes a Resolver over a migrated store.
func New(store *db.Store) *Resolver {
	return &Resolver{store: store, cache: loader.NewCache(store), wait: loader.Wait}
}

// Read runs fn, all of whose reads with the context that it gets are of one revision. Where
// somebody writes meanwhile, fn runs again. since is a revision that was read for the same
// request, nil for none. Where one is given, and fn reports that its answer follows from the
// revision alone, Read returns that revision's number, and else -1.
func (r *Resolver) Read(ctx context.Context, since *model.Revision, fn func(ctx context.Context) (cacheable bool, err error)) (revision int64, err error) {
	err = r.store.Read(ctx, since, func(ctx context.Context, s *db.Snapshot) error {
		cacheable, err := fn(r.with(ctx, s))
		revision = -1
		if err == nil && cacheable && since != nil {
			revision, err = s.Revision(ctx)
		}
		return err
	})
	return revision, err
}

// ReadTransaction runs fn, which reads from one transaction and gets the number of its
// revision: for what takes long. fn runs once.
func (r *Resolver) ReadTransaction(ctx context.Context, fn func(ctx context.Context, revision int64) error) error {
	return r.store.ReadTransaction(ctx, func(ctx context.Context, s *db.Snapshot) error {
		revision, err := s.Revision(ctx)
		if err != nil {
			return err
		}
		return fn(r.with(ctx, s), revision)
	})
}

// WithSnapshot returns the context of one mutation, which reads what it has written.
func (r *Resolver) WithSnapshot(ctx context.Context) context.Context {
	return r.with(ctx, r.store.Now(ctx))
}

func (r *Resolver) with(ctx context.Context, s *db.Snapshot) context.Context {
	return loader.With(ctx, s, r.cache, r.wait)
}

// Revision returns where the catalogue stands: it sees every change that was committed
// before the call.
func (r *Resolver) Revision(ctx context.Context) (model.Revision, error) {
	return r.store.Revision(ctx)
}

// Sizes returns how many rows there are, about.
func (r *Resolver) Sizes() model.Sizes { return r.store.Sizes() }

// checkReference adds to problems where id, given for field, is not the id of a row. A
// standby may not have the row yet, so only Hold, which a standby refuses, finds none.
func checkReference[T any](ctx context.Context, problems *model.FieldErrors, field string, id model.ID, rows db.Writer[T]) error {
	if problems.Has(field) {
		return nil
	}
	found, err := rows.Now(ctx).ByID(ctx, []model.ID{id})
	if err != nil || len(found) > 0 {
		return err
	}
	held, err := rows.Hold(ctx, []model.ID{id})
	if err == nil && len(held) == 0 {
		problems.Add(field, model.MustExist)
	}
	return err
}

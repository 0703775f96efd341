// Package resolvers is the application: every use case of the catalogue is one
// method here, and GraphQL and REST call it. It authorises and validates; it holds no
// SQL and knows nothing of HTTP.
package resolvers

import (
	"context"
	"errors"
	"time"

	"library-catalogue/db"
	"library-catalogue/db/search"
	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers/loader"
)

//go:generate go tool gqlgen generate

// Resolver answers for a catalogue.
type Resolver struct {
	store     *db.Store
	reference *loader.ReferenceCache
	wait      time.Duration
}

var _ graph.ResolverRoot = (*Resolver)(nil)

// New makes a Resolver over a migrated store.
func New(store *db.Store) *Resolver {
	return &Resolver{store: store, reference: loader.NewReferenceCache(store), wait: loader.Wait}
}

// WithLoaders returns the context of a request with batches of its own. Every call of
// a resolver needs such a context.
func (r *Resolver) WithLoaders(ctx context.Context) context.Context {
	return loader.With(ctx, r.store, r.reference, r.wait)
}

// Revision returns where the catalogue stands: as of a moment after WithLoaders, and the
// same at every call until the request writes.
func (r *Resolver) Revision(ctx context.Context) (model.Revision, error) {
	return loader.From(ctx).Revision(ctx)
}

// Sizes returns how many rows there are, about.
func (r *Resolver) Sizes() model.Sizes { return r.store.Sizes() }

// InSnapshot runs fn on one snapshot of the catalogue with the snapshot's
// revision, a number that is different after every change.
func (r *Resolver) InSnapshot(ctx context.Context, fn func(ctx context.Context, revision int64) error) error {
	return r.store.InSnapshot(ctx, func(ctx context.Context, revision int64) error {
		return fn(r.WithLoaders(ctx), revision)
	})
}

// ReadConsistent runs fn, all of whose reads are of one revision. It needs no
// transaction as long as nobody writes meanwhile; else fn is run again, on a snapshot.
func (r *Resolver) ReadConsistent(ctx context.Context, fn func(ctx context.Context) error) error {
	err := fn(ctx)
	switch {
	case errors.Is(err, model.ErrSnapshotChanged):
	case err != nil || loader.From(ctx).Consistent(ctx):
		return err
	}
	return r.InSnapshot(ctx, func(ctx context.Context, _ int64) error { return fn(ctx) })
}

// Pin returns the revision that all reads of a function that ReadConsistent runs will
// be of.
func (r *Resolver) Pin(ctx context.Context) (model.Revision, error) {
	return loader.From(ctx).Pin(ctx)
}

// resetLoaders is called after every write: what was read before it may be out of
// date.
func resetLoaders(ctx context.Context) *loader.Loaders {
	search.CacheOf(ctx).Reset()
	loaders := loader.From(ctx)
	loaders.Clear()
	return loaders
}

// checkReference adds to problems where id, given for field, is not the id of a row. A
// standby may not have the row yet, so only lock, which a standby refuses, finds none.
func checkReference[T any](ctx context.Context, problems *model.FieldErrors, field string, id model.ID,
	byID func(context.Context, []model.ID) ([]*T, error), lock func(context.Context, []model.ID) ([]model.ID, error),
) error {
	if problems.Has(field) {
		return nil
	}
	rows, err := byID(ctx, []model.ID{id})
	if err != nil || len(rows) > 0 {
		return err
	}
	locked, err := lock(ctx, []model.ID{id})
	if err == nil && len(locked) == 0 {
		problems.Add(field, model.MustExist)
	}
	return err
}

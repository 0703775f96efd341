// Package resolvers is the application: each use case of the catalogue is a method of Resolver, for
// GraphQL and REST. It authorises and validates. It contains no SQL and no HTTP.
package resolvers

import (
	"context"
	"errors"
	"time"

	"library-catalogue/accounts"
	"library-catalogue/db"
	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers/loader"
)

//go:generate go tool gqlgen generate

// Resolver implements the use cases on a catalogue.
type Resolver struct {
	store *db.Store
	cache *loader.Cache
	wait  time.Duration

	// Accounts are the people who log in; nil: none. Set it before the first request.
	Accounts *accounts.Service

	// Sources answer look-ups of ISBNs; nil: none. Set it before the first request.
	Sources Sources
}

var _ graph.ResolverRoot = (*Resolver)(nil)

// New returns a Resolver for a migrated store.
func New(store *db.Store) *Resolver {
	return &Resolver{store: store, cache: loader.NewCache(store), wait: loader.Wait}
}

// Read calls fn with a context in which all reads see one revision. If the revision changes, fn runs a
// second time. known is a revision already read for the same request, or NoRevision. replicas says which ones may
// serve the reads. Read returns the revision's number if one is known and fn reports that its response depends on the
// revision alone. Otherwise it returns -1.
func (r *Resolver) Read(
	ctx context.Context, known model.Revision, replicas model.Replicas,
	fn func(ctx context.Context) (cacheable bool, err error),
) (revision int64, err error) {
	err = r.store.Read(ctx, known, replicas, func(ctx context.Context, s *db.Snapshot) error {
		cacheable, err := fn(r.with(ctx, s))
		revision = -1
		if err == nil && cacheable && known.IsKnown() {
			revision, err = s.Revision(ctx)
		}
		return err
	})
	return revision, err
}

// ReadTransaction calls fn with a transaction and its revision, for long reads. If replicas may serve it, fn may run
// twice, else it runs once.
func (r *Resolver) ReadTransaction(
	ctx context.Context, replicas model.Replicas, fn func(ctx context.Context, revision int64) error,
) error {
	return r.store.ReadTransaction(ctx, replicas, func(ctx context.Context, s *db.Snapshot) error {
		revision, err := s.Revision(ctx)
		if err != nil {
			return err
		}
		return fn(r.with(ctx, s), revision)
	})
}

// WithSnapshot returns the context of a mutation, which sees its own writes.
func (r *Resolver) WithSnapshot(ctx context.Context) context.Context {
	return r.with(ctx, r.store.Unchecked(ctx))
}

// ReadBack reads the response of a write: it calls fn with a context in which all reads see one revision, not older
// than the commit. fn may run again. ctx is of WithSnapshot. Errors: NotFound if the row was deleted since, with its
// parent; else the write is stored, but its response is unknown.
func (r *Resolver) ReadBack(ctx context.Context, fn func(ctx context.Context) error) error {
	err := r.store.Read(ctx, model.NoRevision, model.NoReplica, func(reading context.Context, s *db.Snapshot) error {
		if !s.InTransaction() {
			s.ReadsBack(loader.From(ctx).Snapshot)
		}
		return fn(r.with(reading, s))
	})
	switch {
	case err == nil:
		return nil
	case errors.Is(err, model.ErrSnapshotChanged):
		return &model.Error{Code: model.NotFound, Message: "The row was stored, then deleted together with its parent.",
			Err: err}
	}
	return &model.Error{Code: model.Unavailable, InDoubt: true,
		Message: "The change was stored, but reading it back failed. Read the object before you retry.", Err: err}
}

func (r *Resolver) with(ctx context.Context, s *db.Snapshot) context.Context {
	return loader.With(ctx, s, r.cache, r.wait)
}

// Revision is like db.Store.Revision.
func (r *Resolver) Revision(ctx context.Context) (model.Revision, error) {
	return r.store.Revision(ctx)
}

// Sizes returns approximate row counts.
func (r *Resolver) Sizes() model.Sizes { return r.store.Sizes() }

// checkReference adds a problem for field if no row has the id. A standby may not have the row yet,
// so only Hold, which fails on a standby, decides that it is missing.
func checkReference[T any](
	ctx context.Context, problems *model.FieldErrors, field string, id model.ID, writer db.Writer[T],
) error {
	if problems.Has(field) {
		return nil
	}
	found, err := writer.Unchecked(ctx).ByID(ctx, []model.ID{id})
	if err != nil || len(found) > 0 {
		return err
	}
	held, err := writer.Hold(ctx, []model.ID{id})
	if err == nil && len(held) == 0 {
		problems.Add(field, model.MustExist)
	}
	return err
}

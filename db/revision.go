package db

import (
	"context"
	"errors"
	"slices"
	"strings"

	"library-catalogue/db/fault"
	"library-catalogue/db/stats"
	"library-catalogue/db/stmt"
	"library-catalogue/graph/model"
	"library-catalogue/task"
)

// revisionSQL reads the catalogue's revision. Each transaction that writes increments one of
// several rows, so the sum counts committed changes. The last number of a sequence would not,
// because transactions do not commit in the order of their numbers.
const revisionSQL = `SELECT CAST(sum(n) AS bigint) AS catalogue, CAST(sum(reference) AS bigint) AS reference
FROM revision`

func (s *Store) readRevision(ctx context.Context, t *tx) (r model.Revision, err error) {
	err = s.run(ctx, t, false, revisionSQL, func(h stmt.Handle) error { return stmt.Get(ctx, h, &r, revisionSQL) })
	return r, err
}

// revisionColumns are the revision as the first columns of a SELECT.
const revisionColumns = `(SELECT CAST(sum(n) AS bigint) FROM revision), (SELECT CAST(sum(reference) AS bigint)
FROM revision), `

// versioned returns a SELECT with the revision that it sees as the first columns, which costs less than a second
// statement.
func versioned(text string) string {
	return "SELECT " + revisionColumns + strings.TrimPrefix(text, "SELECT ")
}

// revisionTargets returns the destinations of Scan for revisionColumns.
func revisionTargets(at *model.Revision) []any { return []any{&at.Catalogue, &at.Reference} }

// Revision reads the catalogue's current revision, which includes every change committed before the
// call. Concurrent calls share one read, which starts after the last of them. Requests' statistics
// omit it.
func (s *Store) Revision(ctx context.Context) (model.Revision, error) {
	ctx, _ = stats.With(ctx)
	if s.replicas.ServesAll() {
		return model.NoRevision, model.ErrNoPrimary
	}
	r, err := s.sharedRevision(ctx)
	return r, fault.Translate(err)
}

// sharedRead returns a function that shares one call of read between concurrent calls. It starts after the last of
// them.
func sharedRead[A any](s *Store, read func(context.Context) (A, error)) func(context.Context) (A, error) {
	do := shared(s, func(ctx context.Context, _ struct{}) (A, error) { return read(ctx) },
		func(ctx context.Context, requests []struct{}) ([]A, error) {
			answer, err := read(ctx)
			return slices.Repeat([]A{answer}, len(requests)), err
		})
	return func(ctx context.Context) (A, error) { return do(ctx, struct{}{}) }
}

// load runs fn in the background, once for concurrent calls with a key (single-flight), and waits for it. If ctx ends
// before, fn goes on, so that later calls find what it keeps. own means that it was the fn of this call.
func (s *Store) load(ctx context.Context, key string, fn func(context.Context) error) (own bool, err error) {
	isOwn := false
	loaded := task.Go(ctx, func() error {
		_, err, _ := s.loads.Do(key, func() (any, error) {
			isOwn = true
			done, _ := s.start(s.life, func() error { return fn(s.life) })
			return nil, <-done
		})
		return err
	})
	select {
	case err := <-loaded:
		return isOwn, err
	case <-ctx.Done():
		return false, fault.Translate(ctx.Err())
	}
}

// runInBackground is like Background, but runs fn in place with a canceled context if the Store is
// closed.
func (s *Store) runInBackground(fn func(context.Context)) {
	if !s.Background(fn) {
		fn(s.life)
	}
}

// Sizes returns the row counts at Start or at the last CountSizes.
func (s *Store) Sizes() model.Sizes {
	if sizes := s.sizes.Load(); sizes != nil {
		return *sizes
	}
	return model.Sizes{}
}

const sizesSQL = `SELECT (SELECT count(*) FROM books) AS books,
	(SELECT count(*) FROM genres) AS genres, (SELECT count(*) FROM categories) AS categories`

// CountSizes counts the rows of each type if the revision has changed. Prices of requests use these
// counts, which need not be exact.
func (s *Store) CountSizes(ctx context.Context) error {
	revision, err := s.readRevision(ctx, nil)
	if err != nil || revision == s.sizesAt {
		return err
	}
	sizes := s.Sizes()
	snapshot := s.Unchecked(ctx)
	for _, count := range []struct {
		of   *int64
		rows func(context.Context, model.Selection) (int, error)
	}{{&sizes.Books, snapshot.Books.Count}, {&sizes.Genres, snapshot.Genres.Count},
		{&sizes.Categories, snapshot.Categories.Count}} {
		n, err := count.rows(ctx, model.Selection{})
		if err != nil {
			return err
		}
		*count.of = int64(n)
	}
	s.sizes.Store(&sizes)
	s.sizesAt = revision
	return nil
}

// readReplica calls fn with a Snapshot of a replica, in a transaction. It returns false if the primary
// must serve the read, because no replica has every commit from before the call in time, or because
// one failed. fn may have run then.
func (s *Store) readReplica(
	ctx context.Context, mayLag bool, fn func(context.Context, *Snapshot) error,
) (served bool, err error) {
	if s.replicas == nil {
		return false, nil
	}
	opened := s.replicas.Begin(ctx, mayLag)
	if opened == nil {
		return false, nil
	}
	t := &tx{handle: stmt.Direct(opened.Tx), readOnly: true, replica: true}
	defer func() {
		t.mu.Lock() // no statement of fn may run when the transaction ends
		defer t.mu.Unlock()
		t.ended = true
		if ctx.Err() != nil {
			t.failure = nil
		}
		opened.End(served, t.failure)
	}()
	snapshot := s.newSnapshot(t)
	snapshot.RecordRead(opened.Revision)
	record := stats.Of(ctx)
	record.SetReplica(true, opened.MayLack)
	record.SetLag(opened.Lag)
	if err = fn(opened.Context, snapshot); snapshot.hasChanged() || errors.Is(err, model.ErrSnapshotChanged) {
		record.SetReplica(false, false)
		record.SetLag(0)
		return false, nil
	}
	return true, err
}

package db_test

import (
	"context"
	"errors"
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

// TestRead has Read run functions whose reads saw some revisions: those of one revision run
// once, and others again, in a transaction.
func TestRead(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		home := newShelf(t, s)
		mine := errors.New("mine")
		type reads = func(ctx context.Context, s *db.Snapshot, now int64) error
		at := func(revision int64) model.Revision { return model.Revision{Catalogue: revision} }
		closed := func(by int64) reads { // saw a revision that is so much older
			return func(_ context.Context, s *db.Snapshot, now int64) error { s.RecordRead(at(now - by)); return nil }
		}
		open := func(by int64) reads { // saw one of that or a later revision
			return func(_ context.Context, s *db.Snapshot, now int64) error { s.RecordOpenRead(now - by); return nil }
		}
		write := func(ctx context.Context, _ *db.Snapshot, _ int64) error {
			return second(s.Books.Update(context.WithoutCancel(ctx), home.book.ID, rename("Written"), nil))
		}
		fails := func(err error) reads { return func(context.Context, *db.Snapshot, int64) error { return err } }
		for name, tt := range map[string]struct {
			reads []reads
			runs  int
			err   error
		}{
			"none":                         {nil, 1, nil},
			"none, and a write":            {[]reads{write}, 1, nil},
			"one":                          {[]reads{closed(0)}, 1, nil},
			"one, and a write":             {[]reads{closed(0), write}, 1, nil},
			"one open":                     {[]reads{open(0)}, 1, nil},
			"one open, and a write":        {[]reads{open(0), write}, 1, nil},
			"two":                          {[]reads{closed(0), closed(0)}, 1, nil},
			"two, and a write":             {[]reads{closed(0), closed(0), write}, 1, nil},
			"two of two revisions":         {[]reads{closed(0), closed(1)}, 2, nil},
			"two, the later is older":      {[]reads{closed(1), closed(0)}, 2, nil},
			"one and an open one":          {[]reads{closed(0), open(0)}, 1, nil},
			"one, a write and an open one": {[]reads{closed(0), write, open(0)}, 2, nil},
			"an open one, a write and one": {[]reads{open(0), write, closed(0)}, 2, nil},
			"an open one of long ago":      {[]reads{closed(0), open(1)}, 2, nil},
			"two open":                     {[]reads{open(0), open(0)}, 1, nil},
			"two open, and a write":        {[]reads{open(0), open(0), write}, 2, nil},
			"a row that is gone":           {[]reads{closed(0), fails(model.ErrSnapshotChanged)}, 2, model.ErrSnapshotChanged},
			"another error":                {[]reads{closed(0), closed(1), fails(mine)}, 1, mine},
		} {
			runs := 0
			err := s.Read(t.Context(), model.NoRevision, model.NoReplica, func(ctx context.Context, snapshot *db.Snapshot) error {
				now := must[model.Revision](t)(s.Revision(t.Context())).Catalogue
				if runs++; snapshot.InTransaction() != (runs > 1) {
					t.Errorf("%s: run %d in a transaction: %t", name, runs, snapshot.InTransaction())
				}
				for _, read := range tt.reads {
					if err := read(ctx, snapshot, now); err != nil {
						return err
					}
					if runs > 1 && tt.err == nil {
						return nil // the transaction checks nothing
					}
				}
				return nil
			})
			if runs != tt.runs || !errors.Is(err, tt.err) {
				t.Errorf("%s: %d runs, %v; want %d, %v", name, runs, err, tt.runs, tt.err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		err := s.Read(ctx, model.NoRevision, model.NoReplica, func(_ context.Context, snapshot *db.Snapshot) error {
			snapshot.RecordOpenRead(0)
			snapshot.RecordOpenRead(0)
			cancel()
			return nil
		})
		wantCode(t, err, model.Unavailable, "")
	})
}

// TestSnapshotRevision asks Snapshots for their revision: before the first read it is what
// the caller knows, or that of a look, and then what was read.
func TestSnapshotRevision(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		home := newShelf(t, s)
		now := must[model.Revision](t)(s.Revision(t.Context()))
		old := model.Revision{Catalogue: now.Catalogue - 1}
		page := func(ctx context.Context, snapshot *db.Snapshot) error {
			return second(snapshot.Books.Page(ctx, &model.Page{Limit: 1}))
		}
		for name, tt := range map[string]struct {
			known model.Revision
			reads []func(context.Context, *db.Snapshot) error
			want  int64
			err   error
		}{
			"nothing known":            {model.NoRevision, nil, now.Catalogue, nil},
			"the caller knows":         {old, nil, old.Catalogue, nil},
			"what was read":            {old, []func(context.Context, *db.Snapshot) error{page}, now.Catalogue, nil},
			"what was read, unknowing": {model.NoRevision, []func(context.Context, *db.Snapshot) error{page, page}, now.Catalogue, nil},
			"reads that differ": {model.NoRevision, []func(context.Context, *db.Snapshot) error{page, func(_ context.Context, s *db.Snapshot) error {
				s.RecordRead(old)
				return nil
			}}, 0, model.ErrSnapshotChanged},
		} {
			_ = s.Read(t.Context(), tt.known, model.NoReplica, func(ctx context.Context, snapshot *db.Snapshot) error {
				for _, read := range tt.reads {
					if err := read(ctx, snapshot); err != nil {
						t.Error(err)
					}
				}
				got, err := snapshot.Revision(ctx)
				if !snapshot.InTransaction() && (got != tt.want || !errors.Is(err, tt.err)) {
					t.Errorf("%s: %d, %v; want %d, %v", name, got, err, tt.want, tt.err)
				}
				return nil
			})
		}
		err := s.ReadTransaction(t.Context(), model.NoReplica, func(ctx context.Context, snapshot *db.Snapshot) error {
			must[*model.Book](t)(s.Books.Update(t.Context(), home.book.ID, rename("Meanwhile"), nil))
			if err := page(ctx, snapshot); err != nil {
				return err
			}
			if got, err := snapshot.Revision(ctx); got != now.Catalogue || err != nil {
				t.Errorf("in a transaction: %d, %v; want %d", got, err, now.Catalogue)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	})
}

package db_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
)

// TestManyStatements asks for pages of many sizes at once, each of which is a
// statement of its own: more than are kept prepared.
func TestManyStatements(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		newShelf(t, open(t, url))
		s := openWith(t, url, db.WithMaxPrepared(3))
		var run []func() error
		for i := range 8 {
			run = append(run, func() error {
				for n := range 150 {
					if _, err := s.Unchecked(t.Context()).Books.Page(t.Context(), &model.Page{Limit: 1 + (n+i*3)%20}); err != nil {
						return err
					}
				}
				return nil
			})
		}
		if err := together(run...); err != nil {
			t.Error(err)
		}
	})
}

// TestFiltersAreNotPrepared: what a condition matches is known only when its
// values are, so its statement is planned with them.
func TestFiltersAreNotPrepared(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		newShelf(t, s)
		before := db.Prepared(s)
		m := model.Selection{Where: &model.Condition{Op: model.Gt, Field: "pages", Operand: int64(1)}}
		for _, err := range []error{
			second(s.Unchecked(t.Context()).Books.Page(t.Context(), &model.Page{Selection: m, Limit: 5})), second(s.Unchecked(t.Context()).Books.Count(t.Context(), m)),
		} {
			if err != nil {
				t.Error(err)
			}
		}
		if n := db.Prepared(s); n != before {
			t.Errorf("%d statements were prepared", n-before)
		}
		if err := second(s.Unchecked(t.Context()).Books.Page(t.Context(), &model.Page{Limit: 5})); err != nil || db.Prepared(s) != before+1 {
			t.Errorf("a page without a condition: %v, %d statements were prepared, want 1", err, db.Prepared(s)-before)
		}
	})
}

// TestCommitRefused lets a commit fail by a constraint of another program's table: the
// caller is told, nothing is stored, and the connection is as good as before.
func TestCommitRefused(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		home := newShelf(t, s)
		exec(t, program, `CREATE TABLE lent (book bigint REFERENCES books (id) DEFERRABLE INITIALLY DEFERRED)`)
		exec(t, program, `INSERT INTO lent VALUES ($1)`, home.book.ID)
		for range 20 { // more often than there are connections to have spoilt
			err := s.Write(t.Context(), func(ctx context.Context) error { return s.Books.Delete(ctx, home.book.ID, nil, model.Cascade) })
			if err == nil {
				t.Error("a commit that failed is not reported")
			}
			must[*model.Book](t)(s.Books.Update(t.Context(), home.book.ID, rename("Still there"), nil))
		}
	})
}

// TestRetryEnds lets a transaction fail as one does that may be run again, after its caller
// has gone: nothing is sent to the database any more.
func TestRetryEnds(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s := open(t, url)
		var after atomic.Int64 // statements after the caller has gone
		ctx, leave := context.WithCancel(t.Context())
		s.Observe(func(ctx context.Context, statement stats.Statement) {
			if ctx.Err() != nil {
				after.Add(1)
			}
		})
		err := s.Write(ctx, func(context.Context) error {
			leave()
			return model.ErrRetry
		})
		wantCode(t, err, model.Unavailable, "")
		if n := after.Load(); n != 0 || !errors.Is(err, model.ErrRetry) {
			t.Errorf("%d statements: %v", n, err)
		}
	})
}

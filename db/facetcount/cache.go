package facetcount

import (
	"context"
	"slices"
	"time"

	"library-catalogue/db/changes"
	"library-catalogue/graph/model"
	"library-catalogue/lru"
)

const (
	// keepAfter is the time from which reading counts again costs more than keeping them.
	keepAfter = 5 * time.Millisecond

	maxKept   = 32 << 20 // bytes of one selection's counts
	maxCache  = 64 << 20 // bytes of all
	moveAfter = 1_000    // changes after which counts move to a later mark
)

// Cache keeps the counts of selections of books that took long to read: at a mark of the log of changes, from their
// second reading on. An answer is the counts at the mark and the changes since then, so it is exact for the revision of
// its reader. Package changes explains marks.
type Cache struct {
	after     time.Duration
	moveAfter int
	kept      lru.Cache[string, *Kept] // nil: counts that took long
}

// NewCache returns a Cache of counts that took some milliseconds. If eager is true, it keeps all and moves them at each
// change.
func NewCache(eager bool) *Cache {
	after, rows := keepAfter, moveAfter
	if eager {
		after, rows = 0, 0
	}
	return &Cache{after, rows, lru.New(maxCache, func(key string, k *Kept) int { return len(key) + k.weight() })}
}

// Reader reads the counts of one selection of books with a snapshot.
type Reader interface {
	// Values counts the books by the values of columns.
	Values(ctx context.Context, columns []string) (*Counts, error)
	// NewestMark returns the newest mark of the log of changes that the snapshot sees.
	NewestMark(ctx context.Context) (changes.Mark, error)
	// Since returns the books that changed after a mark, and the revision that they are of. The delta is nil if the log
	// does not tell.
	Since(ctx context.Context, mark changes.Mark, columns []string) (*Delta, model.Revision, error)
	// Known returns the latest revision that a read of the snapshot saw.
	Known() (model.Revision, bool)
}

// Keeps reports whether columns of a selection are to be kept, because its counts took long or are of all books.
func (c *Cache) Keeps(key string, columns []string) bool {
	kept, slow := c.kept.Get(key)
	return (slow || key == "") && (kept == nil || !kept.lacksRoom(columns))
}

// Has reports whether columns of a selection are kept, or have too many values for that.
func (c *Cache) Has(key string, columns []string) bool {
	kept, _ := c.kept.Get(key)
	return kept != nil && (kept.has(columns) || kept.lacksRoom(columns))
}

// Took tells the time that reading counts of a selection took.
func (c *Cache) Took(key string, took time.Duration) {
	if took >= c.after {
		c.kept.GetOrSet(key, nil)
	}
}

// Count calls fn with the counts of the books by the values of columns. fn must not keep them.
func (c *Cache) Count(ctx context.Context, key string, r Reader, columns []string, fn func(*Counts)) error {
	if !c.Keeps(key, columns) {
		begun := time.Now()
		counts, err := r.Values(ctx, columns)
		if err != nil {
			return err
		}
		fn(counts)
		c.Took(key, time.Since(begun))
		return nil
	}
	kept, delta, at, err := c.since(ctx, key, r, columns)
	if err != nil {
		return err
	}
	if kept != nil && kept.has(columns) {
		if !kept.with(delta, fn) { // it has moved to another mark
			return c.Count(ctx, key, r, columns, fn)
		}
		return c.move(ctx, kept, r, delta, at)
	}
	counts, err := r.Values(ctx, columns)
	if err != nil {
		return err
	}
	fn(counts)
	if now, _ := r.Known(); kept != nil && now == at { // otherwise the counts may be of a later revision
		kept.keep(counts, delta)
		c.kept.Set(key, kept)
	}
	return nil
}

// since returns the kept counts of a selection, what changed since their mark, and the revision of that. If the log
// does not go back to the mark, or genres have changed, the counts are new and still empty. They are nil if the log
// has no mark at all.
func (c *Cache) since(
	ctx context.Context, key string, r Reader, columns []string,
) (kept *Kept, delta *Delta, at model.Revision, err error) {
	kept, _ = c.kept.Get(key)
	if kept != nil {
		mark, more := kept.at()
		delta, at, err = r.Since(ctx, mark, slices.Compact(slices.Sorted(slices.Values(slices.Concat(columns, more)))))
		if err != nil || delta != nil && at.Reference == kept.reference {
			return kept, delta, at, err
		}
	}
	mark, err := r.NewestMark(ctx)
	if err != nil {
		return nil, nil, at, err
	}
	delta, at, err = r.Since(ctx, mark, columns)
	if err != nil || delta == nil {
		return nil, nil, at, err
	}
	return &Kept{mark: mark, reference: at.Reference}, delta, at, nil
}

// move moves counts to a later mark after many changes. delta is of revision at.
func (c *Cache) move(ctx context.Context, kept *Kept, r Reader, delta *Delta, at model.Revision) error {
	if delta.Changes <= c.moveAfter {
		return nil
	}
	mark, err := r.NewestMark(ctx)
	if err != nil || mark == delta.Mark {
		return err
	}
	later, now, err := r.Since(ctx, mark, delta.Columns)
	if err == nil && later != nil && now == at {
		kept.move(delta, later)
	}
	return err
}

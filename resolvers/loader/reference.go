package loader

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"library-catalogue/db"
	"library-catalogue/graph/model"
)

// maxReferenceRows is the maximum number of genres, and of categories, in the cache. It limits the
// cache to some 10 MB.
const maxReferenceRows = 10_000

// readTimeout bounds reading the reference data.
const readTimeout = 30 * time.Second

// Cache caches all genres and categories for all requests, because they are few and seldom change.
// A request uses them only if their revision is current, so they are never stale.
type Cache struct {
	store *db.Store

	data     atomic.Pointer[referenceData]
	reading  sync.Mutex // held while read runs
	lastMiss int64      // revision at the last miss; read alone uses it

	lists *listCache
}

// referenceData is all genres and categories at one revision. The maps are nil if there are more
// than maxReferenceRows.
type referenceData struct {
	revision   int64
	genres     map[model.ID]*model.Genre
	categories map[model.ID]*model.Category
}

// NewCache returns an empty cache.
func NewCache(store *db.Store) *Cache {
	return &Cache{store: store, lastMiss: -1, lists: newListCache(store)}
}

// empty reports whether the cache has no data of any revision.
func (c *Cache) empty() bool { return c.data.Load() == nil }

// at returns the data of the revision, or nil.
func (c *Cache) at(revision int64) *referenceData {
	if data := c.data.Load(); data != nil && data.revision == revision {
		return data
	}
	return nil
}

// reportMiss reports that the cache lacks the current revision. The cache then reads the data in
// the background. Requests must not wait for that, because it needs a connection, and each of them
// may hold one.
func (c *Cache) reportMiss() {
	if !c.reading.TryLock() {
		return // another goroutine is reading
	}
	running := c.store.Background(func(ctx context.Context) {
		defer c.reading.Unlock()
		ctx, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()
		_ = c.read(ctx) // a later request tries again
	})
	if !running {
		c.reading.Unlock()
	}
}

// read reads the data if the same revision was missed before. A series of changes therefore does
// not cause a read for each request.
func (c *Cache) read(ctx context.Context) error {
	now, err := c.store.Revision(ctx)
	if err != nil {
		return err
	}
	if c.at(now.Reference) != nil {
		return nil // a late replica has an older revision
	}
	if c.lastMiss != now.Reference {
		c.lastMiss = now.Reference
		return nil
	}
	data := new(referenceData)
	err = c.store.ReadTransaction(ctx, model.NoReplica, func(ctx context.Context, s *db.Snapshot) error {
		at, err := s.Latest(ctx)
		if err != nil {
			return err
		}
		data.revision = at.Reference
		genres, err := s.Genres.Page(ctx, &model.Page{Limit: maxReferenceRows + 1})
		if err != nil {
			return err
		}
		categories, err := s.Categories.Page(ctx, &model.Page{Limit: maxReferenceRows + 1})
		if err != nil || len(genres) > maxReferenceRows || len(categories) > maxReferenceRows {
			return err
		}
		data.genres = byRowID(genres)
		data.categories = byRowID(categories)
		return nil
	})
	if err == nil {
		c.data.Store(data)
	}
	return err
}

func byRowID[P model.Node](rows []P) map[model.ID]P {
	out := make(map[model.ID]P, len(rows))
	for _, row := range rows {
		out[row.RowID()] = row
	}
	return out
}

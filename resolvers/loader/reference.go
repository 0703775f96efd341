package loader

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"library-catalogue/db"
	"library-catalogue/graph/model"
)

// maxReferenceRows is how many genres, and how many categories, the cache holds:
// at about 500 bytes each, some 10 MB at most.
const maxReferenceRows = 10_000

// readTimeout bounds the reading of the reference data.
const readTimeout = 30 * time.Second

// Cache holds all genres and categories of a catalogue, which are few and
// change seldom, for all requests. It is used only as long as their revision is
// the one that they were read at, so nobody sees one that is out of date.
type Cache struct {
	store *db.Store

	data     atomic.Pointer[referenceData]
	reading  sync.Mutex // held by the one who reads
	lastMiss int64      // the revision at the last miss; for the one who reads

	lists *listCache
}

// referenceData is all genres and categories at one revision; the maps are nil where
// they are too many to be held.
type referenceData struct {
	revision   int64
	genres     map[model.ID]*model.Genre
	categories map[model.ID]*model.Category
}

// NewCache makes an empty cache.
func NewCache(store *db.Store) *Cache {
	return &Cache{store: store, lastMiss: -1, lists: newListCache(store)}
}

// empty reports whether the cache holds nothing of any revision.
func (c *Cache) empty() bool { return c.data.Load() == nil }

// at returns the data at the revision, or nil.
func (c *Cache) at(revision int64) *referenceData {
	if data := c.data.Load(); data != nil && data.revision == revision {
		return data
	}
	return nil
}

// noteMiss notes that the cache lacks the present revision. Everything is then
// read beside the requests: none of them waits for it, which they must not where
// each holds a connection and the one who reads needs one too.
func (c *Cache) noteMiss() {
	if !c.reading.TryLock() {
		return // somebody reads already
	}
	running := c.store.Background(func(ctx context.Context) {
		defer c.reading.Unlock()
		ctx, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()
		_ = c.read(ctx) // the next reader gets the error
	})
	if !running {
		c.reading.Unlock()
	}
}

// read reads everything when the same revision was missed for a second time, so
// that a stream of changes does not make each request cause that.
func (c *Cache) read(ctx context.Context) error {
	now, err := c.store.Revision(ctx)
	if err != nil {
		return err
	}
	if c.lastMiss != now.Reference {
		c.lastMiss = now.Reference
		return nil
	}
	data := new(referenceData)
	err = c.store.ReadTransaction(ctx, func(ctx context.Context, s *db.Snapshot) error {
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

package loader

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"library-catalogue/db"
	"library-catalogue/graph/model"
)

// maxRemembered is how many genres, and how many categories, are kept in memory.
const maxRemembered = 10_000

// readTimeout bounds the reading of the memory.
const readTimeout = 30 * time.Second

// ReferenceCache keeps all genres and categories of a catalogue, which are few and
// change seldom, for all requests. It is used only as long as their revision is
// the one that they were read at, so nobody sees one that is out of date.
type ReferenceCache struct {
	store *db.Store

	kept    atomic.Pointer[taxonomy]
	reading sync.Mutex // held by the one who reads
	seen    int64      // the revision at the last miss; for the one who reads

	totals sync.Map // how many rows a list has: the list's name to *total
}

// total is the length of a list at one revision.
type total struct {
	revision int64
	rows     int
}

// taxonomy is all genres and categories at one revision; the maps are nil where
// they are too many to be kept.
type taxonomy struct {
	revision   int64
	genres     map[model.ID]*model.Genre
	categories map[model.ID]*model.Category
}

// NewReferenceCache makes an empty memory.
func NewReferenceCache(store *db.Store) *ReferenceCache {
	return &ReferenceCache{store: store, seen: -1}
}

// empty tells whether nothing is kept of any revision.
func (m *ReferenceCache) empty() bool { return m.kept.Load() == nil }

// at gives what is kept of the revision, or nil.
func (m *ReferenceCache) at(revision int64) *taxonomy {
	if kept := m.kept.Load(); kept != nil && kept.revision == revision {
		return kept
	}
	return nil
}

// missed is called by who did not find the present revision. Everything is then
// read beside the requests: none of them waits for it, which they must not where
// each holds a connection and the one who reads needs one too.
func (m *ReferenceCache) missed() {
	if !m.reading.TryLock() {
		return // somebody reads already
	}
	running := m.store.Background(func(ctx context.Context) {
		defer m.reading.Unlock()
		ctx, cancel := context.WithTimeout(ctx, readTimeout)
		defer cancel()
		_ = m.read(ctx) // whoever asks next finds out what is wrong
	})
	if !running {
		m.reading.Unlock()
	}
}

// read reads everything when the same revision was missed for a second time, so
// that a stream of changes does not make each request cause that.
func (m *ReferenceCache) read(ctx context.Context) error {
	now, err := m.store.Revision(ctx)
	if err != nil {
		return err
	}
	if m.seen != now.Reference {
		m.seen = now.Reference
		return nil
	}
	read := new(taxonomy)
	err = m.store.InSnapshot(ctx, func(ctx context.Context, _ int64) error {
		at, err := m.store.Revision(ctx)
		if err != nil {
			return err
		}
		read.revision = at.Reference
		genres, err := m.store.Genres(ctx, &model.Page{Limit: maxRemembered + 1})
		if err != nil {
			return err
		}
		categories, err := m.store.Categories(ctx, &model.Page{Limit: maxRemembered + 1})
		if err != nil || len(genres) > maxRemembered || len(categories) > maxRemembered {
			return err
		}
		for i, memos := 0, make([]model.Memo, len(genres)); i < len(genres); i++ {
			genres[i].Memo = &memos[i]
		}
		for i, memos := 0, make([]model.Memo, len(categories)); i < len(categories); i++ {
			categories[i].Memo = &memos[i]
		}
		read.genres = byRowID(genres)
		read.categories = byRowID(categories)
		return nil
	})
	if err == nil {
		m.kept.Store(read)
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

// Total gives the length of a whole list: what was counted at the present
// revision already, or else what count counts.
func Total(ctx context.Context, list string, count func(context.Context) (int, error)) (int, error) {
	l := From(ctx)
	if db.Writing(ctx) {
		return count(ctx)
	}
	revision, err := l.at(ctx)
	if err != nil {
		return 0, err
	}
	if kept, ok := l.memory.totals.Load(list); ok && kept.(*total).revision == revision.Catalogue {
		return kept.(*total).rows, nil
	}
	rows, err := count(ctx)
	if err != nil {
		return 0, err
	}
	// Outside of a snapshot it may be that of a later revision.
	if after, err := l.store.Revision(ctx); err == nil && after == revision {
		l.memory.totals.Store(list, &total{revision.Catalogue, rows})
	}
	return rows, nil
}

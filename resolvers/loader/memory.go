package loader

import (
	"context"
	"sync"
	"sync/atomic"

	"library-catalogue/db"
	"library-catalogue/graph/model"
)

// maxRemembered is how many genres, and how many categories, are kept in memory.
const maxRemembered = 10_000

// Memory keeps all genres and categories of a catalogue, which are few and
// change seldom, for all requests. It is used only as long as their revision is
// the one that they were read at, so nobody sees one that is out of date.
type Memory struct {
	store *db.Store

	kept atomic.Pointer[taxonomy]

	mu   sync.Mutex
	seen int64 // the revision that the last request missed
}

// taxonomy is all genres and categories at one revision; the maps are nil where
// they are too many to be kept.
type taxonomy struct {
	revision   int64
	genres     map[model.ID]*model.Genre
	categories map[model.ID]*model.Category
}

// NewMemory makes an empty memory.
func NewMemory(store *db.Store) *Memory { return &Memory{store: store, seen: -1} }

// at gives what is kept of the revision, or nil. It is read when the same
// revision is asked for a second time, so that a stream of changes does not make
// each request read everything.
func (m *Memory) at(ctx context.Context, revision int64) (*taxonomy, error) {
	if kept := m.kept.Load(); kept != nil && kept.revision == revision {
		return kept, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if kept := m.kept.Load(); kept != nil && kept.revision == revision {
		return kept, nil
	}
	if m.seen != revision {
		m.seen = revision
		return nil, nil
	}
	read := new(taxonomy)
	err := m.store.View(ctx, func(ctx context.Context, _ int64) error {
		at, err := m.store.Revision(ctx)
		if err != nil {
			return err
		}
		read.revision = at.Taxonomy
		genres, err := m.store.Genres(ctx, model.Page{Limit: maxRemembered + 1})
		if err != nil {
			return err
		}
		categories, err := m.store.Categories(ctx, model.Page{Limit: maxRemembered + 1})
		if err != nil || len(genres) > maxRemembered || len(categories) > maxRemembered {
			return err
		}
		read.genres = byRowID(genres)
		read.categories = byRowID(categories)
		return nil
	})
	if err != nil {
		return nil, err
	}
	m.kept.Store(read)
	return read, nil
}

func byRowID[P model.Node](rows []P) map[model.ID]P {
	out := make(map[model.ID]P, len(rows))
	for _, row := range rows {
		out[row.RowID()] = row
	}
	return out
}

package loader

import (
	"context"
	"sync"

	"github.com/maypok86/otter/v2"

	"library-catalogue/db"
	"library-catalogue/graph/model"
)

const (
	// positionEvery is of how many rows one has its position remembered: a page is then
	// read from a row that is less than a page of the usual size before it.
	positionEvery = 100
	// maxPositions is how many positions of a list are remembered: of a million rows, in
	// about 1.5 MB.
	maxPositions = 10_000
	// minOffset is how many rows are passed over as quickly as a position is looked up.
	minOffset = 1_000
	// listBytes bounds what is remembered of lists.
	listBytes = 16 << 20
)

// listCache remembers the lengths of lists, the groups of books, and where the pages of
// lists of books begin, for all requests. What it holds is used only at the revision that it was read at, so
// that pages by number are neither out of date nor read from the beginning of the list.
type listCache struct {
	store     *db.Store
	totals    *otter.Cache[string, listTotal]
	groups    *otter.Cache[string, listGroups]
	positions *otter.Cache[string, *listPositions]
	reading   sync.Mutex // held by the one who reads positions
}

// listTotal is how many rows a list has at one revision.
type listTotal struct {
	revision int64
	rows     int
}

// listGroups are the groups of all books by a grouping at one revision.
type listGroups struct {
	revision int64
	groups   []*model.BookGroup
}

// listPositions are where every positionEvery-th row of a list stands at one revision.
type listPositions struct {
	revision int64
	rows     []*model.Position
	read     bool // rows were read; until then the revision was asked for once
}

// newListCache makes an empty cache.
func newListCache(store *db.Store) *listCache {
	const overhead, positionBytes, groupBytes = 100, 150, 250 // of an entry, of a position with a text, and of a group
	return &listCache{
		store: store,
		totals: otter.Must(&otter.Options[string, listTotal]{
			MaximumWeight: listBytes / 8, Weigher: func(key string, _ listTotal) uint32 { return uint32(overhead + len(key)) },
		}),
		groups: otter.Must(&otter.Options[string, listGroups]{
			MaximumWeight: listBytes / 2, Weigher: func(key string, l listGroups) uint32 {
				return uint32(overhead + len(key) + groupBytes*len(l.groups))
			},
		}),
		positions: otter.Must(&otter.Options[string, *listPositions]{
			MaximumWeight: listBytes, Weigher: func(key string, l *listPositions) uint32 {
				return uint32(overhead + len(key) + positionBytes*len(l.rows))
			},
		}),
	}
}

// Total returns the length of a list: what was counted at the present revision
// already, or else what count counts.
func (l *Loaders) Total(ctx context.Context, list string, sel model.Selection, count func(context.Context, model.Selection) (int, error)) (int, error) {
	if db.Writing(ctx) {
		return count(ctx, sel)
	}
	at, known := l.knownRevision()
	if !known && sel.All() { // a look costs less than to count all rows
		var err error
		if at, err = l.Revision(ctx); err != nil {
			return 0, err
		}
		known = true
	}
	if !known {
		return count(ctx, sel)
	}
	key := list + sel.Key()
	if total, ok := l.cache.lists.totals.GetIfPresent(key); ok && total.revision == at.Catalogue {
		l.reads.NoteRead(at)
		return total.rows, nil
	}
	rows, err := count(ctx, sel)
	if now, _ := l.knownRevision(); err == nil && now == at { // else it may be that of a later revision
		l.cache.lists.totals.Set(key, listTotal{at.Catalogue, rows})
	}
	return rows, err
}

// Groups returns the groups of all books by each of some groupings: what was read at the
// present revision already, or else what read reads of the others together.
func (l *Loaders) Groups(ctx context.Context, groupings []*model.Grouping, read model.Groups) ([][]*model.BookGroup, error) {
	at, known := l.knownRevision()
	if !known || db.Writing(ctx) {
		return read(ctx, groupings)
	}
	all := make([][]*model.BookGroup, len(groupings))
	var missing []*model.Grouping
	var places []int
	for i, g := range groupings {
		if cached, ok := l.cache.lists.groups.GetIfPresent(g.Key()); ok && cached.revision == at.Catalogue {
			all[i] = cached.groups
		} else {
			missing, places = append(missing, g), append(places, i)
		}
	}
	if len(missing) < len(groupings) {
		l.reads.NoteRead(at)
	}
	if missing == nil {
		return all, nil
	}
	groups, err := read(ctx, missing)
	if err != nil {
		return nil, err
	}
	now, _ := l.knownRevision()
	for i, place := range places {
		all[place] = groups[i]
		if now == at { // else it may be of a later revision
			l.cache.lists.groups.Set(missing[i].Key(), listGroups{at.Catalogue, groups[i]})
		}
	}
	return all, nil
}

// SeekBooks returns a page of all books that begins at a position near it, where it
// passes over many rows and that position is known.
func (l *Loaders) SeekBooks(ctx context.Context, p *model.Page) *model.Page {
	bounded := p.After != nil || p.From != nil || p.Before != nil || p.Until != nil
	if p.Offset < minOffset || p.Backward || bounded || p.Search != "" || db.Writing(ctx) {
		return p
	}
	at, err := l.latestRevision(ctx)
	if err != nil {
		return p // the statement finds out for itself what is wrong
	}
	list := model.Page{Selection: p.Selection, Order: p.Order}
	known := l.cache.lists.at(&list, at.Catalogue)
	if known == nil {
		return p
	}
	l.reads.NoteRead(at)
	nearest := min(p.Offset/positionEvery, len(known))
	if nearest == 0 {
		return p
	}
	page := *p
	page.After, page.Offset = known[nearest-1], p.Offset-nearest*positionEvery
	return &page
}

// at returns the positions of a list of books at a revision, or nil. They are read when
// the same revision is asked for a second time, beside the requests, and of one list at
// a time.
func (c *listCache) at(list *model.Page, revision int64) []*model.Position {
	key := list.Key()
	known, ok := c.positions.GetIfPresent(key)
	switch {
	case ok && known.revision == revision && known.read:
		return known.rows
	case !ok || known.revision != revision:
		c.positions.Set(key, &listPositions{revision: revision})
	case c.reading.TryLock():
		running := c.store.Background(func(ctx context.Context) {
			defer c.reading.Unlock()
			ctx, cancel := context.WithTimeout(ctx, readTimeout)
			defer cancel()
			rows, at, err := c.store.BookPositions(ctx, list, positionEvery, maxPositions)
			if err == nil {
				c.positions.Set(key, &listPositions{at.Catalogue, rows, true})
			}
		})
		if !running {
			c.reading.Unlock()
		}
	}
	return nil
}

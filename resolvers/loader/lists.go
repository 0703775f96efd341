package loader

import (
	"context"
	"sync"
	"time"

	"library-catalogue/db"
	"library-catalogue/graph/model"
	"library-catalogue/lru"
	"library-catalogue/task"
)

const (
	// positionEvery is the distance in rows between cached positions. It is about the size of a
	// large page.
	positionEvery = 100
	// maxPositions is the maximum number of positions of a list, enough for a million rows.
	maxPositions = 10_000
	// minOffset is the least offset for which a cached position is faster than skipping rows.
	minOffset = 1_000
	// rowTime is the estimated time for reading positions, for each row of a list. Pages skip rows
	// until that has taken as long at a revision.
	rowTime = time.Microsecond
	// listBytes bounds the memory of the cache.
	listBytes = 16 << 20
)

// listCache caches the lengths of lists, the groups of books, and positions in lists, for all
// requests. An entry is valid for the revision that a request sees, so it is never stale.
type listCache struct {
	store     *db.Store
	totals    lru.Cache[string, listTotal]
	groups    lru.Cache[string, listGroups]
	positions lru.Cache[string, *listPositions]

	mu      sync.Mutex // guards what follows, and took of positions
	reading bool       // positions of a list
}

// listTotal is the length of a list at one revision.
type listTotal struct {
	revision int64
	rows     int
}

type listGroups struct {
	revision int64
	groups   []*model.BookGroup
}

// listPositions are the positions of every positionEvery-th row of a list. They serve requests that
// have seen revision, but may be of a later one.
type listPositions struct {
	revision int64
	took     time.Duration // total time that requests spent skipping rows
	done     chan struct{} // closed after the next fields are read or have failed
	at       model.Revision
	rows     []*model.Position
}

// closed is the channel of positions that are read.
var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

func newListCache(store *db.Store) *listCache {
	const overhead, positionBytes, groupBytes = 100, 150, 250 // of an entry, of a position with a text, and of a group
	return &listCache{
		store:  store,
		totals: lru.New(listBytes/8, func(key string, _ listTotal) int { return overhead + len(key) }),
		groups: lru.New(listBytes/2, func(key string, l listGroups) int { return overhead + len(key) + groupBytes*len(l.groups) }),
		positions: lru.New(listBytes, func(key string, l *listPositions) int {
			return overhead + len(key) + positionBytes*len(l.rows)
		}),
	}
}

func (l *rowLoader[T]) Count(ctx context.Context, sel model.Selection) (int, error) {
	snapshot, totals := l.loaders.Snapshot, l.loaders.cache.lists.totals
	count := l.rows(snapshot).Count
	if snapshot.Writing() {
		return count(ctx, sel)
	}
	at, known := snapshot.Known()
	if !known && (sel.All() || snapshot.KeepsCounts()) { // reading the revision is cheaper than counting many rows
		var err error
		if at, err = snapshot.Latest(ctx); err != nil {
			return 0, err
		}
		known = true
	}
	if !known {
		return count(ctx, sel)
	}
	key := l.name + sel.Key()
	if total, ok := totals.Get(key); ok && total.revision == at.Catalogue {
		snapshot.RecordRead(at)
		return total.rows, nil
	}
	rows, err := count(ctx, sel)
	if now, _ := snapshot.Known(); err == nil && now == at { // otherwise the count may be of a later revision
		totals.Set(key, listTotal{at.Catalogue, rows})
	}
	return rows, err
}

func (l *rowLoader[T]) Correct(ctx context.Context, text string) (*string, error) {
	return l.rows(l.loaders.Snapshot).Correct(ctx, text)
}

// Groups returns the groups of all books for each grouping. It reads those that are not cached
// together.
func (l *Loaders) Groups(ctx context.Context, groupings []*model.Grouping) (all [][]*model.BookGroup, err error) {
	defer func() {
		for _, groups := range all {
			l.PrimeGroups(groups)
		}
	}()
	at, known := l.Snapshot.Known()
	if !known && l.Snapshot.KeepsCounts() { // reading the revision is cheaper than choosing the largest groups
		if at, err = l.Snapshot.Latest(ctx); err != nil {
			return nil, err
		}
		known = true
	}
	if !known || l.Snapshot.Writing() {
		return l.Snapshot.GroupBooks(ctx, groupings)
	}
	all = make([][]*model.BookGroup, len(groupings))
	var missing []*model.Grouping
	var places []int
	for i, g := range groupings {
		if cached, ok := l.cache.lists.groups.Get(g.Key()); ok && cached.revision == at.Catalogue {
			all[i] = cached.groups
		} else {
			missing, places = append(missing, g), append(places, i)
		}
	}
	if len(missing) < len(groupings) {
		l.Snapshot.RecordRead(at)
	}
	if missing == nil {
		return all, nil
	}
	groups, err := l.Snapshot.GroupBooks(ctx, missing)
	if err != nil {
		return nil, err
	}
	now, _ := l.Snapshot.Known()
	for i, place := range places {
		all[place] = groups[i]
		if now == at && len(groups[i]) > 0 { // otherwise they may be of a later revision
			l.cache.lists.groups.Set(missing[i].Key(), listGroups{at.Catalogue, groups[i]})
		}
	}
	return all, nil
}

func (l *rowLoader[T]) Page(ctx context.Context, p *model.Page) ([]*T, error) {
	near, afterRead, err := l.near(ctx, p)
	if err != nil {
		return nil, err
	}
	rows, err := l.rows(l.loaders.Snapshot).Page(ctx, near)
	afterRead()
	if err != nil {
		return nil, err
	}
	l.prime(l.loaders, rows)
	return rows, nil
}

// near returns a page with an offset as one that starts at a cached position, or unchanged. Call
// afterRead after reading the page.
func (l *rowLoader[T]) near(ctx context.Context, p *model.Page) (near *model.Page, afterRead func(), err error) {
	snapshot, lists := l.loaders.Snapshot, l.loaders.cache.lists
	bounded := p.After != nil || p.From != nil || p.Before != nil || p.Until != nil
	afterRead = func() {}
	if p.Offset < minOffset || p.Backward || bounded || p.Search != "" || snapshot.Writing() {
		return p, afterRead, nil
	}
	at, err := snapshot.Latest(ctx)
	if err != nil {
		return nil, nil, err
	}
	list := &model.Page{Selection: p.Selection, Order: p.Order}
	key := l.name + list.Key()
	positions := lists.begin(key, at.Catalogue)
	if !positions.isDone() {
		begun := time.Now()
		return p, func() {
			lists.addSkipTime(positions, p.Offset, time.Since(begun), func(ctx context.Context) {
				lists.read(ctx, key, positions, func(ctx context.Context) ([]*model.Position, model.Revision, error) {
					return l.rows(lists.store.Unchecked(ctx)).Positions(ctx, list, positionEvery, maxPositions)
				})
			})
		}, nil
	}
	if positions.rows == nil || snapshot.InTransaction() && positions.at != at { // another revision cannot be read
		return p, afterRead, nil
	}
	snapshot.RecordRead(positions.at)
	page := *p
	if nearest := min(p.Offset/positionEvery, len(positions.rows)); nearest > 0 {
		page.After, page.Offset = positions.rows[nearest-1], p.Offset-nearest*positionEvery
	}
	return &page, afterRead, nil
}

// isDone reports whether the positions were read or have failed.
func (l *listPositions) isDone() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

func (c *listCache) begin(key string, revision int64) *listPositions {
	c.mu.Lock()
	defer c.mu.Unlock()
	positions, ok := c.positions.Get(key)
	if !ok || positions.revision != revision {
		positions = &listPositions{revision: revision, done: make(chan struct{})}
		c.positions.Set(key, positions)
	}
	return positions
}

// addSkipTime adds the time that a request spent skipping rows. When the total reaches the
// estimated time for reading the positions, read reads them in the background, for one list at a
// time.
func (c *listCache) addSkipTime(positions *listPositions, rows int, took time.Duration, read func(context.Context)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if positions.took += took; positions.took >= time.Duration(rows)*rowTime && !c.reading && !positions.isDone() {
		c.reading = c.store.Background(read)
	}
}

func (c *listCache) read(ctx context.Context, key string, entry *listPositions, positions func(context.Context) ([]*model.Position, model.Revision, error)) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.reading = false
		close(entry.done)
	}()
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var rows []*model.Position
	var at model.Revision
	err := task.Run(ctx, func() (err error) {
		rows, at, err = positions(ctx)
		return err
	})
	if err != nil {
		c.positions.Delete(key) // so that a later request tries again
		return
	}
	entry.rows, entry.at = rows, at
	c.positions.Set(key, &listPositions{revision: at.Catalogue, done: closed, at: at, rows: rows})
}

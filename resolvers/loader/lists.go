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
	// placeEvery is the distance in rows between cached places. It is about the size of a
	// large page.
	placeEvery = 100
	// maxPlaces is the maximum number of places of a list, enough for a million rows.
	maxPlaces = 10_000
	// minOffset is the least offset for which a cached place is faster than skipping rows.
	minOffset = 1_000
	// rowTime is the estimated time for reading places, for each row of a list. Pages skip rows
	// until that has taken as long at a revision.
	rowTime = time.Microsecond
	// listBytes bounds the memory of the cache.
	listBytes = 16 << 20
)

// listCache caches the lengths of lists, the groups of books, and places in lists, for all
// requests. An entry is valid for the revision that a request sees, so it is never stale.
type listCache struct {
	store  *db.Store
	totals lru.Cache[string, listTotal]
	groups lru.Cache[string, listGroups]
	places lru.Cache[string, *listPlaces]
	// troubles by kind and day
	troubles lru.Cache[string, listTrouble]

	mu      sync.Mutex // guards what follows, and took of places
	reading bool       // places of a list
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

type listTrouble struct {
	revision int64
	*model.Trouble
}

// listPlaces are the places of every placeEvery-th row of a list. They serve requests that
// have seen revision, but may be of a later one.
type listPlaces struct {
	revision int64
	took     time.Duration // total time that requests spent skipping rows
	done     chan struct{} // closed after the next fields are read or have failed
	at       model.Revision
	rows     []*model.Place
}

// closed is the channel of places that are read.
var closed = func() chan struct{} { c := make(chan struct{}); close(c); return c }()

func newListCache(store *db.Store) *listCache {
	const overhead, placeBytes, groupBytes = 100, 150, 250 // bytes of an entry, a place with a text, and a group
	return &listCache{
		store:  store,
		totals: lru.New(listBytes/8, func(key string, _ listTotal) int { return overhead + len(key) }),
		groups: lru.New(listBytes/2, func(key string, l listGroups) int {
			return overhead + len(key) + groupBytes*len(l.groups)
		}),
		places: lru.New(listBytes, func(key string, l *listPlaces) int {
			return overhead + len(key) + placeBytes*len(l.rows)
		}),
		troubles: lru.New(len(model.TroubleKinds), func(string, listTrouble) int { return 1 }),
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

// Trouble returns the troubles of a kind.
func (l *Loaders) Trouble(ctx context.Context, kind model.TroubleKind) (*model.Trouble, error) {
	at, err := l.Snapshot.Latest(ctx)
	if err != nil {
		return nil, err
	}
	today := model.Today()
	found, ok := l.cache.lists.troubles.Get(string(kind) + today)
	if ok && found.revision == at.Catalogue {
		l.Snapshot.RecordRead(at)
	} else if found.Trouble, err = l.Snapshot.Trouble(ctx, kind, today); err != nil {
		return nil, err
	} else if now, _ := l.Snapshot.Known(); now == at { // else it may be of a later revision
		l.cache.lists.troubles.Set(string(kind)+today, listTrouble{at.Catalogue, found.Trouble})
	}
	l.PrimeBooks(found.Books)
	return found.Trouble, nil
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

// near returns a page with an offset as one that starts at a cached place, or unchanged. Call
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
	places := lists.begin(key, at.Catalogue)
	if !places.isDone() {
		begun := time.Now()
		return p, func() {
			lists.addSkipTime(places, p.Offset, time.Since(begun), func(ctx context.Context) {
				lists.read(ctx, key, places, func(ctx context.Context) ([]*model.Place, model.Revision, error) {
					return l.rows(lists.store.Unchecked(ctx)).Places(ctx, list, placeEvery, maxPlaces)
				})
			})
		}, nil
	}
	if places.rows == nil || snapshot.InTransaction() && places.at != at { // another revision cannot be read
		return p, afterRead, nil
	}
	snapshot.RecordRead(places.at)
	page := *p
	if nearest := min(p.Offset/placeEvery, len(places.rows)); nearest > 0 {
		page.After, page.Offset = places.rows[nearest-1], p.Offset-nearest*placeEvery
	}
	return &page, afterRead, nil
}

// isDone reports whether the places were read or have failed.
func (l *listPlaces) isDone() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

func (c *listCache) begin(key string, revision int64) *listPlaces {
	c.mu.Lock()
	defer c.mu.Unlock()
	places, ok := c.places.Get(key)
	if !ok || places.revision != revision {
		places = &listPlaces{revision: revision, done: make(chan struct{})}
		c.places.Set(key, places)
	}
	return places
}

// addSkipTime adds the time that a request spent skipping rows. When the total reaches the
// estimated time for reading the places, read reads them in the background, for one list at a
// time.
func (c *listCache) addSkipTime(places *listPlaces, rows int, took time.Duration, read func(context.Context)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if places.took += took; places.took >= time.Duration(rows)*rowTime && !c.reading && !places.isDone() {
		c.reading = c.store.Background(read)
	}
}

func (c *listCache) read(
	ctx context.Context, key string, entry *listPlaces,
	places func(context.Context) ([]*model.Place, model.Revision, error),
) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.reading = false
		close(entry.done)
	}()
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	var rows []*model.Place
	var at model.Revision
	err := task.Run(ctx, func() (err error) {
		rows, at, err = places(ctx)
		return err
	})
	if err != nil {
		c.places.Delete(key) // so that a later request tries again
		return
	}
	entry.rows, entry.at = rows, at
	c.places.Set(key, &listPlaces{revision: at.Catalogue, done: closed, at: at, rows: rows})
}

package loader

import (
	"context"
	"slices"
	"sync"

	"library-catalogue/db"
	"library-catalogue/graph/model"
)

// Rows loads rows by id. A batch that is closed by time may cut one level of a
// query in two where the machine is busy; the ids that a level is about to ask
// for are therefore pending, and fetched together with the first of them.
type Rows[T any] struct {
	*rowType[T]
	loaders *Loaders
	batch   batch[model.ID, *T]

	mu      sync.Mutex
	pending [][]model.ID // as they were noted: most are never fetched, since the reference cache has them
}

// rowType says how rows of a type are loaded.
type rowType[T any] struct {
	name      string
	rows      func(*db.Snapshot) db.Reader[T]
	fetch     func(*db.Snapshot, context.Context, []model.ID) ([]*T, error)
	id        func(*T) model.ID
	prime     func(*Loaders, []*T)                 // notes what rows point at
	reference func(*referenceData) map[model.ID]*T // nil for a type of which the reference cache holds none
}

func (l *Rows[T]) init(loaders *Loaders, t *rowType[T]) {
	l.loaders, l.rowType = loaders, t
	l.batch.wait, l.batch.fetch = loaders.wait, l.fetchRows
}

// Load returns the row, or nil where there is none.
func (l *Rows[T]) Load(ctx context.Context, id model.ID) (*T, error) {
	reference, err := l.referenceRows(ctx)
	if err != nil {
		return nil, err
	}
	if row, ok := reference[id]; ok {
		return row, nil
	}
	if err := l.loadPending(ctx, id); err != nil {
		return nil, err
	}
	return l.batch.load(ctx, id)
}

// loadPending fetches what is pending, if id is.
func (l *Rows[T]) loadPending(ctx context.Context, id model.ID) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.ContainsFunc(l.pending, func(ids []model.ID) bool { return slices.Contains(ids, id) }) {
		return nil
	}
	_, err := l.loadWithPending(ctx, []model.ID{id})
	return err
}

// LoadMany returns the rows with these ids, in their order: nil for an id that
// has no row. They are one batch, which waits for no others.
func (l *Rows[T]) LoadMany(ctx context.Context, ids []model.ID) ([]*T, error) {
	if rows, err := l.allFromReference(ctx, ids); rows != nil || err != nil {
		return rows, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.loadWithPending(ctx, ids)
}

// loadWithPending loads ids and, if any of them must be fetched, what is pending
// beside them.
func (l *Rows[T]) loadWithPending(ctx context.Context, ids []model.ID) ([]*T, error) {
	all := ids
	if len(l.pending) > 0 && slices.ContainsFunc(ids, func(id model.ID) bool { return !l.batch.has(ctx, id) }) {
		pending := slices.Concat(l.pending...)
		slices.Sort(pending)
		all = slices.Concat(ids, slices.Compact(pending))
		l.pending = nil
	}
	rows, err := l.batch.loadMany(ctx, all)
	if err != nil {
		return nil, err
	}
	return rows[:len(ids)], nil
}

// referenceRows returns the rows of the reference cache.
func (l *Rows[T]) referenceRows(ctx context.Context) (map[model.ID]*T, error) {
	if l.reference == nil {
		return nil, nil
	}
	data, err := l.loaders.referenceData(ctx)
	if data == nil {
		return nil, err
	}
	return l.reference(data), nil
}

// allFromReference returns the rows with these ids, if the reference cache holds
// every one, or else nil.
func (l *Rows[T]) allFromReference(ctx context.Context, ids []model.ID) ([]*T, error) {
	reference, err := l.referenceRows(ctx)
	if reference == nil {
		return nil, err
	}
	rows := make([]*T, len(ids))
	for i, id := range ids {
		var ok bool
		if rows[i], ok = reference[id]; !ok {
			return nil, nil
		}
	}
	return rows, nil
}

// fetchRows reads rows in one look-up.
func (l *Rows[T]) fetchRows(ctx context.Context, ids []model.ID) (map[model.ID]*T, error) {
	if l.reference != nil {
		if err := l.loaders.noteMiss(ctx); err != nil {
			return nil, err
		}
	}
	rows, err := l.fetch(l.loaders.Snapshot, ctx, slices.Sorted(slices.Values(ids)))
	if err != nil {
		return nil, err
	}
	l.prime(l.loaders, rows)
	byID := make(map[model.ID]*T, len(rows))
	for _, row := range rows {
		byID[l.id(row)] = row
	}
	return byID, nil
}

// expect makes ids pending.
func (l *Rows[T]) expect(ids []model.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = append(l.pending, ids)
}

package loader

import (
	"context"
	"slices"
	"sync"

	"library-catalogue/db"
	"library-catalogue/graph/model"
)

// Rows loads rows by id. On a busy machine dataloader's timer may split the ids of one level into
// two batches. The ids that a level will load are therefore announced as pending, and fetched
// together with the first of them.
type Rows[T any] interface {
	// Count returns the length of a list from the cache, or counts it.
	Count(ctx context.Context, sel model.Selection) (int, error)
	// Correct returns the corrected text of a search, or nil if it needs no correction.
	Correct(ctx context.Context, text string) (*string, error)
	// Page returns a page of all rows. It announces the rows that they refer to.
	Page(ctx context.Context, p *model.Page) ([]*T, error)
	// Load returns a row, or nil if it does not exist.
	Load(ctx context.Context, id model.ID) (*T, error)
	// LoadMany returns the rows with these ids in their order, nil for a missing one. They are one
	// batch, which does not wait.
	LoadMany(ctx context.Context, ids []model.ID) ([]*T, error)
	// expect announces ids as pending.
	expect(ids []model.ID)
	// list records a list of the response.
	list(rows []*T)
	// siblings returns the ids of a recorded list that has the row, or nil.
	siblings(id model.ID) []model.ID
}

type rowLoader[T any] struct {
	*rowType[T]
	loaders *Loaders
	batch   batch[model.ID, *T]

	mu      sync.Mutex
	pending [][]model.ID // lists of ids; most are never fetched, because the reference cache has them

	listMu sync.Mutex
	listed [][]*T // lists of the response
}

// rowType defines how rows of a type are loaded.
type rowType[T any] struct {
	name      string
	rows      func(*db.Snapshot) db.Reader[T]
	fetch     func(*db.Snapshot, context.Context, []model.ID) ([]*T, error)
	id        func(*T) model.ID
	prime     func(*Loaders, []*T)                 // announces the rows that rows refer to
	reference func(*referenceData) map[model.ID]*T // nil for a type that is not in the reference cache
}

func newRows[T any](loaders *Loaders, t *rowType[T]) Rows[T] {
	l := &rowLoader[T]{loaders: loaders, rowType: t}
	l.batch.wait, l.batch.fetch = loaders.wait, l.fetchRows
	return l
}

func (l *rowLoader[T]) Load(ctx context.Context, id model.ID) (*T, error) {
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

// loadPending fetches the pending ids if id is one of them.
func (l *rowLoader[T]) loadPending(ctx context.Context, id model.ID) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.ContainsFunc(l.pending, func(ids []model.ID) bool { return slices.Contains(ids, id) }) {
		return nil
	}
	_, err := l.loadWithPending(ctx, []model.ID{id})
	return err
}

func (l *rowLoader[T]) LoadMany(ctx context.Context, ids []model.ID) ([]*T, error) {
	if rows, err := l.allFromReference(ctx, ids); rows != nil || err != nil {
		return rows, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.loadWithPending(ctx, ids)
}

// loadWithPending loads ids. If any of them must be fetched, it fetches the pending ids too.
func (l *rowLoader[T]) loadWithPending(ctx context.Context, ids []model.ID) ([]*T, error) {
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

func (l *rowLoader[T]) referenceRows(ctx context.Context) (map[model.ID]*T, error) {
	if l.reference == nil {
		return nil, nil
	}
	data, err := l.loaders.referenceData(ctx)
	if data == nil {
		return nil, err
	}
	return l.reference(data), nil
}

// allFromReference returns the rows with these ids from the reference cache, or nil if any is
// missing.
func (l *rowLoader[T]) allFromReference(ctx context.Context, ids []model.ID) ([]*T, error) {
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

// fetchRows reads rows with one look-up.
func (l *rowLoader[T]) fetchRows(ctx context.Context, ids []model.ID) (map[model.ID]*T, error) {
	if l.reference != nil {
		if err := l.loaders.reportMiss(ctx); err != nil {
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

func (l *rowLoader[T]) expect(ids []model.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pending = append(l.pending, ids)
}

func (l *rowLoader[T]) list(rows []*T) {
	l.listMu.Lock()
	defer l.listMu.Unlock()
	l.listed = append(l.listed, rows)
}

func (l *rowLoader[T]) siblings(id model.ID) []model.ID {
	l.listMu.Lock()
	defer l.listMu.Unlock()
	for _, rows := range l.listed {
		if !slices.ContainsFunc(rows, func(row *T) bool { return l.id(row) == id }) {
			continue
		}
		ids := make([]model.ID, len(rows))
		for i, row := range rows {
			ids[i] = l.id(row)
		}
		slices.Sort(ids)
		return slices.Compact(ids)
	}
	return nil
}

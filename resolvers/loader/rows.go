package loader

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/graph-gophers/dataloader/v7"

	"library-catalogue/graph/model"
)

// Rows loads rows by id. A batch is closed by time, so a busy machine may cut
// one level of a query in two; the ids that a level is expected to ask for are
// therefore fetched together with the first of them.
type Rows[T any] struct {
	batches *dataloader.Loader[model.ID, *T]
	fetch   func(context.Context, []model.ID) ([]*T, error)
	id      func(*T) model.ID
	saw     func([]*T)
	memory  func(context.Context) (map[model.ID]*T, error) // rows that need not be fetched

	mu        sync.Mutex   // held while fetching: who waits finds its row fetched
	announced [][]model.ID // what expected does not have yet
	expected  map[model.ID]struct{}
	fetched   map[model.ID]*T // nil for an id that has no row
}

func newRows[T any](wait time.Duration, fetch func(context.Context, []model.ID) ([]*T, error), id func(*T) model.ID, saw func([]*T)) *Rows[T] {
	l := &Rows[T]{fetch: fetch, id: id, saw: saw, memory: func(context.Context) (map[model.ID]*T, error) { return nil, nil }, expected: map[model.ID]struct{}{}, fetched: map[model.ID]*T{}}
	l.batches = dataloader.NewBatchedLoader(l.batch, dataloader.WithWait[model.ID, *T](wait))
	return l
}

// Load gives the row, or nil where there is none.
func (l *Rows[T]) Load(ctx context.Context, id model.ID) (*T, error) {
	memory, err := l.memory(ctx)
	if err != nil {
		return nil, err
	}
	if row, ok := memory[id]; ok {
		return row, nil
	}
	if row, ok, err := l.atOnce(ctx, id); ok || err != nil {
		return row, err
	}
	return l.batches.Load(ctx, id)()
}

// atOnce gives a row that need not wait for others to be asked for: one that is
// there, or one that is expected, whose level is known.
func (l *Rows[T]) atOnce(ctx context.Context, id model.ID) (row *T, ok bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noteAnnounced()
	if _, expected := l.expected[id]; expected {
		err = l.fetchMissing(ctx, []model.ID{id})
	}
	row, ok = l.fetched[id]
	return row, ok, err
}

func (l *Rows[T]) batch(ctx context.Context, ids []model.ID) []*dataloader.Result[*T] {
	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.fetchMissing(ctx, ids)
	return results(ids, func(id model.ID) *T { return l.fetched[id] }, err)
}

// fetchMissing fetches ids and what is expected beside them, as far as it is
// not there yet.
func (l *Rows[T]) fetchMissing(ctx context.Context, ids []model.ID) error {
	missing := map[model.ID]struct{}{}
	for _, id := range ids {
		if _, ok := l.fetched[id]; !ok {
			missing[id] = struct{}{}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	l.noteAnnounced()
	for id := range l.expected {
		if _, ok := l.fetched[id]; !ok {
			missing[id] = struct{}{}
		}
	}
	clear(l.expected)
	wanted := slices.Sorted(maps.Keys(missing))
	rows, err := l.fetch(ctx, wanted)
	if err != nil {
		return err
	}
	for _, id := range wanted {
		l.fetched[id] = nil
	}
	for _, row := range rows {
		l.fetched[l.id(row)] = row
	}
	l.saw(rows)
	return nil
}

func (l *Rows[T]) expect(ids []model.ID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.announced = append(l.announced, ids)
}

// noteAnnounced is done when it matters: most are never fetched, since the memory
// has them.
func (l *Rows[T]) noteAnnounced() {
	for _, ids := range l.announced {
		for _, id := range ids {
			l.expected[id] = struct{}{}
		}
	}
	l.announced = nil
}

func (l *Rows[T]) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.announced = nil
	clear(l.expected)
	clear(l.fetched)
	l.batches.ClearAll()
}

// results aligns what was fetched with the keys that were asked for.
func results[K comparable, V any](keys []K, get func(K) V, err error) []*dataloader.Result[V] {
	out := make([]*dataloader.Result[V], len(keys))
	for i, key := range keys {
		if err != nil {
			out[i] = &dataloader.Result[V]{Error: err}
			continue
		}
		out[i] = &dataloader.Result[V]{Data: get(key)}
	}
	return out
}

package loader

import (
	"context"
	"slices"
	"sync"

	"github.com/graph-gophers/dataloader/v7"

	"library-catalogue/graph/model"
)

// Rows loads rows by id. A batch is closed by time, so a busy machine may cut
// one level of a query in two; the ids that a level is expected to ask for are
// therefore fetched together with the first of them.
type Rows[T any] struct {
	*kind[T]
	loaders *Loaders

	mu        sync.Mutex                       // held while fetching: who waits finds its row fetched
	batches   *dataloader.Loader[model.ID, *T] // nil until the first Load that has to wait
	announced [][]model.ID                     // what expected does not have yet
	expected  map[model.ID]struct{}
	fetched   map[model.ID]*T // nil for an id that has no row
}

// kind says how rows of a type are loaded.
type kind[T any] struct {
	id    func(*T) model.ID
	fetch func(*Loaders, context.Context, []model.ID) ([]*T, error)
	saw   func(*Loaders, []*T)
	kept  func(*taxonomy) map[model.ID]*T // those in memory; nil for a type of which none are
}

func (l *Rows[T]) init(loaders *Loaders, of *kind[T]) { l.loaders, l.kind = loaders, of }

// memory gives the rows that need not be fetched.
func (l *Rows[T]) memory(ctx context.Context) (map[model.ID]*T, error) {
	if l.kept == nil {
		return nil, nil
	}
	kept, err := l.loaders.taxonomy(ctx)
	if kept == nil {
		return nil, err
	}
	return l.kept(kept), nil
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
	row, batches, err := l.atOnce(ctx, id)
	if batches == nil {
		return row, err
	}
	return batches.Load(ctx, id)()
}

// atOnce gives a row that need not wait for others to be asked for: one that is
// there, or one that is expected, whose level is known. For any other it gives
// the batches.
func (l *Rows[T]) atOnce(ctx context.Context, id model.ID) (*T, *dataloader.Loader[model.ID, *T], error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.noteAnnounced()
	if _, expected := l.expected[id]; expected {
		if err := l.fetchMissing(ctx, []model.ID{id}); err != nil {
			return nil, nil, err
		}
	}
	if row, ok := l.fetched[id]; ok {
		return row, nil, nil
	}
	if l.batches == nil {
		l.batches = dataloader.NewBatchedLoader(l.batch, dataloader.WithWait[model.ID, *T](l.loaders.wait))
	}
	return nil, l.batches, nil
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
	missing := make([]model.ID, 0, len(ids)+len(l.expected))
	add := func(id model.ID) {
		if _, ok := l.fetched[id]; !ok {
			missing = append(missing, id)
		}
	}
	for _, id := range ids {
		add(id)
	}
	if len(missing) == 0 {
		return nil
	}
	l.noteAnnounced()
	for id := range l.expected {
		add(id)
	}
	clear(l.expected)
	slices.Sort(missing)
	missing = slices.Compact(missing)
	if l.kept != nil {
		if err := l.loaders.missed(ctx); err != nil {
			return err
		}
	}
	rows, err := l.fetch(l.loaders, ctx, missing)
	if err != nil {
		return err
	}
	if l.fetched == nil {
		l.fetched = make(map[model.ID]*T, len(missing))
	}
	if len(rows) < len(missing) {
		for _, id := range missing {
			l.fetched[id] = nil
		}
	}
	for _, row := range rows {
		l.fetched[l.id(row)] = row
	}
	l.saw(l.loaders, rows)
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
	if l.expected == nil && l.announced != nil {
		l.expected = map[model.ID]struct{}{}
	}
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
	l.batches = nil
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

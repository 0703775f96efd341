package loader

import (
	"context"
	"sync"
	"time"

	"github.com/graph-gophers/dataloader/v7"

	"library-catalogue/graph/model"
)

// batch loads values by key and keeps them: each key is fetched once.
type batch[K comparable, V any] struct {
	// fetch reads the values of keys, none of which comes twice. A key that the
	// map lacks has the zero value.
	fetch func(ctx context.Context, keys []K) (map[K]V, error)
	wait  time.Duration

	mu      sync.Mutex
	cache   dataloader.Cache[K, V]
	waiting *dataloader.Loader[K, V] // collects single keys for so long as wait; nil before the first
}

// load returns the value of key, which is fetched together with the keys that
// others ask for within wait.
func (b *batch[K, V]) load(ctx context.Context, key K) (V, error) {
	b.mu.Lock()
	if b.waiting == nil {
		b.waiting = b.newLoader(dataloader.WithWait[K, V](b.wait))
	}
	thunk := b.waiting.Load(ctx, key)
	b.mu.Unlock()
	return b.resolve(ctx, key, thunk)
}

// loadMany returns the values of keys, in their order.
func (b *batch[K, V]) loadMany(ctx context.Context, keys []K) ([]V, error) {
	thunks := b.request(ctx, keys)
	values := make([]V, len(keys))
	for i, key := range keys {
		var err error
		if values[i], err = b.resolve(ctx, key, thunks[i]); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// request begins to fetch keys, as far as they are not there. They are all that
// is wanted now, so that the batch has their number and waits for no others.
// dataloader's LoadMany would start a goroutine for each key.
func (b *batch[K, V]) request(ctx context.Context, keys []K) []dataloader.Thunk[V] {
	b.mu.Lock()
	defer b.mu.Unlock()
	thunks := make([]dataloader.Thunk[V], len(keys))
	missing := map[K]struct{}{}
	for i, key := range keys {
		var ok bool
		if thunks[i], ok = b.cached(ctx, key); !ok {
			missing[key] = struct{}{}
		}
	}
	if len(missing) == 0 {
		return thunks
	}
	loader := b.newLoader(dataloader.WithBatchCapacity[K, V](len(missing)), dataloader.WithInputCapacity[K, V](len(missing)))
	for i, key := range keys {
		if thunks[i] == nil {
			thunks[i] = loader.Load(ctx, key)
		}
	}
	return thunks
}

// has reports whether key was asked for.
func (b *batch[K, V]) has(ctx context.Context, key K) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	_, ok := b.cached(ctx, key)
	return ok
}

func (b *batch[K, V]) cached(ctx context.Context, key K) (dataloader.Thunk[V], bool) {
	if b.cache == nil {
		return nil, false
	}
	return b.cache.Get(ctx, key)
}

// newLoader makes a loader over the values that are there.
func (b *batch[K, V]) newLoader(option ...dataloader.Option[K, V]) *dataloader.Loader[K, V] {
	if b.cache == nil {
		b.cache = dataloader.NewCache[K, V]()
	}
	return dataloader.NewBatchedLoader(b.run, append(option, dataloader.WithCache(b.cache))...)
}

// run implements dataloader.BatchFunc.
func (b *batch[K, V]) run(ctx context.Context, keys []K) []*dataloader.Result[V] {
	defer func() {
		if failure := recover(); failure != nil {
			model.StatsOf(ctx).AddPanic()
			panic(failure) // dataloader makes an error of it
		}
	}()
	values, err := b.fetch(ctx, keys)
	results := make([]*dataloader.Result[V], len(keys))
	for i, key := range keys {
		results[i] = &dataloader.Result[V]{Data: values[key], Error: err}
	}
	return results
}

// resolve waits for a value. A failure is not kept.
func (b *batch[K, V]) resolve(ctx context.Context, key K, thunk dataloader.Thunk[V]) (V, error) {
	value, err := thunk()
	if err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.cache != nil {
			b.cache.Delete(ctx, key)
		}
	}
	return value, err
}

// clear forgets every value.
func (b *batch[K, V]) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cache, b.waiting = nil, nil
}

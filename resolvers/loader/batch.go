package loader

import (
	"context"
	"sync"
	"time"

	"github.com/graph-gophers/dataloader/v7"

	"library-catalogue/db/stats"
)

// batch loads values by key and keeps them: each key is fetched once.
type batch[K comparable, V any] struct {
	// fetch is the batch function: it reads the values of keys, none of which comes
	// twice. A key that the map lacks has the zero value.
	fetch func(ctx context.Context, keys []K) (map[K]V, error)
	wait  time.Duration

	mu     sync.Mutex // held while a level is fetched: who waits finds its key there
	cache  dataloader.Cache[K, V]
	loader *dataloader.Loader[K, V] // nil before the first key
}

// load returns the value of key, which is fetched together with the keys that
// others ask for within wait.
func (b *batch[K, V]) load(ctx context.Context, key K) (V, error) {
	b.mu.Lock()
	b.init()
	thunk, ok := b.cache.Get(ctx, key)
	if !ok {
		thunk = b.loader.Load(ctx, key)
	}
	b.mu.Unlock()
	return b.resolve(ctx, key, thunk)
}

// loadMany returns the values of keys, in their order. They are all that is
// wanted, so that those that are not there are fetched at once.
func (b *batch[K, V]) loadMany(ctx context.Context, keys []K) ([]V, error) {
	thunks, err := b.fetchLevel(ctx, keys)
	if err != nil {
		return nil, err
	}
	values := make([]V, len(keys))
	for i, key := range keys {
		if values[i], err = b.resolve(ctx, key, thunks[i]); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// fetchLevel calls the batch function with the keys that are not there, and primes
// the loader with their values.
func (b *batch[K, V]) fetchLevel(ctx context.Context, keys []K) ([]dataloader.Thunk[V], error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.init()
	thunks := make([]dataloader.Thunk[V], len(keys))
	var missing []K
	pending := map[K]struct{}{}
	for i, key := range keys {
		var ok bool
		if thunks[i], ok = b.cache.Get(ctx, key); ok {
			continue
		}
		if _, ok := pending[key]; !ok {
			pending[key] = struct{}{}
			missing = append(missing, key)
		}
	}
	if missing == nil {
		return thunks, nil
	}
	values, err := b.fetch(ctx, missing)
	if err != nil {
		return nil, err
	}
	for _, key := range missing {
		b.loader.Prime(ctx, key, values[key])
	}
	for i, key := range keys {
		if thunks[i] == nil {
			thunks[i], _ = b.cache.Get(ctx, key)
		}
	}
	return thunks, nil
}

// has reports whether key was asked for.
func (b *batch[K, V]) has(ctx context.Context, key K) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.init()
	_, ok := b.cache.Get(ctx, key)
	return ok
}

func (b *batch[K, V]) init() {
	if b.loader == nil {
		b.cache = dataloader.NewCache[K, V]()
		b.loader = dataloader.NewBatchedLoader(b.run, dataloader.WithWait[K, V](b.wait), dataloader.WithCache(b.cache))
	}
}

// run implements dataloader.BatchFunc.
func (b *batch[K, V]) run(ctx context.Context, keys []K) []*dataloader.Result[V] {
	defer func() {
		if failure := recover(); failure != nil {
			stats.Of(ctx).AddPanic()
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
	b.cache, b.loader = nil, nil
}

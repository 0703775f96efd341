package loader

import (
	"context"
	"sync"
	"time"

	"github.com/graph-gophers/dataloader/v7"

	"library-catalogue/task"
)

// batch loads values by key and caches them, so that each key is fetched once.
type batch[K comparable, V any] struct {
	// fetch is the batch function: it reads the values of distinct keys. A missing key has the zero
	// value.
	fetch func(ctx context.Context, keys []K) (map[K]V, error)
	wait  time.Duration

	mu     sync.Mutex // held while a level is fetched, so that waiting calls find their keys in values
	values map[K]V    // values of fetched levels

	// Keys that were loaded singly; nil before the first. The values are untyped, because dataloader's
	// methods are compiled again for each type of values.
	cache  dataloader.Cache[K, any]
	loader *dataloader.Loader[K, any]
}

// load returns the value of key. It is fetched together with other keys requested within wait.
func (b *batch[K, V]) load(ctx context.Context, key K) (V, error) {
	b.mu.Lock()
	if value, ok := b.values[key]; ok {
		b.mu.Unlock()
		return value, nil
	}
	if b.loader == nil {
		b.cache = dataloader.NewCache[K, any]()
		b.loader = dataloader.NewBatchedLoader(b.run, dataloader.WithWait[K, any](b.wait),
			dataloader.WithCache(b.cache))
	}
	thunk := b.loader.Load(ctx, key)
	b.mu.Unlock()
	return b.resolve(ctx, key, thunk)
}

// loadMany returns the values of keys in their order. It fetches missing ones immediately, because
// no other keys will follow.
func (b *batch[K, V]) loadMany(ctx context.Context, keys []K) ([]V, error) {
	if err := b.fetchLevel(ctx, keys); err != nil {
		return nil, err
	}
	values := make([]V, len(keys))
	for i, key := range keys {
		var err error
		if values[i], err = b.load(ctx, key); err != nil {
			return nil, err
		}
	}
	return values, nil
}

// fetchLevel fetches those keys that were not requested before.
func (b *batch[K, V]) fetchLevel(ctx context.Context, keys []K) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var missing []K
	distinct := make(map[K]struct{}, len(keys))
	for _, key := range keys {
		if _, ok := distinct[key]; !ok && !b.requested(ctx, key) {
			distinct[key] = struct{}{}
			missing = append(missing, key)
		}
	}
	if missing == nil {
		return nil
	}
	values, err := b.fetch(ctx, missing)
	if err != nil {
		return err
	}
	if b.values == nil {
		b.values = values
	}
	for _, key := range missing {
		b.values[key] = values[key]
	}
	return nil
}

// has reports whether key was requested.
func (b *batch[K, V]) has(ctx context.Context, key K) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.requested(ctx, key)
}

func (b *batch[K, V]) requested(ctx context.Context, key K) bool {
	_, ok := b.values[key]
	if !ok && b.cache != nil {
		_, ok = b.cache.Get(ctx, key)
	}
	return ok
}

func (b *batch[K, V]) run(ctx context.Context, keys []K) []*dataloader.Result[any] {
	var values map[K]V
	err := task.Run(ctx, func() (err error) {
		values, err = b.fetch(ctx, keys)
		return err
	})
	results := make([]*dataloader.Result[any], len(keys))
	for i, key := range keys {
		results[i] = &dataloader.Result[any]{Data: values[key], Error: err}
	}
	return results
}

// resolve waits for a value. It removes a failed key, so that it can be loaded again.
func (b *batch[K, V]) resolve(ctx context.Context, key K, thunk dataloader.Thunk[any]) (V, error) {
	loaded, err := thunk()
	if err != nil {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.cache != nil {
			b.cache.Delete(ctx, key)
		}
	}
	value, _ := loaded.(V) // the zero value after an error
	return value, err
}

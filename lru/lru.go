// Package lru has a bounded cache that evicts the least recently used entries.
package lru

import "sync"

// Cache holds entries up to a total weight. It is safe for concurrent use.
type Cache[K comparable, V any] struct {
	maxWeight int
	weigh     func(K, V) int

	mu      sync.Mutex
	weight  int
	entries map[K]*entry[K, V]
	ring    entry[K, V] // ring.next is the entry used last, ring.previous the one to evict next
}

type entry[K comparable, V any] struct {
	previous, next *entry[K, V]
	key            K
	value          V
	weight         int
}

// New returns an empty cache. weigh returns the weight of an entry in the unit of maxWeight.
func New[K comparable, V any](maxWeight int, weigh func(K, V) int) *Cache[K, V] {
	c := &Cache[K, V]{maxWeight: maxWeight, weigh: weigh, entries: map[K]*entry[K, V]{}}
	c.ring.previous, c.ring.next = &c.ring, &c.ring
	return c
}

// Get returns the value of a key, and false if there is none.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[key]
	if e == nil {
		return value, false
	}
	c.use(e)
	return e.value, true
}

// Set stores the value of a key. It does not store an entry heavier than the cache.
func (c *Cache[K, V]) Set(key K, value V) {
	weight := c.weigh(key, value)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(c.entries[key])
	c.add(&entry[K, V]{key: key, value: value, weight: weight})
}

// GetOrSet returns the value of a key. If there is none, it stores and returns the given one.
func (c *Cache[K, V]) GetOrSet(key K, value V) V {
	weight := c.weigh(key, value)
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.entries[key]; e != nil {
		c.use(e)
		return e.value
	}
	c.add(&entry[K, V]{key: key, value: value, weight: weight})
	return value
}

// Delete removes a key.
func (c *Cache[K, V]) Delete(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(c.entries[key])
}

// Weight returns the total weight of the entries.
func (c *Cache[K, V]) Weight() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.weight
}

// Len returns the number of entries.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.entries)
}

func (c *Cache[K, V]) add(e *entry[K, V]) {
	if e.weight > c.maxWeight {
		return
	}
	c.entries[e.key] = e
	c.weight += e.weight
	c.link(e)
	for c.weight > c.maxWeight {
		c.remove(c.ring.previous)
	}
}

func (c *Cache[K, V]) remove(e *entry[K, V]) {
	if e == nil {
		return
	}
	delete(c.entries, e.key)
	c.weight -= e.weight
	e.unlink()
}

func (c *Cache[K, V]) use(e *entry[K, V]) {
	e.unlink()
	c.link(e)
}

// link makes e the entry used last.
func (c *Cache[K, V]) link(e *entry[K, V]) {
	e.previous, e.next = &c.ring, c.ring.next
	e.previous.next, e.next.previous = e, e
}

func (e *entry[K, V]) unlink() { e.previous.next, e.next.previous = e.next, e.previous }

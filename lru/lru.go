// Package lru has a bounded cache that evicts the least recently used entries.
package lru

import "sync"

// Cache holds entries up to a total weight. It is safe for concurrent use. It is an interface, because a
// package compiles the methods of each generic struct that a type it uses contains.
type Cache[K comparable, V any] interface {
	// Get returns the value of a key, and false if there is none.
	Get(key K) (value V, ok bool)
	// Set stores the value of a key. It does not store an entry heavier than the cache.
	Set(key K, value V)
	// GetOrSet returns the value of a key. If there is none, it stores and returns the given one.
	GetOrSet(key K, value V) V
	// Delete removes a key.
	Delete(key K)
	// Weight returns the total weight of the entries.
	Weight() int
	// Len returns the number of entries.
	Len() int
}

type cache[K comparable, V any] struct {
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
func New[K comparable, V any](maxWeight int, weigh func(K, V) int) Cache[K, V] {
	c := &cache[K, V]{maxWeight: maxWeight, weigh: weigh, entries: map[K]*entry[K, V]{}}
	c.ring.previous, c.ring.next = &c.ring, &c.ring
	return c
}

func (c *cache[K, V]) Get(key K) (value V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.entries[key]
	if e == nil {
		return value, false
	}
	c.use(e)
	return e.value, true
}

func (c *cache[K, V]) Set(key K, value V) {
	weight := c.weigh(key, value)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(c.entries[key])
	c.add(&entry[K, V]{key: key, value: value, weight: weight})
}

func (c *cache[K, V]) GetOrSet(key K, value V) V {
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

func (c *cache[K, V]) Delete(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.remove(c.entries[key])
}

func (c *cache[K, V]) Weight() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.weight
}

func (c *cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.entries)
}

func (c *cache[K, V]) add(e *entry[K, V]) {
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

func (c *cache[K, V]) remove(e *entry[K, V]) {
	if e == nil {
		return
	}
	delete(c.entries, e.key)
	c.weight -= e.weight
	e.unlink()
}

func (c *cache[K, V]) use(e *entry[K, V]) {
	e.unlink()
	c.link(e)
}

// link makes e the entry used last.
func (c *cache[K, V]) link(e *entry[K, V]) {
	e.previous, e.next = &c.ring, c.ring.next
	e.previous.next, e.next.previous = e, e
}

func (e *entry[K, V]) unlink() { e.previous.next, e.next.previous = e.next, e.previous }

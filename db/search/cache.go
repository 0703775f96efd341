package search

import (
	"sync"

	"library-catalogue/db/query"
)

// Cache stores the searches of a Snapshot by table and text, so that their words are looked up
// once.
type Cache struct {
	mu       sync.Mutex
	searches map[cacheKey]func() (*Search, error)
}

type cacheKey struct {
	table *query.Table
	text  string
}

// Get returns a cached search, or the result of lookUp. Concurrent calls share one look-up.
func (c *Cache) Get(t *query.Table, text string, lookUp func() (*Search, error)) (*Search, error) {
	key := cacheKey{t, text}
	c.mu.Lock()
	if c.searches == nil {
		c.searches = map[cacheKey]func() (*Search, error){}
	}
	cached := c.searches[key]
	if cached == nil {
		cached = sync.OnceValues(lookUp)
		c.searches[key] = cached
	}
	c.mu.Unlock()
	return cached()
}

package search

import (
	"sync"

	"library-catalogue/db/query"
)

// Cache stores the searches of a Snapshot by table and text, so that their words are looked up
// once.
type Cache struct {
	searches sync.Map // of func() (*Search, error)
}

type cacheKey struct {
	table *query.Table
	text  string
}

// Get returns a cached search, or the result of lookUp. Concurrent calls share one look-up.
func (c *Cache) Get(t *query.Table, text string, lookUp func() (*Search, error)) (*Search, error) {
	cached, _ := c.searches.LoadOrStore(cacheKey{t, text}, sync.OnceValues(lookUp))
	return cached.(func() (*Search, error))()
}

package search

import (
	"sync"

	"library-catalogue/db/query"
)

// Cache has the searches of a Snapshot, by table and text: their words are looked up
// once for all that is read of what they find.
type Cache struct {
	searches sync.Map // of func() (*Search, error)
}

type cacheKey struct {
	table *query.Table
	text  string
}

// Get returns the search of a text, which lookUp returns where it is not cached. Calls
// at the same time share one.
func (c *Cache) Get(t *query.Table, text string, lookUp func() (*Search, error)) (*Search, error) {
	cached, _ := c.searches.LoadOrStore(cacheKey{t, text}, sync.OnceValues(lookUp))
	return cached.(func() (*Search, error))()
}

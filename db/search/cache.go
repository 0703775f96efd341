package search

import (
	"context"
	"sync"

	"library-catalogue/db/query"
)

// Cache has the searches of a request, by table and text: their words are looked up
// once for all that is read of what they find.
type Cache struct {
	searches sync.Map // of func() (*Search, error)
}

type cacheKey struct {
	table *query.Table
	text  string
}

// CacheKey is the key of a context's *Cache.
type CacheKey struct{}

// CacheOf returns the cache of a context, or nil.
func CacheOf(ctx context.Context) *Cache {
	c, _ := ctx.Value(CacheKey{}).(*Cache)
	return c
}

// Get returns the search of a text, which lookUp returns where it is not cached. Calls
// at the same time share one. A nil Cache has none.
func (c *Cache) Get(t *query.Table, text string, lookUp func() (*Search, error)) (*Search, error) {
	if c == nil {
		return lookUp()
	}
	cached, _ := c.searches.LoadOrStore(cacheKey{t, text}, sync.OnceValues(lookUp))
	return cached.(func() (*Search, error))()
}

// Reset forgets all searches. It follows a write of the request.
func (c *Cache) Reset() {
	if c != nil {
		c.searches.Clear()
	}
}

package db

import (
	"context"
	"sync"

	"github.com/jmoiron/sqlx"

	"library-catalogue/db/query"
	"library-catalogue/db/search"
)

// Searches are those of a request, by table and text: their words are looked up
// once for all that is read of what they find.
type Searches struct {
	mu    sync.Mutex
	known map[[2]string]func() (*search.Search, error)
}

// SearchesKey is the key of a context's *Searches. Without it each search is looked
// up by itself.
type SearchesKey struct{}

// ForgetSearches follows a write of the request.
func ForgetSearches(ctx context.Context) {
	if of, ok := ctx.Value(SearchesKey{}).(*Searches); ok {
		of.mu.Lock()
		defer of.mu.Unlock()
		of.known = nil
	}
}

// newSearch reads the text of a search of a table.
func (s *Store) newSearch(ctx context.Context, t *query.Table, text string) (*search.Search, error) {
	lookUp := func() (*search.Search, error) {
		return search.New(ctx, s.dialect, t, text, manyFound, func(ctx context.Context, dest any, text string, args ...any) error {
			return s.run(ctx, false, func(h handle) error { return sqlx.SelectContext(ctx, unprepared(h), dest, text, args...) })
		})
	}
	of, ok := ctx.Value(SearchesKey{}).(*Searches)
	if !ok || Writing(ctx) {
		return lookUp()
	}
	of.mu.Lock()
	key := [2]string{t.Name, text}
	if of.known == nil {
		of.known = map[[2]string]func() (*search.Search, error){}
	}
	if of.known[key] == nil {
		of.known[key] = sync.OnceValues(lookUp)
	}
	known := of.known[key]
	of.mu.Unlock()
	return known()
}

// manyFound is search.Many, but in tests.
var manyFound = search.Many

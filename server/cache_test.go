package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/99designs/gqlgen/graphql"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

// readPages asks for the page count of book 1, by one endpoint or the other, and
// reports whether the answer came from the cache.
func readPages(t testing.TB, handler http.Handler, rest bool) (pages int, cached bool) {
	request := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(`{"query":"{ book(id: 1) { pages } }"}`))
	request.Header.Set("Content-Type", "application/json")
	if rest {
		request = httptest.NewRequest(http.MethodGet, "/api/books/1", nil)
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	var body struct {
		Data struct {
			Pages int                 `json:"pages"`
			Book  struct{ Pages int } `json:"book"`
		} `json:"data"`
	}
	if err := json.Unmarshal(answer.Body.Bytes(), &body); err != nil || answer.Code != http.StatusOK {
		t.Errorf("status %d, %v: %s", answer.Code, err, answer.Body)
	}
	return max(body.Data.Pages, body.Data.Book.Pages), strings.HasSuffix(answer.Header().Get("Server-Timing"), "cache")
}

// staleReads counts up the pages of a book through one store, and reads them
// through a server on another store, so many times. It gives how many reads saw
// less than what was committed before they began, and how many came from the
// cache.
func staleReads(t *testing.T, url string, reads int64, catalogue func(*db.Store) server.Catalogue) (stale, hits int64) {
	t.Helper()
	writer := catalogtest.Open(t, url)
	servertest.StoreBook(t, writer)
	handler := servertest.CachedHandler(t, catalogue(catalogtest.Open(t, url)))

	var committed, begun, late, cached atomic.Int64
	committed.Store(1)
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for n := begun.Add(1); n <= reads; n = begun.Add(1) {
				least := committed.Load()
				pages, hit := readPages(t, handler, n%2 == 0)
				if int64(pages) < least {
					late.Add(1)
				}
				if hit {
					cached.Add(1)
				}
			}
		})
	}
	for pages := 2; begun.Load() < reads; pages++ {
		patch := &model.BookPatch{Pages: graphql.OmittableOf(&pages)}
		if _, err := writer.Books.Update(t.Context(), 1, patch, nil); err != nil {
			t.Error(err)
			break
		}
		committed.Store(int64(pages))
		for next := begun.Load() + 40; begun.Load() < min(next, reads); { // so that some answers are kept
			runtime.Gosched()
		}
	}
	readers.Wait()
	return late.Load(), cached.Load()
}

// TestCacheIsNeverStale looks for a read that saw less than the last commit
// before it, by another process.
func TestCacheIsNeverStale(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		stale, hits := staleReads(t, url, int64(dbtest.Runs(100_000)), func(s *db.Store) server.Catalogue { return resolvers.New(s) })
		if stale != 0 {
			t.Errorf("%d stale reads", stale)
		}
		if hits == 0 {
			t.Error("no read came from the cache: the test says nothing")
		}
	})
}

// frozen is a catalogue that believes that nothing ever changes.
type frozen struct{ *resolvers.Resolver }

func (frozen) Revision(context.Context) (model.Revision, error) { return model.Revision{}, nil }

func (f frozen) Read(ctx context.Context, known model.Revision, replicas model.Replicas, fn func(context.Context) (bool, error)) (int64, error) {
	revision, err := f.Resolver.Read(ctx, known, replicas, fn)
	return min(revision, 0), err
}

// TestStaleReadsAreFound shows that the test above would find a cache that does
// not ask for the revision.
func TestStaleReadsAreFound(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		stale, _ := staleReads(t, url, 20_000, func(s *db.Store) server.Catalogue { return frozen{resolvers.New(s)} })
		if stale == 0 {
			t.Error("no stale read was found")
		}
	})
}

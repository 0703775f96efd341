package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
	"library-catalogue/server/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// TestWrittenAndDeleted deletes the genre of a book, and the book with it, right after
// the book was written and before its answer is read.
func TestWrittenAndDeleted(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c, program := servertest.Serve(t, url), catalogtest.Open(t, url)
		c.Shelves(t)
		var mu sync.Mutex // the service counts its rows at any time
		genre, write, written := model.ID(0), "", false
		c.Store.Observe(func(_ context.Context, s stats.Statement) {
			mu.Lock()
			defer mu.Unlock()
			if !written && write != "" && strings.HasPrefix(s.Text, write) {
				written = true
				if err := program.Genres.Delete(t.Context(), genre, nil, model.Cascade); err != nil {
					t.Error(err)
				}
			}
		})
		for _, request := range []struct {
			method, target, write string
			genre                 model.ID
		}{{http.MethodPost, "/api/books", "INSERT INTO books", 1}, {http.MethodPut, "/api/books/3", "COMMIT", 2}} {
			mu.Lock()
			genre, write, written = request.genre, request.write, false
			mu.Unlock()
			body := fmt.Sprintf(`{"name":"Momo","pages":304,"published_at":"1973-01-01","author":"Michael Ende","price":9.99,"genre_id":%d}`, request.genre)
			w := c.Do(request.method, request.target, body)
			if w.Code != http.StatusConflict || !strings.Contains(w.Body.String(), "Book was stored, then deleted by a concurrent request") || !written {
				t.Errorf("%s %s: status %d: %s", request.method, request.target, w.Code, w.Body)
			}
		}
	})
}

package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
	"library-catalogue/rest"
)

// TestPageIsOneSnapshot lets another program write after every statement of a REST
// page but the first ones: the rows, X-Total-Count and the ETag are of one moment.
func TestPageIsOneSnapshot(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c, program := serve(t, url), migrated(t, url)
		c.shelves(t)
		books, booksAt := 4, map[string]int{} // by ETag
		moment := func() {
			revision, err := program.Revision(t.Context())
			if err != nil {
				t.Error(err)
			}
			booksAt[rest.RevisionTag(revision.Catalogue)] = books
		}
		moment()
		type ofPage struct{} // the key of a value that the contexts of pages alone have
		quiet, statements := 0, 0
		c.store.Observe(func(ctx context.Context, _ stats.Statement) {
			if ctx.Value(ofPage{}) == nil {
				return
			}
			if statements++; statements <= quiet {
				return
			}
			_, err := program.CreateBook(t.Context(), &model.CreateBookInput{
				Name: "Meanwhile", Pages: 1, PublishedAt: model.Date{Year: 2000, Month: 1, Day: 1}, Author: "A", GenreID: 1,
			})
			if err != nil {
				t.Error(err)
			}
			books++
			moment()
		})
		for ; ; quiet++ {
			statements = 0
			w := c.doContext(context.WithValue(t.Context(), ofPage{}, true), http.MethodGet, "/api/books?per_page=1000", "")
			var page struct{ Data []json.RawMessage }
			if err := json.Unmarshal(w.Body.Bytes(), &page); err != nil || w.Code != http.StatusOK {
				t.Fatalf("status %d, %v: %s", w.Code, err, w.Body)
			}
			tag, total := w.Header().Get("ETag"), w.Header().Get("X-Total-Count")
			if at, known := booksAt[tag]; !known || len(page.Data) != at || total != strconv.Itoa(at) {
				t.Errorf("writes after statement %d: %d rows, X-Total-Count %s, and at %s there were %d", quiet, len(page.Data), total, tag, at)
			}
			if statements <= quiet {
				break // nothing was written
			}
		}
		if quiet < 2 {
			t.Errorf("a page has %d statements: the test says nothing", quiet)
		}
	})
}

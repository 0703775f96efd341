package server_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
)

// TestPageNumbers reads pages by number again and again: in the end each is one
// statement that begins near the page, and has the rows that the whole list has
// there. After a change, which moves all pages, none is out of date.
func TestPageNumbers(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		c := serve(t, url)
		fill(t, url)
		var mu sync.Mutex
		var statements []string
		c.store.Observe(func(_ context.Context, statement stats.Statement) {
			mu.Lock()
			defer mu.Unlock()
			statements = append(statements, statement.Text)
		})
		rows := func(query string) (rows []json.RawMessage, total string, text string) {
			t.Helper()
			mu.Lock()
			statements = nil
			mu.Unlock()
			w := c.do(http.MethodGet, "/api/books?"+query, "")
			var list struct{ Data []json.RawMessage }
			if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || w.Code != http.StatusOK {
				t.Fatalf("%s: status %d, %v: %.500s", query, w.Code, err, w.Body)
			}
			mu.Lock()
			defer mu.Unlock()
			return list.Data, w.Header().Get("X-Total-Count"), strings.Join(statements, "\n")
		}
		for _, change := range []string{"", "DELETE FROM books WHERE id = 7", "UPDATE books SET price_cents = 1000000 WHERE id = 8"} {
			if change != "" {
				execSQL(t, url, change)
			}
			for _, list := range []string{"", "sort=name", "sort=-price,author", "sort=genre_name", "price_min=0.02", "sort=-published_at&price_min=0.02&published_to=2001-01-01"} {
				all, _, _ := rows(list)
				page := func(number, size int) (text string) {
					t.Helper()
					got, total, text := rows(fmt.Sprintf("%s&per_page=%d&page=%d", list, size, number))
					from := min((number-1)*size, len(all))
					want := all[from:min(from+size, len(all))]
					if total != strconv.Itoa(len(all)) || !slices.EqualFunc(got, want, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
						t.Errorf("after %q, %s, page %d of %d: X-Total-Count %s of %d, %d rows, want %d: %.200s\nwant %.200s", change, list, number, size, total, len(all), len(got), len(want), got, want)
					}
					return text
				}
				for attempt := 0; ; attempt++ { // positions are read beside the requests
					text := page(12, 100)
					if !strings.Contains(text, "OFFSET") && !strings.Contains(text, "FROM revision), (SELECT count(*)") {
						break
					}
					if attempt == 2000 {
						t.Fatalf("%s: rows are still counted or passed over:\n%s", list, text)
					}
				}
				for _, number := range []int{1, 2, 11, 12, 13, 14} { // in between, and past the end
					page(number, 97)
				}
			}
		}
	})
}

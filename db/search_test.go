package db_test

import (
	"bytes"
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/graph/model"
)

var update = flag.Bool("update", false, "write the golden files anew")

// fillShelf stores the real books of testdata/shelf.csv, with ids from first on.
func fillShelf(t *testing.T, s *db.Store) (first model.ID) {
	t.Helper()
	rows := must[[][]string](t)(csv.NewReader(bytes.NewReader(must[[]byte](t)(os.ReadFile("testdata/shelf.csv")))).ReadAll())
	home := newShelf(t, s)
	var books []*model.Book
	for _, row := range rows[1:] {
		books = append(books, &model.Book{
			Name: row[0], Author: row[1], Description: &row[2], Pages: 1, PublishedAt: model.Date{Year: 2000, Month: 1, Day: 1}, GenreID: home.genre.ID,
		})
	}
	if err := s.InsertBooks(t.Context(), books); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteBook(t.Context(), home.book.ID, nil); err != nil {
		t.Fatal(err)
	}
	return home.book.ID + 1
}

// searchPage is the first page of a search, as a client asks for it.
func searchPage(t *testing.T, typename, text string, orderBy ...*model.OrderBy) *model.Page {
	t.Helper()
	return must[*model.Page](t)(model.PageArgs{Search: &text, OrderBy: orderBy}.Page(typename))
}

// foundBooks are the names of the books that a search finds, the best first.
func foundBooks(t *testing.T, s *db.Store, text string) []string {
	t.Helper()
	names := []string{}
	for _, b := range must[[]*model.Book](t)(s.Books(t.Context(), searchPage(t, "Book", text))) {
		names = append(names, b.Name)
	}
	return names
}

// TestSearchGolden holds both databases to the same books in the same order.
func TestSearchGolden(t *testing.T) {
	queries := strings.Split(strings.TrimSpace(string(must[[]byte](t)(os.ReadFile("testdata/queries.txt")))), "\n")
	golden := filepath.Join("testdata", "search.golden")
	dbtest.Each(t, func(t *testing.T, url string) {
		s := migrated(t, url)
		first := fillShelf(t, s)
		var got strings.Builder
		for _, text := range queries {
			page := searchPage(t, "Book", text)
			fmt.Fprintf(&got, "%s: %d\n", text, must[int](t)(s.CountBooks(t.Context(), page.Match)))
			page.Limit = 10
			for _, b := range must[[]*model.Book](t)(s.Books(t.Context(), page)) {
				fmt.Fprintf(&got, "  %d %s / %s\n", b.ID-first+1, b.Name, b.Author)
			}
		}
		if *update {
			if err := os.WriteFile(golden, []byte(got.String()), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(string(must[[]byte](t)(os.ReadFile(golden))), got.String()); diff != "" {
			t.Errorf("what the searches find (-want +got):\n%s", diff)
		}
	})
}

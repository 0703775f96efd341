package serve

import (
	"context"
	"encoding/csv"
	"strings"
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
)

func TestSample(t *testing.T) {
	t.Parallel()
	store, err := db.Open(t.Context(), dbtest.SQLite(t), db.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	catalogue := resolvers.New(store)
	for range 2 { // the second adds nothing
		if err := importSample(t.Context(), catalogue); err != nil {
			t.Fatal(err)
		}
	}
	count := 0
	if err := catalogue.StreamBooks(t.Context(), model.PageArgs{}, 500, func(_ context.Context, books []*model.Book) error {
		count += len(books)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(strings.NewReader(sampleCSV)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if want := len(lines) - 1; count != want {
		t.Errorf("%d books, not %d", count, want)
	}
}

package serve

import (
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
)

// TestSeedSample wants a catalogue that was emptied to stay empty.
func TestSeedSample(t *testing.T) {
	t.Parallel()
	store, err := db.Open(t.Context(), dbtest.SQLite(t), db.Options{})
	must(t, err)
	defer store.Close()
	must(t, store.Migrate(t.Context()))
	catalogue := resolvers.New(store)
	for _, want := range []int{300, 0} {
		if err := seedSample(t.Context(), store, catalogue); err != nil {
			t.Fatal(err)
		}
		if n, err := store.Unchecked(t.Context()).Books.Count(t.Context(), model.Selection{}); n != want || err != nil {
			t.Errorf("%d books, not %d: %v", n, want, err)
		}
		ctx := catalogue.WithSnapshot(model.WithCaller(t.Context(), model.Caller{}))
		if _, err := catalogue.Mutation().DeleteBooks(ctx, model.DeleteBooksInput{Filter: model.Filter{"pages": map[string]any{"gt": 0}}, AtMost: 1000}); err != nil {
			t.Fatal(err)
		}
	}
}

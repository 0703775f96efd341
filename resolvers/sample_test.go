package resolvers_test

import (
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers"
)

// TestSample loads the sample, which adds nothing to itself and nothing to other books.
func TestSample(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		r := resolvers.New(migrated(t, url))
		ctx := r.WithSnapshot(model.WithCaller(t.Context(), model.Caller{Subject: "reader"}))
		payload, err := r.Mutation().LoadSample(ctx, model.LoadSampleInput{})
		if err != nil || payload.Count != 300 {
			t.Fatalf("%+v, %v", payload, err)
		}
		if n, err := r.ImportSample(ctx); err != nil || n != 0 {
			t.Errorf("the same again stores %d books: %v", n, err)
		}
		if _, err := r.Mutation().LoadSample(ctx, model.LoadSampleInput{}); !model.IsCode(err, model.Conflict) {
			t.Errorf("where there are books: %v", err)
		}
	})
}

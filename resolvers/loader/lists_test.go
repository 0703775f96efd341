package loader_test

import (
	"context"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers/loader"
)

// TestReadBooks asks for a page by its number again and again: while the positions of the
// list are read, one request passes over the rows, and another waits and passes over few.
func TestReadBooks(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		const offset = 1_250
		store := catalogtest.Open(t, url)
		books := make([]*model.Book, offset+10)
		for i := range books {
			books[i] = &model.Book{Name: "B", Pages: 1, PublishedAt: model.Date{Year: 2000, Month: 1, Day: 1}, Author: "A", GenreID: 1}
		}
		err := store.Write(t.Context(), func(ctx context.Context) error {
			if _, err := store.CreateCategory(ctx, &model.CreateCategoryInput{Name: "C"}); err != nil {
				return err
			}
			if _, err := store.CreateGenre(ctx, &model.CreateGenreInput{Name: "G", CategoryID: 1}); err != nil {
				return err
			}
			return store.InsertBooks(ctx, books)
		})
		if err != nil {
			t.Fatal(err)
		}
		cache := loader.NewReferenceCache(store)
		skipped, at := offset, offset
		args := model.PageArgs{Offset: &at}
		page, err := args.Page("Book")
		if err != nil {
			t.Fatal(err)
		}
		// ask returns how many rows were passed over, and has meanwhile run beside it.
		ask := func(meanwhile func()) int {
			ctx := loader.With(t.Context(), store, cache, loader.Wait)
			rows, err := loader.From(ctx).ReadBooks(ctx, page, func(ctx context.Context, p *model.Page) ([]*model.Book, error) {
				meanwhile()
				skipped = p.Offset
				return store.Books(ctx, p)
			})
			if err != nil || rows[0].ID != books[offset].ID {
				t.Fatalf("%v, %v", rows, err)
			}
			return skipped
		}
		nothing := func() {}
		for range 5 {
			if n := ask(nothing); n != offset {
				t.Errorf("one of the first passed over %d rows", n)
			}
		}
		ask(func() {
			if n := ask(nothing); n >= 100 {
				t.Errorf("one beside the sixth passed over %d rows", n)
			}
		})
	})
}

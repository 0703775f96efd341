package loader_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers/loader"
)

// TestPage has many ask for a page by its number again and again: in the end all pass
// over few rows.
func TestPage(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		const offset = 1_250
		store := catalogtest.Open(t, url)
		books := make([]*model.Book, offset+10)
		for i := range books {
			books[i] = &model.Book{Name: "B", Pages: 1, PublishedAt: model.Date{Year: 2000, Month: 1, Day: 1}, Author: "A", GenreID: 1}
		}
		err := store.Write(t.Context(), func(ctx context.Context) error {
			if _, err := store.Categories.Create(ctx, &model.CreateCategoryInput{Name: "C"}); err != nil {
				return err
			}
			if _, err := store.Genres.Create(ctx, &model.CreateGenreInput{Name: "G", CategoryID: 1}); err != nil {
				return err
			}
			return store.Books.Insert(ctx, books)
		})
		if err != nil {
			t.Fatal(err)
		}
		cache := loader.NewCache(store)
		at := offset
		args := model.PageArgs{Offset: &at}
		page, err := args.Page("Book")
		must(t, err)
		var far atomic.Int64
		ask := func() {
			ctx := loader.With(t.Context(), store.Unchecked(t.Context()), cache, loader.Wait)
			rows, err := loader.From(ctx).PageOfBooks(ctx, page, func(ctx context.Context, p *model.Page) ([]*model.Book, error) {
				if p.Offset >= 100 {
					far.Add(1)
				}
				return store.Unchecked(ctx).Books.Page(ctx, p)
			})
			if err != nil || rows[0].ID != books[offset].ID {
				t.Errorf("%v, %v", rows, err)
			}
		}
		for attempt := 0; ; attempt++ {
			far.Store(0)
			var asking sync.WaitGroup
			for range 20 {
				asking.Go(ask)
			}
			asking.Wait()
			if far.Load() == 0 {
				break
			}
			if attempt == 1000 {
				t.Fatal("rows are still passed over")
			}
		}
	})
}

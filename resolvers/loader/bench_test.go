package loader_test

import (
	"context"
	"fmt"
	"testing"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers/loader"
)

// BenchmarkLoaders asks for 100 of 400 genres in one request, as the books of a
// page do: from the reference cache and, where that is empty, from the
// database.
func BenchmarkLoaders(b *testing.B) {
	one := func(ctx context.Context, ids []model.ID) (err error) {
		l := loader.From(ctx)
		books := make([]*model.Book, len(ids))
		for i, id := range ids {
			books[i] = &model.Book{GenreID: id}
		}
		l.PrimeBooks(books)
		for _, id := range ids {
			if _, err = l.Genres.Load(ctx, id); err != nil {
				return err
			}
		}
		return nil
	}
	all := func(ctx context.Context, ids []model.ID) error {
		_, err := loader.From(ctx).Genres.LoadMany(ctx, ids)
		return err
	}
	for _, engine := range []struct {
		name string
		url  func(testing.TB) string
	}{{"sqlite", catalogtest.SQLite}, {"postgres", catalogtest.Postgres}} {
		b.Run(engine.name, func(b *testing.B) {
			store := manyGenres(b, engine.url(b), 400)
			for _, way := range []struct {
				name string
				load func(context.Context, []model.ID) error
			}{{"one by one", one}, {"a level", all}} {
				for _, cached := range []bool{true, false} {
					b.Run(fmt.Sprintf("%s/cached=%t", way.name, cached), func(b *testing.B) {
						b.ReportAllocs()
						ctx, stats := stats.With(b.Context())
						cache := loader.NewCache(store)
						n, before := 0, 0
						request := func() {
							if !cached {
								cache = loader.NewCache(store)
							}
							ids := make([]model.ID, 100)
							for i := range ids {
								ids[i] = model.ID((n+i*7)%400 + 1)
							}
							if err := way.load(loader.With(ctx, store.Unchecked(ctx), cache, loader.Wait), ids); err != nil {
								b.Fatal(err)
							}
						}
						for range 3 { // the second miss fills the cache
							request()
							cache.Settle()
						}
						before = stats.Statements()
						for b.Loop() {
							request()
							n++
						}
						b.ReportMetric(float64(stats.Statements()-before)/float64(n), "stmts/op")
					})
				}
			}
		})
	}
}

func manyGenres(b *testing.B, url string, n int) *db.Store {
	b.Helper()
	store := catalogtest.Open(b, url)
	if _, err := store.Categories.Create(b.Context(), &model.CreateCategoryInput{Name: "Category"}); err != nil {
		b.Fatal(err)
	}
	genres := make([]*model.Genre, n)
	for i := range genres {
		genres[i] = &model.Genre{Name: fmt.Sprint("Genre ", i), CategoryID: 1}
	}
	if err := store.Genres.Insert(b.Context(), genres); err != nil {
		b.Fatal(err)
	}
	return store
}

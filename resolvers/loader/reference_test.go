package loader_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers/loader"
)

// TestReferenceCache reads a genre in request after request, while another store on the
// same database changes it: nobody may see an old one, and while nothing
// changes no statement reads it.
func TestReferenceCache(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		open := func() *db.Store {
			store := catalogtest.Open(t, url)
			return store
		}
		here, there := open(), open()
		if _, err := there.Categories.Create(t.Context(), &model.CreateCategoryInput{Name: "C"}); err != nil {
			t.Fatal(err)
		}
		if _, err := there.Genres.Create(t.Context(), &model.CreateGenreInput{Name: "0", CategoryID: 1}); err != nil {
			t.Fatal(err)
		}
		cache := loader.NewCache(here)
		read := func() (name string, statements int) {
			t.Helper()
			ctx, stats := stats.With(t.Context())
			ctx = loader.With(ctx, here.Unchecked(ctx), cache, loader.Wait)
			genres, err := loader.From(ctx).Genres.LoadMany(ctx, []model.ID{1})
			if err != nil {
				t.Fatal(err)
			}
			cache.Settle() // what this request caused to be read is there for the next
			return genres[0].Name, stats.Statements()
		}
		rename := func(ctx context.Context, name string) {
			t.Helper()
			if _, err := there.Genres.Update(ctx, 1, &model.GenrePatch{Name: graphql.OmittableOf(&name)}, nil); err != nil {
				t.Fatal(err)
			}
		}
		for _, want := range []string{"0", "1", "2"} {
			if want != "0" {
				rename(t.Context(), want)
			}
			for range 4 {
				if got, _ := read(); got != want {
					t.Fatalf("read %q, want %q", got, want)
				}
			}
			if _, statements := read(); statements != 0 {
				t.Errorf("%d statements; only the revision should be read", statements)
			}
		}
		// A book does not touch the cache.
		_, err := there.Books.Create(t.Context(), &model.CreateBookInput{
			Name: "B", Pages: 1, PublishedAt: model.Date{Year: 2000, Month: 1, Day: 1}, Author: "A", GenreID: 1,
		})
		must(t, err)
		if _, statements := read(); statements != 0 {
			t.Errorf("%d statements after a new book", statements)
		}

		// In a transaction that writes, what it wrote itself is read.
		var inside []*model.Genre
		err = here.Write(t.Context(), func(ctx context.Context) error {
			name := "mine"
			if _, err := here.Genres.Update(ctx, 1, &model.GenrePatch{Name: graphql.OmittableOf(&name)}, nil); err != nil {
				return err
			}
			ctx = loader.With(ctx, here.Unchecked(ctx), cache, loader.Wait)
			inside, err = loader.From(ctx).Genres.LoadMany(ctx, []model.ID{1})
			return err
		})
		must(t, err)
		if diff := cmp.Diff("mine", inside[0].Name); diff != "" {
			t.Error(diff)
		}
	})
}

// TestReferenceCacheBlocksNobody reads genres in more views than there are connections,
// each of which is held as long as its view, and beside them. To read the
// cache takes a connection too: no request that has one may wait for that.
func TestReferenceCacheBlocksNobody(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		store := catalogtest.Open(t, url)
		if _, err := store.Categories.Create(t.Context(), &model.CreateCategoryInput{Name: "C"}); err != nil {
			t.Fatal(err)
		}
		cache := loader.NewCache(store)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		for range 10 {
			genre, err := store.Genres.Create(ctx, &model.CreateGenreInput{Name: "G", CategoryID: 1}) // the cache is out of date
			if err != nil {
				t.Fatal(err)
			}
			load := func(ctx context.Context, snapshot *db.Snapshot) error {
				ctx = loader.With(ctx, snapshot, cache, loader.Wait)
				genres, err := loader.From(ctx).Genres.LoadMany(ctx, []model.ID{genre.ID})
				if err == nil && genres[0] == nil {
					return errors.New("the genre is not there")
				}
				return err
			}
			var readers errgroup.Group
			for i := range 120 {
				readers.Go(func() error {
					if i%4 == 0 {
						return load(ctx, store.Unchecked(ctx))
					}
					return store.ReadTransaction(ctx, model.NoReplica, load)
				})
			}
			must(t, readers.Wait())
		}
		cache.Settle()
	})
}

// must ends the test at an error.
func must(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

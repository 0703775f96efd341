package loader_test

import (
	"context"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"

	"library-catalogue/db"
	"library-catalogue/db/dbtest"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers/loader"
)

// TestMemory reads a genre in request after request, while another store on the
// same database changes it: nobody may see an old one, and while nothing
// changes no statement reads it.
func TestMemory(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, url string) {
		open := func() *db.Store {
			store, err := db.Open(t.Context(), url)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { store.Close() })
			if err := store.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			return store
		}
		here, there := open(), open()
		if _, err := there.CreateCategory(t.Context(), &model.CreateCategoryInput{Name: "C"}); err != nil {
			t.Fatal(err)
		}
		if _, err := there.CreateGenre(t.Context(), &model.CreateGenreInput{Name: "0", CategoryID: 1}); err != nil {
			t.Fatal(err)
		}
		memory := loader.NewMemory(here)
		read := func() (name string, statements int) {
			t.Helper()
			ctx, stats := model.WithStats(t.Context())
			ctx = loader.With(ctx, here, memory, loader.Wait)
			genres, err := loader.From(ctx).Genres.LoadAll(ctx, []model.ID{1})
			if err != nil {
				t.Fatal(err)
			}
			return genres[0].Name, stats.Statements()
		}
		rename := func(ctx context.Context, name string) {
			t.Helper()
			if _, err := there.UpdateGenre(ctx, 1, &model.GenrePatch{Name: graphql.OmittableOf(&name)}, nil); err != nil {
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
			if _, statements := read(); statements != 1 {
				t.Errorf("%d statements; only the revision should be read", statements)
			}
		}
		// A book does not touch the memory.
		_, err := there.CreateBook(t.Context(), &model.CreateBookInput{
			Name: "B", Pages: 1, PublishedAt: model.Date{Year: 2000, Month: 1, Day: 1}, Author: "A", GenreID: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, statements := read(); statements != 1 {
			t.Errorf("%d statements after a new book", statements)
		}

		// In a transaction that writes, what it wrote itself is read.
		var inside []*model.Genre
		err = here.Write(t.Context(), func(ctx context.Context) error {
			name := "mine"
			if _, err := here.UpdateGenre(ctx, 1, &model.GenrePatch{Name: graphql.OmittableOf(&name)}, nil); err != nil {
				return err
			}
			ctx = loader.With(ctx, here, memory, loader.Wait)
			inside, err = loader.From(ctx).Genres.LoadAll(ctx, []model.ID{1})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff("mine", inside[0].Name); diff != "" {
			t.Error(diff)
		}
	})
}

package db_test

import (
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

func TestCategory(t *testing.T) {
	onEach(t, func(t *testing.T, s *db.Store) {
		ctx := t.Context()
		description := "Whatever is true"
		in := &model.CreateCategoryInput{Name: strange, Description: graphql.OmittableOf(&description)}
		category := must[*model.Category](t)(s.Categories.Create(ctx, in))
		want := &model.Category{
			ID: category.ID, Version: 1, Name: in.Name, Description: &description,
			CreatedAt: category.CreatedAt, UpdatedAt: category.CreatedAt,
		}
		same := func(step string, got *model.Category) {
			t.Helper()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", step, diff)
			}
			stored := must[[]*model.Category](t)(s.Unchecked(ctx).Categories.ByID(ctx, []model.ID{got.ID}))
			if diff := cmp.Diff([]*model.Category{want}, stored); diff != "" {
				t.Errorf("%s, as stored (-want +got):\n%s", step, diff)
			}
		}
		same("created", category)

		name := "New"
		for _, change := range []struct {
			step  string
			patch *model.CategoryPatch
			apply func()
		}{
			{"name", &model.CategoryPatch{Name: graphql.OmittableOf(&name)}, func() { want.Name = name }},
			{"no description", &model.CategoryPatch{Description: graphql.OmittableOf[*string](nil)}, func() { want.Description = nil }},
		} {
			got, err := s.Categories.Update(ctx, category.ID, change.patch, &want.Version)
			if err != nil {
				t.Fatalf("%s: %v", change.step, err)
			}
			change.apply()
			want.Version++
			want.UpdatedAt = got.UpdatedAt
			same(change.step, got)
		}
		same("nothing", must[*model.Category](t)(s.Categories.Update(ctx, category.ID, &model.CategoryPatch{}, nil)))

		stale := want.Version - 1
		_, err := s.Categories.Update(ctx, category.ID, &model.CategoryPatch{Name: graphql.OmittableOf(&name)}, &stale)
		wantCode(t, err, model.Stale, "Category was changed by someone else")
		wantCode(t, s.Categories.Delete(ctx, category.ID, &stale, model.Restrict), model.Stale, "Category was changed by someone else")

		if err := s.Categories.Delete(ctx, category.ID, &want.Version, model.Restrict); err != nil {
			t.Error(err)
		}
		wantCode(t, s.Categories.Delete(ctx, category.ID, nil, model.Cascade), model.NotFound, "Category not found")
		_, err = s.Categories.Update(ctx, category.ID, &model.CategoryPatch{}, nil)
		wantCode(t, err, model.NotFound, "Category not found")
	})
}

func TestDeleteCategoryWithGenres(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		ctx := t.Context()
		home, kept := newShelf(t, s), newShelf(t, s)
		counted := func() [3]int {
			return [3]int{
				must[int](t)(s.Unchecked(ctx).Books.Count(ctx, model.Selection{})), must[int](t)(s.Unchecked(ctx).Genres.Count(ctx, model.Selection{})), must[int](t)(s.Unchecked(ctx).Categories.Count(ctx, model.Selection{})),
			}
		}
		wantCode(t, s.Categories.Delete(ctx, home.category.ID, nil, model.Restrict), model.Conflict, "Category has 1 genre")
		for range 2 {
			g := must[*model.Genre](t)(s.Genres.Create(ctx, &model.CreateGenreInput{Name: "More", CategoryID: home.category.ID}))
			addBooks(t, program, 3, g.ID)
		}
		wantCode(t, s.Categories.Delete(ctx, home.category.ID, nil, model.Restrict), model.Conflict, "Category has 3 genres")
		if got := counted(); got != [3]int{8, 4, 2} {
			t.Errorf("what was refused left %v", got)
		}
		if err := s.Categories.Delete(ctx, home.category.ID, nil, model.Cascade); err != nil {
			t.Error(err)
		}
		if got := counted(); got != [3]int{1, 1, 1} {
			t.Errorf("%v are left, want the other shelf", got)
		}
		if left := must[[]*model.Book](t)(s.Unchecked(ctx).Books.ByID(ctx, []model.ID{kept.book.ID})); len(left) != 1 {
			t.Error("the book of the other category is gone")
		}
	})
}

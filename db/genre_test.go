package db_test

import (
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/go-cmp/cmp"

	"library-catalogue/db"
	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/graph/model"
)

func TestGenre(t *testing.T) {
	onEach(t, func(t *testing.T, s *db.Store) {
		ctx := t.Context()
		home := newShelf(t, s)
		second := must[*model.Category](t)(s.Categories.Create(ctx, &model.CreateCategoryInput{Name: "Other"}))

		description := "Dragons and such"
		in := &model.CreateGenreInput{Name: strange, Description: graphql.OmittableOf(&description), CategoryID: home.category.ID}
		genre := must[*model.Genre](t)(s.Genres.Create(ctx, in))
		want := &model.Genre{
			ID: genre.ID, Version: 1, Name: in.Name, Description: &description, CategoryID: in.CategoryID,
			CreatedAt: genre.CreatedAt, UpdatedAt: genre.CreatedAt,
		}
		same := func(step string, got *model.Genre) {
			t.Helper()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", step, diff)
			}
			stored := must[[]*model.Genre](t)(s.Unchecked(ctx).Genres.ByID(ctx, []model.ID{got.ID}))
			if diff := cmp.Diff([]*model.Genre{want}, stored); diff != "" {
				t.Errorf("%s, as stored (-want +got):\n%s", step, diff)
			}
		}
		same("created", genre)

		name := "New"
		for _, change := range []struct {
			step  string
			patch *model.GenrePatch
			apply func()
		}{
			{"name", &model.GenrePatch{Name: graphql.OmittableOf(&name)}, func() { want.Name = name }},
			{"no description", &model.GenrePatch{Description: graphql.OmittableOf[*string](nil)}, func() { want.Description = nil }},
			{"category", &model.GenrePatch{CategoryID: graphql.OmittableOf(&second.ID)}, func() { want.CategoryID = second.ID }},
		} {
			got, err := s.Genres.Update(ctx, genre.ID, change.patch, &want.Version)
			if err != nil {
				t.Fatalf("%s: %v", change.step, err)
			}
			change.apply()
			want.Version++
			want.UpdatedAt = got.UpdatedAt
			same(change.step, got)
		}
		same("nothing", must[*model.Genre](t)(s.Genres.Update(ctx, genre.ID, &model.GenrePatch{}, nil)))

		stale, nowhere := want.Version-1, model.ID(1<<40)
		_, err := s.Genres.Update(ctx, genre.ID, &model.GenrePatch{Name: graphql.OmittableOf(&name)}, &stale)
		wantCode(t, err, model.Stale, "Genre was changed by someone else")
		wantCode(t, s.Genres.Delete(ctx, genre.ID, &stale, model.Cascade), model.Stale, "Genre was changed by someone else")
		_, err = s.Genres.Update(ctx, genre.ID, &model.GenrePatch{CategoryID: graphql.OmittableOf(&nowhere)}, nil)
		wantNoSuch(t, err, "category_id", "The selected category id is invalid.")
		_, err = s.Genres.Create(ctx, &model.CreateGenreInput{Name: "Lost", CategoryID: nowhere})
		wantNoSuch(t, err, "category_id", "The selected category id is invalid.")
		same("after what was refused", must[*model.Genre](t)(s.Genres.Update(ctx, genre.ID, &model.GenrePatch{}, nil)))

		if err := s.Genres.Delete(ctx, genre.ID, &want.Version, model.Restrict); err != nil {
			t.Error(err)
		}
		wantCode(t, s.Genres.Delete(ctx, genre.ID, nil, model.Cascade), model.NotFound, "Genre not found")
		_, err = s.Genres.Update(ctx, genre.ID, &model.GenrePatch{}, nil)
		wantCode(t, err, model.NotFound, "Genre not found")
	})
}

func TestDeleteGenreWithBooks(t *testing.T) {
	t.Parallel()
	catalogtest.Each(t, func(t *testing.T, url string) {
		s, program := open(t, url), other(t, url)
		ctx := t.Context()
		home := newShelf(t, s)
		second := must[*model.Genre](t)(s.Genres.Create(ctx, &model.CreateGenreInput{Name: "Other", CategoryID: home.category.ID}))
		kept := addBooks(t, program, 1, second.ID)

		for _, policy := range []model.OnChildren{model.Restrict, ""} {
			wantCode(t, s.Genres.Delete(ctx, home.genre.ID, nil, policy), model.Conflict, "Genre has 1 book")
		}
		addBooks(t, program, 11, home.genre.ID)
		wantCode(t, s.Genres.Delete(ctx, home.genre.ID, nil, model.Restrict), model.Conflict, "Genre has 12 books")
		if n := must[int](t)(s.Unchecked(ctx).Books.Count(ctx, model.Selection{})); n != 13 {
			t.Errorf("what was refused left %d books, want 13", n)
		}
		if err := s.Genres.Delete(ctx, home.genre.ID, nil, model.Cascade); err != nil {
			t.Error(err)
		}
		left := must[[]*model.Book](t)(s.Unchecked(ctx).Books.Page(ctx, &model.Page{Limit: 100}))
		if len(left) != 1 || left[0].ID != kept[0] {
			t.Errorf("%d books are left, want the one of the other genre", len(left))
		}
	})
}

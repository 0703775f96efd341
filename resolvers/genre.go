package resolvers

import (
	"context"

	"library-catalogue/db"
	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers/loader"
)

func (r *genreResolver) Category(ctx context.Context, obj *model.Genre) (*model.Category, error) {
	if obj.AsOf != nil {
		return requireRow(ctx, db.Past{Position: *obj.AsOf, ID: obj.CategoryID}, loader.From(ctx).PastCategories.Load)
	}
	return loadParent(ctx, "category", obj.CategoryID, loader.From(ctx).Categories.Load)
}

func (r *genreResolver) Books(
	ctx context.Context, obj *model.Genre, first *int, after *string, last *int, before *string, offset *int,
	filter map[string]any, orderBy []*model.OrderBy, search *string,
) (*model.BookConnection, error) {
	return childrenOfOne("Book", obj, loader.From(ctx).Relations().BooksOfGenre,
		pageArgs(first, after, last, before, offset, filter, orderBy, search))
}

// BooksOfGenres returns the same page of books for each genre of a level.
func (r *Resolver) BooksOfGenres(
	ctx context.Context, genres []*model.Genre, args model.PageArgs,
) ([]*model.BookConnection, error) {
	return childrenOfLevel("Book", genres, loader.From(ctx).Relations().BooksOfGenre, args)
}

func (r *mutationResolver) CreateGenre(
	ctx context.Context, input model.CreateGenreInput,
) (*model.CreateGenrePayload, error) {
	if err := authorise(ctx, createGenreScopes(&input)...); err != nil {
		return nil, err
	}
	var genre *model.Genre
	var err error
	if problems := input.Validate(); len(problems) == 0 && input.Category == nil {
		genre, err = r.store.Genres.Create(ctx, &input)
	} else {
		genre, err = singleCreated(r.createGenres(ctx, []*model.CreateGenreInput{&input}, true))
	}
	if err != nil {
		return nil, err
	}
	return &model.CreateGenrePayload{Row: genre, ClientMutationID: input.ClientMutationID}, nil
}

func (r *mutationResolver) UpdateGenre(
	ctx context.Context, input model.UpdateGenreInput,
) (*model.UpdateGenrePayload, error) {
	return updateRow(ctx, r.store.Genres, input, genresUpdate, r.checkGenrePatch)
}

// checkGenrePatch validates new values, including the category's existence.
func (r *mutationResolver) checkGenrePatch(ctx context.Context, patch *model.GenrePatch) error {
	problems := patch.Validate()
	if id := patch.CategoryID.Value(); id != nil {
		if err := checkReference(ctx, &problems, "category_id", *id, r.store.Categories); err != nil {
			return err
		}
	}
	return problems.Err()
}

func (r *mutationResolver) DeleteGenre(
	ctx context.Context, input model.DeleteGenreInput,
) (*model.DeleteGenrePayload, error) {
	return deleteRow(ctx, r.store, r.store.Genres, input, deleteGenreScopes(input.OnChildren)...)
}

func (r *queryResolver) Genre(ctx context.Context, id string, at *model.Timestamp) (*model.Genre, error) {
	if at != nil {
		return asOf(ctx, loader.From(ctx).Snapshot.Genres, id, *at)
	}
	return single(r.LoadGenres(ctx, []model.ID{model.ParseID(id)}))
}

// LoadGenres returns the genres with these ids, nil for a missing one.
func (r *Resolver) LoadGenres(ctx context.Context, ids []model.ID) ([]*model.Genre, error) {
	return loader.From(ctx).Genres.LoadMany(ctx, ids)
}

// ParentGenres is like LoadGenres, for ids that rows refer to. If one is missing, the operation runs again.
func (r *Resolver) ParentGenres(ctx context.Context, ids []model.ID) ([]*model.Genre, error) {
	return requireRows(ctx, ids, r.LoadGenres)
}

func (r *queryResolver) Genres(
	ctx context.Context, first *int, after *string, last *int, before *string, offset *int, filter map[string]any,
	orderBy []*model.OrderBy, search *string,
) (*model.GenreConnection, error) {
	args := pageArgs(first, after, last, before, offset, filter, orderBy, search)
	genres := loader.From(ctx).Genres
	return connection("Genre", args, genres.Page, genres.Count, genres.Correct, nil)
}

// Genre implements graph.ResolverRoot.
func (r *Resolver) Genre() graph.GenreResolver { return &genreResolver{} }

type genreResolver struct{}

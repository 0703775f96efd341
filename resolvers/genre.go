package resolvers

import (
	"context"

	"library-catalogue/graph"
	"library-catalogue/graph/model"
	"library-catalogue/resolvers/loader"
)

func (r *genreResolver) Category(ctx context.Context, obj *model.Genre) (*model.Category, error) {
	return parent(loader.From(ctx).Categories.Load(ctx, obj.CategoryID))
}

func (r *genreResolver) Books(ctx context.Context, obj *model.Genre, first *int, after *string, last *int, before *string, offset *int, filter *model.BookFilter) (*model.BookConnection, error) {
	return children("Book", obj.ID, loader.From(ctx).BooksOfGenre,
		model.PageArgs{First: first, After: after, Last: last, Before: before, Offset: offset, Filter: filter})
}

func (r *mutationResolver) CreateGenre(ctx context.Context, input model.CreateGenreInput) (*model.CreateGenrePayload, error) {
	if _, err := model.Authorise(ctx, "genres:create"); err != nil {
		return nil, err
	}
	if problems := input.Validate(); len(problems) > 0 {
		if err := refer(ctx, &problems, "category_id", input.CategoryID, r.store.CategoriesByID); err != nil {
			return nil, err
		}
		return nil, problems.Err()
	}
	genre, err := r.store.CreateGenre(ctx, &input)
	if err != nil {
		return nil, err
	}
	wrote(ctx).SawGenres([]*model.Genre{genre})
	return &model.CreateGenrePayload{Genre: genre, ClientMutationID: input.ClientMutationID}, nil
}

func (r *mutationResolver) UpdateGenre(ctx context.Context, input model.UpdateGenreInput) (*model.UpdateGenrePayload, error) {
	if _, err := model.Authorise(ctx, "genres:update"); err != nil {
		return nil, err
	}
	problems := input.Patch.Validate()
	if id := input.Patch.CategoryID.Value(); id != nil {
		if err := refer(ctx, &problems, "category_id", *id, r.store.CategoriesByID); err != nil {
			return nil, err
		}
	}
	if err := problems.Err(); err != nil {
		return nil, err
	}
	genre, err := r.store.UpdateGenre(ctx, input.ID, input.Patch, input.ExpectedVersion)
	if err != nil {
		return nil, err
	}
	wrote(ctx).SawGenres([]*model.Genre{genre})
	return &model.UpdateGenrePayload{Genre: genre, ClientMutationID: input.ClientMutationID}, nil
}

func (r *mutationResolver) DeleteGenre(ctx context.Context, input model.DeleteGenreInput) (*model.DeleteGenrePayload, error) {
	if _, err := model.Authorise(ctx, deletes(input.OnChildren, "genres", "books")...); err != nil {
		return nil, err
	}
	if err := r.store.DeleteGenre(ctx, input.ID, input.ExpectedVersion, input.OnChildren); err != nil {
		return nil, err
	}
	wrote(ctx)
	return &model.DeleteGenrePayload{DeletedGenreID: input.ID, ClientMutationID: input.ClientMutationID}, nil
}

func (r *queryResolver) Genre(ctx context.Context, id string) (*model.Genre, error) {
	return alone(r.LoadGenres(ctx, []model.ID{model.ParseID(id)}))
}

func (r *queryResolver) Genres(ctx context.Context, first *int, after *string, last *int, before *string, offset *int, filter *model.GenreFilter) (*model.GenreConnection, error) {
	return model.NewConnection("Genre",
		model.PageArgs{First: first, After: after, Last: last, Before: before, Offset: offset, Filter: filter},
		func(ctx context.Context, p model.Page) ([]*model.Genre, error) {
			genres, err := r.store.Genres(ctx, p)
			loader.From(ctx).SawGenres(genres)
			return genres, err
		}, total("genres", r.store.CountGenres))
}

// Genre gives the resolvers of a genre's fields.
func (r *Resolver) Genre() graph.GenreResolver { return &genreResolver{r} }

type genreResolver struct{ *Resolver }

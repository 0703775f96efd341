package rest

import (
	"context"
	"fmt"

	"library-catalogue/graph/model"
)

func (h *handler) genres() *resource {
	query, mutation := h.catalogue.Query(), h.catalogue.Mutation()
	return &resource{
		listing: listings["genres"], name: "genres", noun: "Genre", plural: "Genres",
		list: func(ctx context.Context, f *format, a model.PageArgs) (list, error) {
			genres, err := query.Genres(ctx, a.First, a.After, a.Last, a.Before, a.Offset, a.Filter, a.OrderBy, a.Search)
			return listOf(f, genres, h.appendGenre, err)
		},
		stream: streamOf(h.catalogue.StreamGenres, h.appendGenre),
		one: func(ctx context.Context, _ *format, id string) (*object, error) {
			genre, err := query.Genre(ctx, id, nil)
			return objectOrNil(ctx, genre, h.genre, err)
		},
		create: func(ctx context.Context, _ *format, form model.Form) (*object, error) {
			payload, err := mutation.CreateGenre(ctx, form.CreateGenre())
			return written(ctx, h, "Genre", payload, h.genre, err)
		},
		update: func(ctx context.Context, _ *format, id model.ID, form model.Form, version *int64) (*object, error) {
			payload, err := mutation.UpdateGenre(ctx, model.UpdateGenreInput{ID: id, Patch: form.ReplaceGenre(), ExpectedVersion: version})
			return written(ctx, h, "Genre", payload, h.genre, err)
		},
		remove: func(ctx context.Context, id model.ID, version *int64, policy model.OnChildren) error {
			_, err := mutation.DeleteGenre(ctx, model.DeleteGenreInput{ID: id, ExpectedVersion: version, OnChildren: policy})
			return err
		},
	}
}

func (h *handler) genre(ctx context.Context, g *model.Genre) (*object, error) {
	c, err := h.catalogue.Genre().Category(ctx, g)
	if err != nil {
		return nil, err
	}
	return &object{
		id: g.ID, version: g.Version, tag: fmt.Sprintf(`"%d.%d"`, g.Version, c.Version),
		text: appendGenre(nil, g, c),
	}, nil
}

func (h *handler) appendGenre(ctx context.Context, dst []byte, g *model.Genre) ([]byte, error) {
	c, err := h.catalogue.Genre().Category(ctx, g)
	if err != nil {
		return dst, err
	}
	return appendGenre(dst, g, c), nil
}

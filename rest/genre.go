package rest

import (
	"context"

	"library-catalogue/graph/model"
)

func (h *handler) genres() *resource {
	query, mutation := h.catalogue.Query(), h.catalogue.Mutation()
	return &resource{
		listing: genreListing, name: "genres", plural: "Genres",
		operations: &rows[model.Genre, *model.Genre, model.CreateGenreInput, model.GenrePatch]{
			handler: h, typename: genreListing.typename, pageOf: query.Genres, stream: h.catalogue.StreamGenres,
			row:       query.Genre,
			createRow: mutation.CreateGenre, updateRow: mutation.UpdateGenre, deleteRow: mutation.DeleteGenre,
			input: model.Form.CreateGenre, patch: model.Form.ReplaceGenre,
			parents: func(ctx context.Context, g *model.Genre) (*model.Genre, *model.Category, error) {
				c, err := h.catalogue.Genre().Category(ctx, g)
				return nil, c, err
			},
			version:  func(g *model.Genre) int64 { return g.Version },
			appender: func(*format, genreCache) appender[*model.Genre] { return appendGenre },
		},
	}
}

// genreCategoryFields are the fields of a category nested in a genre that is not nested.
var genreCategoryFields = model.CategoryJSON.Before("created_at")

func appendGenre(dst []byte, g, _ *model.Genre, c *model.Category) []byte {
	dst = model.GenreJSON.Append(dst, g)
	dst = genreCategoryFields.Append(append(dst, `,"category":`...), c)
	return append(dst, `}}`...)
}

// genreCache has the JSON of genres for the books of a whole list, which makes it 15 % faster. A nil genreCache caches
// nothing; it is for pages, because few of their books share a genre.
type genreCache map[versions][]byte

type versions struct{ genre, genreVersion, category, categoryVersion int64 }

func (cache genreCache) append(dst []byte, g *model.Genre, c *model.Category) []byte {
	if cache == nil {
		return appendGenreOfBook(dst, g, c)
	}
	key := versions{int64(g.ID), g.Version, int64(c.ID), c.Version}
	text, ok := cache[key]
	if !ok {
		text = appendGenreOfBook(nil, g, c)
		cache[key] = text
	}
	return append(dst, text...)
}

func appendGenreOfBook(dst []byte, g *model.Genre, c *model.Category) []byte {
	dst = append(model.NestedGenreJSON.Append(dst, g), `,"category":`...)
	return append(appendCategory(dst, c, nil, nil), '}')
}

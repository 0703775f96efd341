package rest

import (
	"library-catalogue/graph/model"
)

// genreCategoryFields are the fields of a category nested in a genre that is not nested.
var genreCategoryFields = model.CategoryJSON.Before("created_at")

func appendBook(dst []byte, fields model.JSONFields[model.Book], b *model.Book, g *model.Genre, c *model.Category, genres genreCache) []byte {
	dst = append(fields.Append(dst, b), `,"genre":`...)
	return append(genres.append(dst, g, c), '}')
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
	return append(appendCategory(dst, c), '}')
}

func appendGenre(dst []byte, g *model.Genre, c *model.Category) []byte {
	dst = model.GenreJSON.Append(dst, g)
	dst = genreCategoryFields.Append(append(dst, `,"category":`...), c)
	return append(dst, `}}`...)
}

func appendCategory(dst []byte, c *model.Category) []byte {
	return append(model.CategoryJSON.Append(dst, c), '}')
}

package rest

import (
	"slices"

	"library-catalogue/graph/model"
)

// The shapes of /api, in the documented order: the fields of a row as they are
// described, and what is nested in it.
var (
	bookFields = restFields(model.BookFields)
	// genreFields are those of a genre in a book.
	genreFields = restFields(model.GenreFields)
	// listedGenreFields are those of a genre by itself, which has its own id twice.
	listedGenreFields = slices.Insert(slices.Clone(genreFields), indexOf(genreFields, "category_id"), keyedField[model.Genre]{
		`"genre_id":`, func(dst []byte, g *model.Genre) []byte { return g.ID.AppendNumber(dst) },
	})
	categoryFields = restFields(model.CategoryFields)
	// shortCategoryFields are those of a category in a genre by itself.
	shortCategoryFields = categoryFields[:indexOf(categoryFields, "created_at")]
)

// keyedField is a field of T with the key that it has in JSON.
type keyedField[T any] struct {
	key         string // quoted, with a colon
	appendValue func(dst []byte, row *T) []byte
}

// restFields returns the fields of a type that /api shows.
func restFields[T any](fields []model.RowField[T]) []keyedField[T] {
	var shown []keyedField[T]
	for _, f := range fields {
		if f.Is(model.InREST) {
			shown = append(shown, keyedField[T]{`"` + f.Key + `":`, f.AppendREST})
		}
	}
	return shown
}

func indexOf[T any](fields []keyedField[T], key string) int {
	return slices.IndexFunc(fields, func(f keyedField[T]) bool { return f.key == `"`+key+`":` })
}

// appendFields appends the beginning of an object, without the brace that ends it.
func appendFields[T any](dst []byte, fields []keyedField[T], row *T) []byte {
	for i, f := range fields {
		if i == 0 {
			dst = append(dst, '{')
		} else {
			dst = append(dst, ',')
		}
		dst = f.appendValue(append(dst, f.key...), row)
	}
	return dst
}

// appendBook appends a book with its genre and category.
func appendBook(dst []byte, b *model.Book, g *model.Genre, c *model.Category, genres genreCache) []byte {
	dst = append(appendFields(dst, bookFields, b), `,"genre":`...)
	return append(genres.append(dst, g, c), '}')
}

// genreCache has genres in JSON for a whole list, whose books have few of them: else that
// takes 15 % longer. A nil one, for books of which most have a genre of their own, has none.
type genreCache map[versions][]byte

type versions struct{ genre, genreVersion, category, categoryVersion int64 }

// append appends a genre with its category.
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
	dst = append(appendFields(dst, genreFields, g), `,"category":`...)
	return append(appendCategory(dst, c), '}')
}

func appendGenre(dst []byte, g *model.Genre, c *model.Category) []byte {
	dst = appendFields(dst, listedGenreFields, g)
	dst = appendFields(append(dst, `,"category":`...), shortCategoryFields, c)
	return append(dst, `}}`...)
}

func appendCategory(dst []byte, c *model.Category) []byte {
	return append(appendFields(dst, categoryFields, c), '}')
}

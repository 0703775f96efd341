package model

import (
	"slices"
)

// JSONFields are the fields of a JSON object of /api, in the documented order.
type JSONFields[T any] []jsonField[T]

type jsonField[T any] struct {
	key         string // quoted, with a colon
	appendValue func(dst []byte, row *T) []byte
}

// The flat JSON objects of /api: the documented fields of a row, without the rows that it refers to.
var (
	BookJSON = jsonFields(BookFields, nil)
	// NestedGenreJSON is a genre nested in a book.
	NestedGenreJSON = jsonFields(GenreFields, nil)
	// GenreJSON is a genre that is not nested. It has its id twice, as id and genre_id, because /api defines both.
	GenreJSON = slices.Insert(slices.Clone(NestedGenreJSON), NestedGenreJSON.index("category_id"), jsonField[Genre]{
		`"genre_id":`, func(dst []byte, g *Genre) []byte { return g.ID.AppendNumber(dst) },
	})
	CategoryJSON = jsonFields(CategoryFields, nil)
)

// BookJSONWith is BookJSON with the OnInclude fields that have one of the keys, or with all for the key "all".
func BookJSONWith(keys []string) JSONFields[Book] { return jsonFields(BookFields, keys) }

func jsonFields[T any](fields []RowField[T], included []string) JSONFields[T] {
	var shown JSONFields[T]
	for _, f := range fields {
		if f.Is(InREST) || f.Is(OnInclude) && (slices.Contains(included, f.Key) || slices.Contains(included, "all")) {
			shown = append(shown, jsonField[T]{`"` + f.Key + `":`, f.AppendREST})
		}
	}
	return shown
}

func (fields JSONFields[T]) index(key string) int {
	return slices.IndexFunc(fields, func(f jsonField[T]) bool { return f.key == `"`+key+`":` })
}

// Before returns the fields before the one with a key.
func (fields JSONFields[T]) Before(key string) JSONFields[T] { return fields[:fields.index(key)] }

// Append appends a row as a JSON object without its closing brace.
func (fields JSONFields[T]) Append(dst []byte, row *T) []byte {
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

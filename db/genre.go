package db

import (
	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

var (
	genreMapping = mapping[model.Genre]{
		Table: query.Genres, fields: model.GenreFields,
		keys: func(g *model.Genre) *string { return &g.Keys }, id: (*model.Genre).RowID,
		noun: "Genre", reference: "category_id",
		children: &children{table: "books", column: "genre_id"},
	}
	genres           = source[model.Genre]{mapping: genreMapping, from: "genres r"}
	genresOfCategory = source[model.Genre]{mapping: genreMapping, from: "genres r", parent: "r.category_id"}
)

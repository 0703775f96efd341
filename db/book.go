package db

import (
	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

var (
	bookMapping = mapping[model.Book]{
		Table: query.Books, fields: model.BookFields,
		keys: func(b *model.Book) *string { return &b.Keys }, id: (*model.Book).RowID,
		noun: "Book", reference: "genre_id",
	}
	books           = source[model.Book]{mapping: bookMapping, from: "books r"}
	booksOfGenre    = source[model.Book]{mapping: bookMapping, from: "books r", parent: "r.genre_id"}
	booksOfCategory = source[model.Book]{mapping: bookMapping, from: "books r JOIN genres g ON g.id = r.genre_id",
		parent: "g.category_id"}

	newBooks = newRowsOf(bookMapping)
)

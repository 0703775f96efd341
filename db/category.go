package db

import (
	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

var (
	categoryTable = table[model.Category]{
		Table: query.Categories, fields: model.CategoryFields,
		keys: func(c *model.Category) *string { return &c.Keys }, id: (*model.Category).RowID,
		noun:     "Category",
		children: &children{table: "genres", noun: "genre", column: "category_id", of: genreTable.children},
	}
	categories = list[model.Category]{table: categoryTable, from: "categories r"}
)

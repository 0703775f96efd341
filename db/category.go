package db

import (
	"library-catalogue/db/query"
	"library-catalogue/graph/model"
)

var (
	categoryMapping = mapping[model.Category]{
		Table: query.Categories, fields: model.CategoryFields,
		keys: func(c *model.Category) *string { return &c.Keys }, id: (*model.Category).RowID,
		noun:     "Category",
		children: &children{table: "genres", column: "category_id", of: genreMapping.children},
	}
	categories = source[model.Category]{mapping: categoryMapping, from: "categories r"}
)

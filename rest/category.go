package rest

import (
	"context"

	"library-catalogue/graph/model"
)

func (h *handler) categories() *resource {
	query, mutation := h.catalogue.Query(), h.catalogue.Mutation()
	return &resource{
		listing: categoryListing, name: "categories", plural: "Categories",
		operations: &rows[model.Category, *model.Category, model.CreateCategoryInput, model.CategoryPatch]{
			handler: h, typename: categoryListing.typename, pageOf: query.Categories,
			stream: h.catalogue.StreamCategories, row: query.Category,
			createRow: mutation.CreateCategory, updateRow: mutation.UpdateCategory, deleteRow: mutation.DeleteCategory,
			input: model.Form.CreateCategory, patch: model.Form.ReplaceCategory,
			parents: func(context.Context, *model.Category) (*model.Genre, *model.Category, error) {
				return nil, nil, nil
			},
			version:  func(c *model.Category) int64 { return c.Version },
			appender: func(*format, genreCache) appender[*model.Category] { return appendCategory },
		},
	}
}

func appendCategory(dst []byte, c *model.Category, _ *model.Genre, _ *model.Category) []byte {
	return append(model.CategoryJSON.Append(dst, c), '}')
}

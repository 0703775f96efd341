package rest

import (
	"context"
	"fmt"

	"library-catalogue/graph/model"
)

func (h *handler) categories() *resource {
	query, mutation := h.catalogue.Query(), h.catalogue.Mutation()
	return &resource{
		listing: listings["categories"], name: "categories", noun: "Category", plural: "Categories",
		list: func(ctx context.Context, f *format, a model.PageArgs) (list, error) {
			categories, err := query.Categories(ctx, a.First, a.After, a.Last, a.Before, a.Offset, a.Filter, a.OrderBy, a.Search)
			return listOf(f, categories, h.appendCategory, err)
		},
		stream: streamOf(h.catalogue.StreamCategories, h.appendCategory),
		one: func(ctx context.Context, _ *format, id string) (*object, error) {
			category, err := query.Category(ctx, id, nil)
			return objectOrNil(ctx, category, h.category, err)
		},
		create: func(ctx context.Context, _ *format, form model.Form) (*object, error) {
			payload, err := mutation.CreateCategory(ctx, form.CreateCategory())
			return written(ctx, h, "Category", payload, h.category, err)
		},
		update: func(ctx context.Context, _ *format, id model.ID, form model.Form, version *int64) (*object, error) {
			payload, err := mutation.UpdateCategory(ctx, model.UpdateCategoryInput{ID: id, Patch: form.ReplaceCategory(), ExpectedVersion: version})
			return written(ctx, h, "Category", payload, h.category, err)
		},
		remove: func(ctx context.Context, id model.ID, version *int64, policy model.OnChildren) error {
			_, err := mutation.DeleteCategory(ctx, model.DeleteCategoryInput{ID: id, ExpectedVersion: version, OnChildren: policy})
			return err
		},
	}
}

func (h *handler) category(_ context.Context, c *model.Category) (*object, error) {
	return &object{id: c.ID, version: c.Version, tag: fmt.Sprintf(`"%d"`, c.Version), text: appendCategory(nil, c)}, nil
}

func (h *handler) appendCategory(_ context.Context, dst []byte, c *model.Category) ([]byte, error) {
	return appendCategory(dst, c), nil
}

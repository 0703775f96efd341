package loader

import (
	"context"
	"time"

	"github.com/graph-gophers/dataloader/v7"

	"library-catalogue/graph/model"
)

// Children loads pages of rows, of type P, that belong to a parent, and their counts. The
// same page of many parents is one look-up.
type Children[P any] struct {
	pages  *dataloader.Loader[pageOf, []P]
	counts *dataloader.Loader[model.ID, int]

	fetchPages  func(context.Context, []model.ID, model.Page) (map[model.ID][]P, error)
	fetchCounts func(context.Context, []model.ID) (map[model.ID]int, error)
}

// pageOf is a page of a parent's rows.
type pageOf struct {
	parent model.ID
	page   model.Page
}

func newChildren[P any](wait time.Duration,
	pages func(context.Context, []model.ID, model.Page) (map[model.ID][]P, error),
	counts func(context.Context, []model.ID) (map[model.ID]int, error),
	saw func([]P),
) *Children[P] {
	batchPages := func(ctx context.Context, keys []pageOf) []*dataloader.Result[[]P] {
		parents := map[model.Page][]model.ID{}
		for _, key := range keys {
			parents[key.page] = append(parents[key.page], key.parent)
		}
		fetched := map[pageOf][]P{}
		for page, ids := range parents {
			rows, err := pages(ctx, ids, page)
			if err != nil {
				return results[pageOf, []P](keys, nil, err)
			}
			for parent, of := range rows {
				fetched[pageOf{parent, page}] = of
				saw(of)
			}
		}
		return results(keys, func(key pageOf) []P { return fetched[key] }, nil)
	}
	batchCounts := func(ctx context.Context, ids []model.ID) []*dataloader.Result[int] {
		fetched, err := counts(ctx, ids)
		return results(ids, func(id model.ID) int { return fetched[id] }, err)
	}
	return &Children[P]{
		pages:  dataloader.NewBatchedLoader(batchPages, dataloader.WithWait[pageOf, []P](wait)),
		counts: dataloader.NewBatchedLoader(batchCounts, dataloader.WithWait[model.ID, int](wait)),

		fetchPages:  pages,
		fetchCounts: counts,
	}
}

// Page gives a page of the parent's rows, in order of id.
func (c *Children[P]) Page(ctx context.Context, parent model.ID, page model.Page) ([]P, error) {
	return c.pages.Load(ctx, pageOf{parent, page})()
}

// Count counts the parent's rows.
func (c *Children[P]) Count(ctx context.Context, parent model.ID) (int, error) {
	return c.counts.Load(ctx, parent)()
}

func (c *Children[P]) clear() {
	c.pages.ClearAll()
	c.counts.ClearAll()
}

package loader

import (
	"context"
	"time"

	"github.com/graph-gophers/dataloader/v7"

	"library-catalogue/graph/model"
)

// Children loads pages of rows, of type P, that belong to a parent, and their
// counts. The same page of many parents is one look-up.
type Children[P any] struct {
	pages  *dataloader.Loader[of[model.Page], []P]
	counts *dataloader.Loader[of[model.Range], int]

	fetchPages  func(context.Context, []model.ID, model.Page) (map[model.ID][]P, error)
	fetchCounts func(context.Context, []model.ID, model.Range) (map[model.ID]int, error)
}

func newChildren[P any](wait time.Duration,
	pages func(context.Context, []model.ID, model.Page) (map[model.ID][]P, error),
	counts func(context.Context, []model.ID, model.Range) (map[model.ID]int, error),
	saw func([]P),
) *Children[P] {
	c := &Children[P]{fetchCounts: counts}
	c.fetchPages = func(ctx context.Context, parents []model.ID, page model.Page) (map[model.ID][]P, error) {
		fetched, err := pages(ctx, parents, page)
		for _, rows := range fetched {
			saw(rows)
		}
		return fetched, err
	}
	c.pages = batches(wait, c.fetchPages)
	c.counts = batches(wait, c.fetchCounts)
	return c
}

// of is what is asked about the rows of one parent.
type of[Q comparable] struct {
	parent model.ID
	what   Q
}

// batches makes a loader that asks the same about many parents at once.
func batches[Q comparable, V any](wait time.Duration, fetch func(context.Context, []model.ID, Q) (map[model.ID]V, error)) *dataloader.Loader[of[Q], V] {
	batch := func(ctx context.Context, keys []of[Q]) []*dataloader.Result[V] {
		parents := map[Q][]model.ID{}
		for _, key := range keys {
			parents[key.what] = append(parents[key.what], key.parent)
		}
		fetched := make(map[of[Q]]V, len(keys))
		for what, ids := range parents {
			values, err := fetch(ctx, ids, what)
			if err != nil {
				return results[of[Q], V](keys, nil, err)
			}
			for parent, value := range values {
				fetched[of[Q]{parent, what}] = value
			}
		}
		return results(keys, func(key of[Q]) V { return fetched[key] }, nil)
	}
	return dataloader.NewBatchedLoader(batch, dataloader.WithWait[of[Q], V](wait))
}

// Page gives a page of the parent's rows, in order of id.
func (c *Children[P]) Page(ctx context.Context, parent model.ID, page model.Page) ([]P, error) {
	return c.pages.Load(ctx, of[model.Page]{parent, page})()
}

// Count counts the parent's rows whose id is in the range.
func (c *Children[P]) Count(ctx context.Context, parent model.ID, r model.Range) (int, error) {
	return c.counts.Load(ctx, of[model.Range]{parent, r})()
}

func (c *Children[P]) clear() {
	c.pages.ClearAll()
	c.counts.ClearAll()
}

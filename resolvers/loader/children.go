package loader

import (
	"context"
	"sync"
	"time"

	"github.com/graph-gophers/dataloader/v7"

	"library-catalogue/graph/model"
)

// Children loads pages of rows, of type P, that belong to a parent, and their
// counts. The same page of many parents is one look-up.
type Children[P any] struct {
	pages  batches[*model.Page, []P]
	counts batches[model.Match, int]
	groups *batches[*model.Grouping, []*model.BookGroup] // nil but for books

	fetchPages  func(context.Context, []model.ID, *model.Page) (map[model.ID][]P, error)
	fetchCounts func(context.Context, []model.ID, model.Match) (map[model.ID]int, error)
	fetchGroups func(context.Context, []model.ID, *model.Grouping) (map[model.ID][]*model.BookGroup, error)
}

func newChildren[P any](wait time.Duration,
	pages func(context.Context, []model.ID, *model.Page) (map[model.ID][]P, error),
	counts func(context.Context, []model.ID, model.Match) (map[model.ID]int, error),
	saw func([]P),
) *Children[P] {
	c := &Children[P]{fetchCounts: counts}
	c.fetchPages = func(ctx context.Context, parents []model.ID, page *model.Page) (map[model.ID][]P, error) {
		fetched, err := pages(ctx, parents, page)
		for _, rows := range fetched {
			saw(rows)
		}
		return fetched, err
	}
	c.pages.wait, c.pages.fetch = wait, c.fetchPages
	c.counts.wait, c.counts.fetch = wait, c.fetchCounts
	return c
}

// grouped adds how the rows are put in groups.
func (c *Children[P]) grouped(wait time.Duration,
	groups func(context.Context, []model.ID, *model.Grouping) (map[model.ID][]*model.BookGroup, error), saw func([]*model.BookGroup),
) *Children[P] {
	c.fetchGroups = func(ctx context.Context, parents []model.ID, grouping *model.Grouping) (map[model.ID][]*model.BookGroup, error) {
		fetched, err := groups(ctx, parents, grouping)
		for _, groups := range fetched {
			saw(groups)
		}
		return fetched, err
	}
	c.groups = &batches[*model.Grouping, []*model.BookGroup]{wait: wait, fetch: c.fetchGroups}
	return c
}

// batches ask the same about many parents at once: a question of type Q, which
// equal ones share their Key with.
type batches[Q keyed, V any] struct {
	wait  time.Duration
	fetch func(context.Context, []model.ID, Q) (map[model.ID]V, error)

	mu     sync.Mutex
	loader *dataloader.Loader[question, V] // nil until something is asked
	asked  map[string]Q
}

type keyed interface{ Key() string }

// question is what is asked about one parent.
type question struct {
	parent model.ID
	key    string
}

func (b *batches[Q, V]) batch(ctx context.Context, questions []question) []*dataloader.Result[V] {
	parents := map[string][]model.ID{}
	for _, q := range questions {
		parents[q.key] = append(parents[q.key], q.parent)
	}
	fetched := make(map[question]V, len(questions))
	for key, ids := range parents {
		b.mu.Lock()
		what := b.asked[key]
		b.mu.Unlock()
		values, err := b.fetch(ctx, ids, what)
		if err != nil {
			return results[question, V](questions, nil, err)
		}
		for parent, value := range values {
			fetched[question{parent, key}] = value
		}
	}
	return results(questions, func(q question) V { return fetched[q] }, nil)
}

func (b *batches[Q, V]) load(ctx context.Context, parent model.ID, what Q) (V, error) {
	key := what.Key()
	b.mu.Lock()
	if b.loader == nil {
		b.loader = dataloader.NewBatchedLoader(b.batch, dataloader.WithWait[question, V](b.wait))
	}
	if b.asked == nil {
		b.asked = map[string]Q{}
	}
	b.asked[key] = what
	loader := b.loader
	b.mu.Unlock()
	return loader.Load(ctx, question{parent, key})()
}

// Page gives a page of the parent's rows.
func (c *Children[P]) Page(ctx context.Context, parent model.ID, page *model.Page) ([]P, error) {
	return c.pages.load(ctx, parent, page)
}

// Count counts the parent's rows that match.
func (c *Children[P]) Count(ctx context.Context, parent model.ID, m model.Match) (int, error) {
	return c.counts.load(ctx, parent, m)
}

// GroupsOf gives what puts the parent's rows in groups; nil where they are no books.
func (c *Children[P]) GroupsOf(parent model.ID) func(context.Context, *model.Grouping) ([]*model.BookGroup, error) {
	if c.groups == nil {
		return nil
	}
	return func(ctx context.Context, g *model.Grouping) ([]*model.BookGroup, error) {
		return c.groups.load(ctx, parent, g)
	}
}

package loader

import (
	"context"
	"sync"

	"library-catalogue/graph/model"
)

// LoadMany gives the rows with these ids, in their order, in one look-up: nil for
// an id that has no row. Who has a whole level of a query at hand need not wait
// for a batch to be closed.
func (l *Rows[T]) LoadMany(ctx context.Context, ids []model.ID) ([]*T, error) {
	rows := make([]*T, len(ids))
	if done, err := l.remembered(ctx, ids, rows); done || err != nil {
		return rows, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.fetchMissing(ctx, ids); err != nil {
		return nil, err
	}
	for i, id := range ids {
		rows[i] = l.fetched[id]
	}
	return rows, nil
}

// remembered puts the rows with these ids into rows, if the memory has them all.
func (l *Rows[T]) remembered(ctx context.Context, ids []model.ID, rows []*T) (bool, error) {
	memory, err := l.memory(ctx)
	if memory == nil {
		return false, err
	}
	for i, id := range ids {
		var ok bool
		if rows[i], ok = memory[id]; !ok {
			return false, nil
		}
	}
	return true, nil
}

// Level is the rows of a whole level's parents: what is asked of one of them is
// fetched for all.
type Level[P any] struct {
	children *Children[P]
	parents  []model.ID

	mu     sync.Mutex
	pages  map[string]map[model.ID][]P
	counts map[model.ID]int
	groups map[string]map[model.ID][]*model.BookGroup
}

// Level makes the level of these parents, none of them twice.
func (c *Children[P]) Level(parents []model.ID) *Level[P] {
	return &Level[P]{children: c, parents: parents, pages: map[string]map[model.ID][]P{}, groups: map[string]map[model.ID][]*model.BookGroup{}}
}

// Page gives a page of a parent's rows.
func (l *Level[P]) Page(ctx context.Context, parent model.ID, page *model.Page) ([]P, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := page.Key()
	pages, fetched := l.pages[key]
	if !fetched {
		var err error
		if pages, err = l.children.fetchPages(ctx, l.parents, page); err != nil {
			return nil, err
		}
		l.pages[key] = pages
	}
	return pages[parent], nil
}

// Count counts a parent's rows that match, the same at each call.
func (l *Level[P]) Count(ctx context.Context, parent model.ID, m model.Match) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.counts == nil {
		counts, err := l.children.fetchCounts(ctx, l.parents, m)
		if err != nil {
			return 0, err
		}
		l.counts = counts
	}
	return l.counts[parent], nil
}

// GroupsOf gives what puts a parent's rows in groups; nil where they are no books.
func (l *Level[P]) GroupsOf(parent model.ID) func(context.Context, *model.Grouping) ([]*model.BookGroup, error) {
	if l.children.fetchGroups == nil {
		return nil
	}
	return func(ctx context.Context, g *model.Grouping) ([]*model.BookGroup, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		key := g.Key()
		groups, fetched := l.groups[key]
		if !fetched {
			var err error
			if groups, err = l.children.fetchGroups(ctx, l.parents, g); err != nil {
				return nil, err
			}
			l.groups[key] = groups
		}
		return groups[parent], nil
	}
}

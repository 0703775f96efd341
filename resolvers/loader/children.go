package loader

import (
	"context"
	"sync"
	"time"

	"library-catalogue/db"
	"library-catalogue/graph/model"
)

// Children loads the children of parents: pages of rows of type P, their counts and, for books,
// their groups. One look-up reads the same page of many parents.
//
// siblings are the parents of one level of a query, if they are known. A request for one parent
// then fetches the data of all. Without siblings a batch waits for more parents.
type Children[P any] interface {
	// Page returns a page of the parent's rows.
	Page(ctx context.Context, parent model.ID, siblings []model.ID, page *model.Page) ([]P, error)
	// Count returns the number of the parent's matching rows.
	Count(ctx context.Context, parent model.ID, siblings []model.ID, sel model.Selection) (int, error)
	// Groups returns the function that groups the parent's rows; nil if they are not books.
	Groups(parent model.ID, siblings []model.ID) model.Groups
	corrector
}

type corrector interface {
	// Correct corrects a search text, as in model.Connection.
	Correct(ctx context.Context, text string) (*string, error)
}

type childLoader[P any] struct {
	pages  *perParent[*model.Page, []P]
	counts *perParent[model.Selection, int]
	groups *perParent[*model.Grouping, []*model.BookGroup] // nil except for books
	corrector
}

func newChildren[T any](
	l *Loaders, rows db.Reader[T], prime func([]*T),
	groups func(context.Context, []model.ID, *model.Grouping) (map[model.ID][]*model.BookGroup, error),
) Children[*T] {
	c := &childLoader[*T]{
		pages:     newPerParent(l.wait, rows.Pages, prime),
		counts:    newPerParent[model.Selection, int](l.wait, rows.Counts, nil),
		corrector: rows,
	}
	if groups != nil {
		c.groups = newPerParent(l.wait, groups, l.PrimeGroups)
	}
	return c
}

func (c *childLoader[P]) Page(
	ctx context.Context, parent model.ID, siblings []model.ID, page *model.Page,
) ([]P, error) {
	return c.pages.load(ctx, parent, siblings, page)
}

func (c *childLoader[P]) Count(
	ctx context.Context, parent model.ID, siblings []model.ID, sel model.Selection,
) (int, error) {
	return c.counts.load(ctx, parent, siblings, sel)
}

func (c *childLoader[P]) Groups(parent model.ID, siblings []model.ID) model.Groups {
	if c.groups == nil {
		return nil
	}
	return func(ctx context.Context, groupings []*model.Grouping) ([][]*model.BookGroup, error) {
		all := make([][]*model.BookGroup, len(groupings))
		for i, g := range groupings {
			var err error
			if all[i], err = c.groups.load(ctx, parent, siblings, g); err != nil {
				return nil, err
			}
		}
		return all, nil
	}
}

// perParent loads the answers to one kind of question about many parents. Equal questions have
// equal keys.
type perParent[Q interface{ Key() string }, V any] struct {
	batch batch[question, V]
	fetch func(context.Context, []model.ID, Q) (map[model.ID]V, error)
	prime func(V) // announces the rows that the answers refer to; may be nil

	mu   sync.Mutex
	args map[string]Q // by key
}

type question struct {
	parent model.ID
	key    string
}

func newPerParent[Q interface{ Key() string }, V any](wait time.Duration,
	fetch func(context.Context, []model.ID, Q) (map[model.ID]V, error), prime func(V),
) *perParent[Q, V] {
	p := &perParent[Q, V]{fetch: fetch, prime: prime, args: map[string]Q{}}
	p.batch.wait, p.batch.fetch = wait, p.fetchAnswers
	return p
}

func (p *perParent[Q, V]) load(ctx context.Context, parent model.ID, siblings []model.ID, args Q) (V, error) {
	q := question{parent, args.Key()}
	p.mu.Lock()
	p.args[q.key] = args
	p.mu.Unlock()
	if siblings != nil && !p.batch.has(ctx, q) {
		questions := make([]question, len(siblings))
		for i, sibling := range siblings {
			questions[i] = question{sibling, q.key}
		}
		if err := p.batch.fetchLevel(ctx, questions); err != nil {
			return *new(V), err
		}
	}
	return p.batch.load(ctx, q)
}

// fetchAnswers makes one look-up for each question.
func (p *perParent[Q, V]) fetchAnswers(ctx context.Context, questions []question) (map[question]V, error) {
	parents := map[string][]model.ID{}
	for _, q := range questions {
		parents[q.key] = append(parents[q.key], q.parent)
	}
	answers := make(map[question]V, len(questions))
	for key, ids := range parents {
		p.mu.Lock()
		args := p.args[key]
		p.mu.Unlock()
		fetched, err := p.fetch(ctx, ids, args)
		if err != nil {
			return nil, err
		}
		for parent, answer := range fetched {
			if p.prime != nil {
				p.prime(answer)
			}
			answers[question{parent, key}] = answer
		}
	}
	return answers, nil
}

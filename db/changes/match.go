package changes

import (
	"context"
	"slices"

	"library-catalogue/db/query"
	"library-catalogue/graph/model"
	"library-catalogue/task"
)

// filteredPage is the part of a page that passes a filter.
type filteredPage struct {
	done chan struct{} // closed after page or err is set
	page Page
	err  error
}

// filterPage returns the part of a page that passes a filter. Subscribers with the same filter share one
// attempt (single-flight). After an error the next call makes another.
func (f *Feed) filterPage(ctx context.Context, shared *feedPage, by Filter, admit Admit) (*Page, error) {
	if by.key == "" {
		return &shared.Page, nil
	}
	if filtered := shared.match(by.key); filtered != nil && filtered.isDone() {
		return &filtered.page, filtered.err
	}
	release, err := admit(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	shared.mu.Lock()
	filtered, begun := shared.matches[by.key]
	if !begun {
		filtered = &filteredPage{done: make(chan struct{})}
		shared.matches[by.key] = filtered
	}
	shared.mu.Unlock()
	if !begun {
		f.log.DB.Start(func(ctx context.Context) { f.fillPage(ctx, shared, filtered, by) })
	}
	select {
	case <-filtered.done:
		return &filtered.page, filtered.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// match returns the part of a page that passes a filter, or nil if no subscriber has asked for it.
func (p *feedPage) match(key string) *filteredPage {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.matches[key]
}

func (p *filteredPage) isDone() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// fillPage sets the page or the error of a filteredPage.
func (f *Feed) fillPage(ctx context.Context, shared *feedPage, filtered *filteredPage, by Filter) {
	defer close(filtered.done)
	filtered.err = task.Run(ctx, func() (err error) {
		if f.config.FilterFails != nil {
			err = f.config.FilterFails()
		}
		if err == nil {
			filtered.page, err = f.log.match(ctx, shared.Page, by)
		}
		return err
	})
	if filtered.err != nil {
		shared.mu.Lock()
		defer shared.mu.Unlock()
		delete(shared.matches, by.key)
	}
}

// match returns the changes of a page that pass a filter.
func (l *Log) match(ctx context.Context, page Page, f Filter) (Page, error) {
	page.changes = slices.DeleteFunc(slices.Clone(page.changes), func(c logged) bool {
		return !slices.Contains(f.types, c.change.Type) ||
			f.ids != nil && c.change.Operation != model.ChangeReset && !slices.Contains(f.ids, c.change.RowID)
	})
	if f.where == nil || len(page.changes) == 0 {
		return page, nil
	}
	var ids []model.ID
	var numbers []int64
	for _, c := range page.changes {
		ids, numbers = append(ids, c.change.RowID), append(numbers, c.seq)
	}
	b := query.New(l.Dialect)
	from := l.bySeqSQL(b, ids, numbers)
	passes := map[int64]bool{}
	err := l.DB.Read(ctx, true, func(ctx context.Context, s Snapshot) error {
		found, err := l.find(ctx, s, b, from, f)
		if err != nil {
			return err
		}
		clear(passes)
		for _, c := range found {
			passes[c.Seq] = c.Matches
		}
		return nil
	})
	if err != nil {
		return Page{}, err
	}
	page.changes = slices.DeleteFunc(page.changes, func(c logged) bool { return !passes[c.seq] })
	return page, nil
}

// bySeqSQL returns the SELECT of changes by the ids of their rows and their numbers, without their ticks and times.
func (l *Log) bySeqSQL(b *query.Builder, ids []model.ID, numbers []int64) string {
	return `SELECT seq AS tick, seq, version, row_id, type, operation, actor, ` + l.Dialect.Now +
		` AS at, old, change_set FROM changes WHERE ` +
		l.Dialect.In("row_id", b.Arg(l.Dialect.Array(ids))) + ` AND ` +
		l.Dialect.In("seq", b.Arg(l.Dialect.Array(numbers)))
}

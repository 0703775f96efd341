package changes

import (
	"context"
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/task"
)

// Admit waits until a subscriber may read. Call release after the read.
type Admit = func(context.Context) (release func(), err error)

// follower sends the changes of the log to one call of Follow: first those that are logged, then new ones.
type follower struct {
	feed   *Feed
	filter Filter
	admit  Admit
	fn     func(context.Context, *model.ChangePage) error

	at   model.Position // end of the last page that was sent
	sent time.Time      // last call of fn
}

// Follow calls fn with each page of new changes, in order, until ctx ends or fn fails. The first page
// is empty: its position is where the stream begins. Later pages are empty if only other changes
// passed for a while. The changes are shared and must not be modified.
// Errors: BadUserInput, PositionGone, and Unavailable for a subscriber that is too slow.
//
// Each read of the log, and of the rows for a filter, waits for admit and then for the database; nil admits at once.
func (f *Feed) Follow(
	ctx context.Context, args model.ChangeArgs, admit Admit, fn func(context.Context, *model.ChangePage) error,
) error {
	filter, err := NewFilter(args)
	if err != nil {
		return err
	}
	after, err := Parse(args.After)
	if err != nil {
		return err
	}
	f.Start()
	if err := f.log.Tick(ctx); err != nil {
		return err
	}
	if after == nil {
		newest, err := f.log.Newest(ctx)
		if err != nil {
			return err
		}
		after = &newest
	}
	if admit == nil {
		admit = func(context.Context) (func(), error) { return func() {}, nil }
	}
	if _, _, err := f.log.read(ctx, Filter{}, after, 1); err != nil { // an unknown position
		return err
	}
	w := &follower{feed: f, filter: filter, admit: admit, fn: fn, at: *after, sent: time.Now()}
	if err := fn(ctx, &model.ChangePage{Position: w.at.String()}); err != nil {
		return err
	}
	if err := w.catchUp(ctx, nil); err != nil {
		return err
	}
	sub, joined, err := f.subscribe(ctx)
	if err != nil {
		return err
	}
	defer f.unsubscribe(sub)
	if err := w.catchUp(ctx, &joined); err != nil {
		return err
	}
	return w.live(ctx, sub)
}

// catchUp sends the logged changes up to a position, or to the end for nil.
func (w *follower) catchUp(ctx context.Context, until *model.Position) error {
	for more := true; more && (until == nil || w.at.Before(*until)); {
		page, err := w.read(ctx)
		if err != nil {
			return err
		}
		looked := 0
		if page.more {
			looked = readRows
		}
		if err := w.send(ctx, page, looked); err != nil {
			return err
		}
		if more = page.more || until != nil; !page.more && until != nil && page.end.Before(*until) {
			return ErrGone
		}
	}
	return nil
}

// read reads the logged changes with a permit, which it returns also after a panic.
func (w *follower) read(ctx context.Context) (*Page, error) {
	release, err := w.admit(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	page, _, err := w.feed.log.read(ctx, w.filter, &w.at, readRows)
	return page, err
}

// live sends the pages of a subscription. While the database does not answer it waits, as the feed does.
func (w *follower) live(ctx context.Context, sub *subscriber) error {
	f := w.feed
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case shared, ok := <-sub.pages:
			if !ok {
				return sub.err
			}
			page, err := f.filterPage(ctx, shared, w.filter, w.admit)
			for model.IsCode(err, model.Unavailable) && ctx.Err() == nil && f.config.Life.Err() == nil {
				task.Wait(ctx, retryInterval, nil)
				page, err = f.filterPage(ctx, shared, w.filter, w.admit)
			}
			if err != nil {
				return err
			}
			if err := w.send(ctx, page, 0); err != nil {
				return err
			}
		}
	}
}

// send calls fn with the changes of a page that were not sent, or with a new position now and then.
func (w *follower) send(ctx context.Context, page *Page, looked int) error {
	out := page.nodes(w.at, len(page.changes))
	out.Looked = looked
	if w.at.Before(page.end) {
		w.at = page.end
	}
	if len(out.Nodes) == 0 && looked == 0 && time.Since(w.sent) < emptyInterval {
		return nil
	}
	w.sent = time.Now()
	return w.fn(ctx, out)
}

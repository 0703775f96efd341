package changes

import (
	"context"
	"time"

	"library-catalogue/graph/model"
)

// Admit waits until a subscriber may read. Call release after the read.
type Admit = func(context.Context) (release func(), err error)

// Follow calls fn with each page of new changes, in order, until ctx ends or fn fails. The first page
// is empty: its position is where the stream begins. Later pages are empty if only other changes
// passed for a while. The changes are shared and must not be modified.
// Errors: BadUserInput, PositionGone, and Unavailable for a subscriber that is too slow.
//
// Each read of the log, and of the rows for a filter, waits for admit and then for the database; nil admits at once.
func (f *Feed) Follow(ctx context.Context, args model.ChangeArgs, admit Admit, fn func(context.Context, *model.ChangePage) error) error {
	by, err := NewFilter(args)
	if err != nil {
		return err
	}
	after, err := Parse(args.After)
	if err != nil {
		return err
	}
	f.Start()
	if err := f.log.TickForPage(ctx); err != nil {
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
	at, sent := *after, time.Now()
	// send calls fn with the changes of a page after at, or with a new position now and then.
	send := func(page *Page, looked int) error {
		out := page.nodes(at, len(page.changes))
		out.Looked = looked
		if at.Before(page.end) {
			at = page.end
		}
		if len(out.Nodes) == 0 && looked == 0 && time.Since(sent) < emptyInterval {
			return nil
		}
		sent = time.Now()
		return fn(ctx, out)
	}
	// read sends the logged changes up to a position, or to the end for nil.
	read := func(until *Position) error {
		for more := true; more && (until == nil || at.Before(*until)); {
			page, err := f.readAdmitted(ctx, by, at, admit)
			if err != nil {
				return err
			}
			looked := 0
			if page.more {
				looked = readRows
			}
			if err := send(page, looked); err != nil {
				return err
			}
			if more = page.more || until != nil; !page.more && until != nil && page.end.Before(*until) {
				return ErrGone
			}
		}
		return nil
	}
	if _, _, err := f.log.read(ctx, Filter{}, &at, 1); err != nil { // an unknown position
		return err
	}
	if err := fn(ctx, &model.ChangePage{Position: at.String()}); err != nil {
		return err
	}
	if err := read(nil); err != nil {
		return err
	}
	sub, joined, err := f.subscribe(ctx)
	if err != nil {
		return err
	}
	defer f.unsubscribe(sub)
	if err := read(&joined); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case shared, ok := <-sub.pages:
			if !ok {
				return sub.err
			}
			page, err := f.filterPage(ctx, shared, by, admit)
			for model.IsCode(err, model.Unavailable) && ctx.Err() == nil && f.config.Life.Err() == nil { // as the feed waits
				pause(ctx, retryInterval)
				page, err = f.filterPage(ctx, shared, by, admit)
			}
			if err != nil {
				return err
			}
			if err := send(page, 0); err != nil {
				return err
			}
		}
	}
}

// readAdmitted reads the logged changes after a position with a permit, which it returns also after a panic.
func (f *Feed) readAdmitted(ctx context.Context, by Filter, after Position, admit Admit) (*Page, error) {
	release, err := admit(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	page, _, err := f.log.read(ctx, by, &after, readRows)
	return page, err
}

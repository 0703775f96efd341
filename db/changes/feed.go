package db

import (
	"cmp"
	"context"
	"sync"
	"time"

	"library-catalogue/db/fault"
	"library-catalogue/graph/model"
	"library-catalogue/task"
)

const (
	tickInterval  = 50 * time.Millisecond  // minimum time between two ticks, with subscribers
	pollInterval  = 250 * time.Millisecond // between two looks for changes of other programs
	retryInterval = time.Second            // after a failed read of the log
	feedQueue     = 8                      // pages of at most changeRows changes that wait for a subscriber

	emptyInterval = time.Second // minimum time between a page and an empty one
)

// feed distributes new changes to subscribers. One goroutine of the Store reads the log for all of
// them. It blocks neither writers nor subscribers.
type feed struct {
	start sync.Once
	wake  chan struct{} // has a value after a write of this process or a tick of another

	mu          sync.Mutex
	subscribers map[*subscriber]struct{}
	at          position  // end of the last distributed page, if there are subscribers
	cut         int64     // subscribers that were too slow
	behind      time.Time // first failure since the feed had all changes, or zero
	logBytes    int64     // see MeasureChanges
}

// subscriber is a call of Follow.
type subscriber struct {
	pages chan *feedPage // closed after err is set
	err   error
}

// feedPage is a page for all subscribers. Each filter selects its changes once.
type feedPage struct {
	changePage
	mu      sync.Mutex
	matches map[string]*filteredPage // by filterKey; none that failed
}

func newFeed() *feed {
	return &feed{wake: make(chan struct{}, 1), subscribers: map[*subscriber]struct{}{}}
}

var errSlow = model.Errorf(model.Unavailable, "The changes came faster than the connection took them. Resume from your last position.")

// changed tells the feed about a change.
func (f *feed) changed() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// runFeed starts the feed, once.
func (s *Store) runFeed() {
	s.feed.start.Do(func() {
		s.Background(s.feedChanges)
		if s.connector != nil {
			s.Background(func(ctx context.Context) { s.connector.Listen(ctx, tickChannel, s.feed.changed) })
		}
	})
}

// feedChanges makes ticks and distributes changes until ctx ends.
func (s *Store) feedChanges(ctx context.Context) {
	defer s.cutAll(fault.Unavailable(context.Canceled))
	for ctx.Err() == nil {
		err := task.Run(ctx, func() error { return s.feedOnce(ctx) })
		s.feed.caughtUp(err)
		if err != nil && ctx.Err() == nil {
			s.options.Logger.WarnContext(ctx, "the feed of changes waits", "error", err)
			pause(ctx, retryInterval, nil)
		}
		interval := pollInterval
		if s.feed.followed() {
			interval = tickInterval
		}
		pause(ctx, interval, nil)
		pause(ctx, pollInterval, s.feed.wake)
	}
}

// pause waits for a time, a value of wake or the end of ctx.
func pause(ctx context.Context, d time.Duration, wake <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-ctx.Done():
	}
}

func (f *feed) followed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.subscribers) > 0
}

// feedOnce makes a tick if there are changes, and distributes what is new.
func (s *Store) feedOnce(ctx context.Context) error {
	if err := s.tickForPage(ctx); err != nil {
		return err
	}
	for {
		s.feed.mu.Lock()
		after, followed := s.feed.at, len(s.feed.subscribers) > 0
		s.feed.mu.Unlock()
		if !followed {
			return nil
		}
		page, _, err := s.readChanges(ctx, changeFilter{types: model.CatalogueTypes}, &after, changeRows)
		if model.IsCode(err, model.PositionGone) {
			s.cutAll(err)
			return nil
		}
		if err != nil {
			return err
		}
		s.feed.distribute(page)
		if !page.more {
			return nil
		}
	}
}

// distribute queues a page for all subscribers and cuts those whose queue is full.
func (f *feed) distribute(page *changePage) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = page.end
	if len(page.changes) == 0 {
		return
	}
	shared := &feedPage{changePage: *page, matches: map[string]*filteredPage{}}
	for sub := range f.subscribers {
		select {
		case sub.pages <- shared:
		default:
			f.end(sub, errSlow)
			f.cut++
		}
	}
}

// end ends a subscription. The caller holds the lock.
func (f *feed) end(sub *subscriber, err error) {
	delete(f.subscribers, sub)
	sub.err = err
	close(sub.pages)
}

func (s *Store) cutAll(err error) {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	for sub := range s.feed.subscribers {
		s.feed.end(sub, err)
	}
}

// subscribe adds a subscriber, which gets all pages after the returned position.
func (s *Store) subscribe(ctx context.Context) (*subscriber, position, error) {
	newest, err := s.newest(ctx)
	if err != nil {
		return nil, position{}, err
	}
	sub := &subscriber{pages: make(chan *feedPage, cmp.Or(s.options.feedQueue, feedQueue))}
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	if s.life.Err() != nil {
		return nil, position{}, fault.Unavailable(context.Canceled)
	}
	if len(s.feed.subscribers) == 0 {
		s.feed.at = newest
	}
	s.feed.subscribers[sub] = struct{}{}
	return sub, s.feed.at, nil
}

func (s *Store) unsubscribe(sub *subscriber) {
	s.feed.mu.Lock()
	defer s.feed.mu.Unlock()
	delete(s.feed.subscribers, sub)
}

// Admit waits until a subscriber may read. Call release after the read.
type Admit = func(context.Context) (release func(), err error)

// Follow calls fn with each page of new changes, in order, until ctx ends or fn fails. The first page
// is empty: its position is where the stream begins. Later pages are empty if only other changes
// passed for a while. The changes are shared and must not be modified.
// Errors: BadUserInput, PositionGone, and Unavailable for a subscriber that is too slow.
//
// Each read of the log, and of the rows for a filter, waits for admit and then for the database; nil admits at once.
func (s *Store) Follow(ctx context.Context, args model.ChangeArgs, admit Admit, fn func(context.Context, *model.ChangePage) error) error {
	f, err := newChangeFilter(args)
	if err != nil {
		return err
	}
	after, err := parseAfter(args.After)
	if err != nil {
		return err
	}
	s.runFeed()
	if err := s.tickForPage(ctx); err != nil {
		return err
	}
	if after == nil {
		newest, err := s.newest(ctx)
		if err != nil {
			return err
		}
		after = &newest
	}
	if admit == nil {
		admit = func(context.Context) (func(), error) { return func() {}, nil }
	}
	key := filterKey(args)
	at, sent := *after, time.Now()
	// send calls fn with the changes of a page after at, or with a new position now and then.
	send := func(page *changePage, looked int) error {
		out := page.nodes(at, len(page.changes))
		out.Looked = looked
		if at.before(page.end) {
			at = page.end
		}
		if len(out.Nodes) == 0 && looked == 0 && time.Since(sent) < emptyInterval {
			return nil
		}
		sent = time.Now()
		return fn(ctx, out)
	}
	// read sends the logged changes up to a position, or to the end for nil.
	read := func(until *position) error {
		for more := true; more && (until == nil || at.before(*until)); {
			page, err := s.readAdmitted(ctx, f, at, admit)
			if err != nil {
				return err
			}
			looked := 0
			if page.more {
				looked = changeRows
			}
			if err := send(page, looked); err != nil {
				return err
			}
			if more = page.more || until != nil; !page.more && until != nil && page.end.before(*until) {
				return errPositionGone
			}
		}
		return nil
	}
	if err := s.checkPosition(ctx, at); err != nil {
		return err
	}
	if err := fn(ctx, &model.ChangePage{Position: at.String()}); err != nil {
		return err
	}
	if err := read(nil); err != nil {
		return err
	}
	sub, joined, err := s.subscribe(ctx)
	if err != nil {
		return err
	}
	defer s.unsubscribe(sub)
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
			page, err := s.filterPage(ctx, shared, f, key, admit)
			for model.IsCode(err, model.Unavailable) && ctx.Err() == nil && s.life.Err() == nil { // as the feed waits
				pause(ctx, retryInterval, nil)
				page, err = s.filterPage(ctx, shared, f, key, admit)
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

// checkPosition returns PositionGone for an unknown position.
func (s *Store) checkPosition(ctx context.Context, p position) error {
	return s.transact(ctx, s.readPool, s.dialect.Snapshot, func(ctx context.Context, t *tx) error {
		_, err := s.readWindow(ctx, t, &p)
		return err
	})
}

// readAdmitted reads the logged changes after a position with a permit, which it returns also after a panic.
func (s *Store) readAdmitted(ctx context.Context, f changeFilter, after position, admit Admit) (*changePage, error) {
	release, err := admit(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	page, _, err := s.readChanges(ctx, f, &after, changeRows)
	return page, err
}

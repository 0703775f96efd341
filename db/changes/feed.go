package changes

import (
	"cmp"
	"context"
	"log/slog"
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
	feedQueue     = 8                      // pages of at most readRows changes that wait for a subscriber

	emptyInterval = time.Second // minimum time between a page and an empty one
)

// Feed distributes new changes to subscribers. One goroutine of the Store reads the log for all of
// them. It blocks neither writers nor subscribers.
type Feed struct {
	log    *Log
	config Config
	start  sync.Once
	wake   chan struct{} // has a value after a write of this process or a tick of another

	mu          sync.Mutex
	subscribers map[*subscriber]struct{}
	at          Position  // end of the last distributed page, if there are subscribers
	cut         int64     // subscribers that were too slow
	behind      time.Time // first failure since the feed had all changes, or zero
	logBytes    int64     // see Measure
}

// subscriber is a call of Follow.
type subscriber struct {
	pages chan *feedPage // closed after err is set
	err   error
}

// feedPage is a page for all subscribers. Each filter selects its changes once.
type feedPage struct {
	Page
	mu      sync.Mutex
	matches map[string]*filteredPage // by filterKey; none that failed
}

// Config configures a Feed.
type Config struct {
	Logger     *slog.Logger
	Life       context.Context                                      // of the Feed
	Background func(func(context.Context)) bool                     // runs a function in a goroutine with Life
	Listen     func(ctx context.Context, channel string, fn func()) // calls fn for each NOTIFY; nil without ticks

	// Tests alone set these. Zero means the constant.
	Queue       int
	FilterFails func() error // called before a filter selects its changes
}

// NewFeed returns the feed of a log. Start starts it.
func NewFeed(log *Log, config Config) *Feed {
	return &Feed{log: log, config: config, wake: make(chan struct{}, 1), subscribers: map[*subscriber]struct{}{}}
}

var errSlow = model.Errorf(model.Unavailable, "The changes came faster than the connection took them. Resume from your last position.")

// Changed tells the feed about a change.
func (f *Feed) Changed() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// Start starts the feed, once.
func (f *Feed) Start() {
	f.start.Do(func() {
		f.config.Background(f.run)
		if f.config.Listen != nil {
			f.config.Background(func(ctx context.Context) { f.config.Listen(ctx, Channel, f.Changed) })
		}
	})
}

// run makes ticks and distributes changes until ctx ends.
func (f *Feed) run(ctx context.Context) {
	defer f.cutAll(fault.Unavailable(context.Canceled))
	for ctx.Err() == nil {
		err := task.Run(ctx, func() error { return f.once(ctx) })
		f.caughtUp(err)
		if err != nil && ctx.Err() == nil {
			f.config.Logger.WarnContext(ctx, "the feed of changes waits", "error", err)
			pause(ctx, retryInterval, nil)
		}
		interval := pollInterval
		if f.followed() {
			interval = tickInterval
		}
		pause(ctx, interval, nil)
		pause(ctx, pollInterval, f.wake)
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

func (f *Feed) followed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.subscribers) > 0
}

// once makes a tick if there are changes, and distributes what is new.
func (f *Feed) once(ctx context.Context) error {
	if err := f.log.TickForPage(ctx); err != nil {
		return err
	}
	for {
		f.mu.Lock()
		after, followed := f.at, len(f.subscribers) > 0
		f.mu.Unlock()
		if !followed {
			return nil
		}
		page, _, err := f.log.read(ctx, Filter{types: model.CatalogueTypes}, &after, readRows)
		if model.IsCode(err, model.PositionGone) {
			f.cutAll(err)
			return nil
		}
		if err != nil {
			return err
		}
		f.distribute(page)
		if !page.more {
			return nil
		}
	}
}

// distribute queues a page for all subscribers and cuts those whose queue is full.
func (f *Feed) distribute(page *Page) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = page.end
	if len(page.changes) == 0 {
		return
	}
	shared := &feedPage{Page: *page, matches: map[string]*filteredPage{}}
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
func (f *Feed) end(sub *subscriber, err error) {
	delete(f.subscribers, sub)
	sub.err = err
	close(sub.pages)
}

func (f *Feed) cutAll(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for sub := range f.subscribers {
		f.end(sub, err)
	}
}

// subscribe adds a subscriber, which gets all pages after the returned position.
func (f *Feed) subscribe(ctx context.Context) (*subscriber, Position, error) {
	newest, err := f.log.Newest(ctx)
	if err != nil {
		return nil, Position{}, err
	}
	sub := &subscriber{pages: make(chan *feedPage, cmp.Or(f.config.Queue, feedQueue))}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.config.Life.Err() != nil {
		return nil, Position{}, fault.Unavailable(context.Canceled)
	}
	if len(f.subscribers) == 0 {
		f.at = newest
	}
	f.subscribers[sub] = struct{}{}
	return sub, f.at, nil
}

func (f *Feed) unsubscribe(sub *subscriber) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.subscribers, sub)
}

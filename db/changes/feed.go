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
	wake   chan struct{} // has a value after a write of this process
	ticked chan struct{} // has a value after a tick of any process

	mu          sync.Mutex
	subscribers map[*subscriber]struct{}
	at          model.Position // end of the last distributed page; stale without subscribers
	cut         int64          // subscribers that were too slow
	behind      time.Time      // first failure since the feed had all changes, or zero
	sizes       sizes          // see Measure
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
	Life       context.Context                                      // context of the Feed
	Background func(func(context.Context)) bool                     // runs a function in a goroutine with Life
	Listen     func(ctx context.Context, channel string, fn func()) // calls fn for each NOTIFY; nil without ticks

	// Tests alone set these. Zero means the constant.
	Queue       int
	FilterFails func() error // called before a filter selects its changes
}

// NewFeed returns the feed of a log. Start starts it.
func NewFeed(log *Log, config Config) *Feed {
	return &Feed{log: log, config: config, wake: make(chan struct{}, 1), ticked: make(chan struct{}, 1),
		subscribers: map[*subscriber]struct{}{}}
}

var errSlow = model.Errorf(model.Unavailable,
	"The changes came faster than the connection took them. Resume from your last position.")

// Changed tells the feed about a change.
func (f *Feed) Changed() { signal(f.wake) }

func signal(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Start starts the feed, once.
func (f *Feed) Start() {
	f.start.Do(func() {
		f.config.Background(f.run)
		if f.config.Listen != nil {
			f.config.Background(func(ctx context.Context) {
				f.config.Listen(ctx, Channel, func() { signal(f.ticked) })
			})
		}
	})
}

// run makes ticks and distributes changes until ctx ends. A tick of another process is only read: the process that
// made it, or one that has made a change, looks for later changes. So many processes do not look for the same ones.
func (f *Feed) run(ctx context.Context) {
	defer f.cutAll(fault.Unavailable(context.Canceled))
	for look := true; ctx.Err() == nil; {
		lacks := false
		err := task.Run(ctx, func() (err error) { lacks, err = f.once(ctx, look); return err })
		f.caughtUp(err)
		if err != nil && ctx.Err() == nil {
			f.config.Logger.WarnContext(ctx, "the feed of changes waits", "error", err)
			task.Wait(ctx, retryInterval, nil)
		}
		interval := pollInterval
		if f.followed() {
			interval = tickInterval
		}
		task.Wait(ctx, interval, nil)
		look = lacks || err != nil || f.wait(ctx)
	}
}

// wait waits for a change of this process, for a tick of any process, for pollInterval or for the end of ctx. It
// returns false after a tick, because the process that made it looks again soon.
func (f *Feed) wait(ctx context.Context) bool {
	timer := time.NewTimer(pollInterval)
	defer timer.Stop()
	select {
	case <-f.ticked:
		return false
	case <-f.wake:
	case <-timer.C:
	case <-ctx.Done():
	}
	return true
}

func (f *Feed) followed() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.subscribers) > 0
}

// once distributes new changes. If look is true, it makes a tick before if there are any. lacks means that it may lack
// changes.
func (f *Feed) once(ctx context.Context, look bool) (lacks bool, err error) {
	if look {
		newest := model.Position{}
		if newest, lacks, err = f.log.look(ctx); err != nil || f.has(newest) {
			return lacks, err
		}
	}
	for {
		f.mu.Lock()
		after, followed := f.at, len(f.subscribers) > 0
		f.mu.Unlock()
		if !followed {
			return lacks, nil
		}
		page, _, err := f.log.read(ctx, Filter{types: model.CatalogueTypes, olds: true}, &after, readRows)
		if model.IsCode(err, model.PositionGone) {
			f.cutAll(err)
			return lacks, nil
		}
		if err != nil {
			return lacks, err
		}
		f.distribute(page)
		if !page.more {
			return lacks, nil
		}
	}
}

// has reports whether the feed has distributed all changes before a position.
func (f *Feed) has(newest model.Position) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.at == newest
}

// distribute queues a page for all subscribers. It cuts a subscriber with a full queue.
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
func (f *Feed) subscribe(ctx context.Context) (*subscriber, model.Position, error) {
	newest, err := f.log.Newest(ctx)
	if err != nil {
		return nil, model.Position{}, err
	}
	sub := &subscriber{pages: make(chan *feedPage, cmp.Or(f.config.Queue, feedQueue))}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.config.Life.Err() != nil {
		return nil, model.Position{}, fault.Unavailable(context.Canceled)
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

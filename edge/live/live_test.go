package live

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"library-catalogue/edge/pipeline"
	"library-catalogue/edge/ratelimit"
	"library-catalogue/graph/model"
	"library-catalogue/graph/reads"
)

// catalogue is a number that changes.
type catalogue struct {
	mu       sync.Mutex
	revision int64
	value    int
	runs     int
	bytes    int
	hang     atomic.Bool
	err      error
	changed  chan struct{}
}

func (c *catalogue) Revision(ctx context.Context) (model.Revision, error) {
	if c.hang.Load() {
		<-ctx.Done()
		return model.NoRevision, ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return model.Revision{Catalogue: c.revision, Reference: 0}, c.err
}

func (c *catalogue) Read(context.Context, model.Revision, model.Replicas, func(context.Context) (bool, error)) (int64, error) {
	panic("unused")
}

func (c *catalogue) WithSnapshot(ctx context.Context) context.Context { return ctx }

// set stores a value; the feed tells of it 10 ms later.
func (c *catalogue) set(value int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.revision++
	c.value = value
	time.AfterFunc(10*time.Millisecond, func() { c.changed <- struct{}{} })
}

func (c *catalogue) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

func (c *catalogue) run(context.Context, model.Revision) (State, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs++
	return State{Sum: sha256.Sum256(fmt.Append(nil, c.value)), Response: c.value, Price: 1_000, Bytes: c.bytes, Revision: c.revision}, c.err
}

func (c *catalogue) follow(ctx context.Context, _ model.ChangeArgs, _ func(context.Context) (func(), error),
	fn func(context.Context, *model.ChangePage) error,
) error {
	_ = fn(ctx, &model.ChangePage{})
	for {
		select {
		case <-c.changed:
			_ = fn(ctx, &model.ChangePage{Nodes: []*model.Change{{Type: model.TypeBook, Operation: model.ChangeReset}}})
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// inBubble runs a test with a fake clock. It fails if goroutines are left.
func inBubble(t *testing.T, test func(t *testing.T, c *catalogue, listen func(ctx context.Context, throttle time.Duration) *Listener)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &catalogue{changed: make(chan struct{})}
		hub := NewHub(context.Background(), &pipeline.Pipeline{Catalogue: c}, c.follow)
		t.Cleanup(hub.Wait) // after the listeners
		var rows reads.Rows
		rows.Add(model.TypeBook, nil)
		test(t, c, func(ctx context.Context, throttle time.Duration) *Listener {
			l := hub.Listen(ctx, Query{Key: pipeline.KeyOf("value"), Reads: rows, Run: c.run}, throttle)
			t.Cleanup(l.Close)
			return l
		})
	})
}

func want(t *testing.T, l *Listener, value int) {
	t.Helper()
	if state, err := l.Next(t.Context()); err != nil || state.Response != value {
		t.Errorf("got %v, %v, want %d", state.Response, err, value)
	}
}

// wantNone fails if a listener gets a State within a time.
func wantNone(t *testing.T, l *Listener, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	if state, err := l.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, %v", state.Response, err)
	}
}

// TestShared lets listeners share runs, and skip the states that they miss.
func TestShared(t *testing.T) {
	inBubble(t, func(t *testing.T, c *catalogue, listen func(context.Context, time.Duration) *Listener) {
		fast, slow := listen(t.Context(), 0), listen(t.Context(), 0)
		want(t, fast, 0)
		want(t, slow, 0)
		begun := time.Now()
		for i := range 10 {
			c.set(i + 1)
			want(t, fast, i+1)
		}
		if took := time.Since(begun); took < 10*minRunInterval-minRunInterval {
			t.Errorf("10 runs took %s", took)
		}
		want(t, slow, 10)
		want(t, listen(t.Context(), 0), 10)
		if c.runs > 12 { // of the 11 states, and at the first page of the feed
			t.Errorf("%d runs", c.runs)
		}
		c.set(10)
		wantNone(t, fast, time.Second)
	})
}

// TestThrottle spreads the states of a listener. One that returns to its last state is not sent.
func TestThrottle(t *testing.T) {
	inBubble(t, func(t *testing.T, c *catalogue, listen func(context.Context, time.Duration) *Listener) {
		fast, slow := listen(t.Context(), 0), listen(t.Context(), 10*time.Second)
		want(t, slow, 0)
		want(t, fast, 0)
		begun := time.Now()
		for _, value := range []int{1, 2, 3} {
			c.set(value)
			want(t, fast, value)
		}
		want(t, slow, 3)
		if took := time.Since(begun); took < 9*time.Second {
			t.Errorf("the next state came after %s", took)
		}
		c.set(4)
		want(t, fast, 4)
		c.set(3)
		want(t, fast, 3)
		wantNone(t, slow, time.Minute)
	})
}

// TestFailing ends listeners when runs fail for 5 s, and not before.
func TestFailing(t *testing.T) {
	inBubble(t, func(t *testing.T, c *catalogue, listen func(context.Context, time.Duration) *Listener) {
		l := listen(t.Context(), 0)
		want(t, l, 0)
		down := model.Errorf(model.Unavailable, "down")
		c.fail(down)
		wantNone(t, l, 4*time.Second)
		c.fail(nil)
		c.set(1)
		want(t, l, 1)
		c.fail(down)
		begun := time.Now()
		if state, err := l.Next(t.Context()); !errors.Is(err, down) {
			t.Errorf("got %v, %v", state.Response, err)
		}
		if took := time.Since(begun); took < 5*time.Second || took > 8*time.Second {
			t.Errorf("it ended after %s", took)
		}
		c.fail(nil)
		want(t, listen(t.Context(), 0), 1)
	})
}

// TestPrice lets a poor listener wait, while one that can pay gets each state. At most half of a rate goes to live
// queries.
func TestPrice(t *testing.T) {
	inBubble(t, func(t *testing.T, c *catalogue, listen func(context.Context, time.Duration) *Listener) {
		limiter := ratelimit.New(ratelimit.Rate{PerSecond: 2, Burst: 20})
		as := func(fn func(ctx context.Context)) {
			handler := limiter.Middleware(0, func(http.ResponseWriter, *http.Request, error) { t.Error("refused") })(
				http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { fn(r.Context()) }))
			handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
		}
		as(func(ctx context.Context) {
			l := listen(ctx, 0)
			want(t, l, 0)
			c.set(1)
			want(t, l, 1) // 10 units of 10
			begun := time.Now()
			c.set(2)
			want(t, l, 2) // at one unit a second
			if took := time.Since(begun).Round(time.Second); took != 10*time.Second {
				t.Errorf("it took %s", took)
			}
			if err := ratelimit.Charge(ctx, 1_000); err != nil {
				t.Errorf("the other half of the rate: %v", err)
			}
			c.set(3)
			rich := listen(t.Context(), 0)
			want(t, rich, 3)
			c.set(4)
			want(t, rich, 4)
			want(t, l, 4) // its share is 5 units
		})
	})
}

// TestLarge drops a large state that all listeners have. Later ones get it from a run of their own.
func TestLarge(t *testing.T) {
	inBubble(t, func(t *testing.T, c *catalogue, listen func(context.Context, time.Duration) *Listener) {
		c.bytes = maxKeptBytes + 1
		fast, slow := listen(t.Context(), 0), listen(t.Context(), 0)
		want(t, fast, 0)
		want(t, slow, 0)
		if fast.query.state.Response != nil {
			t.Error("the state is kept")
		}
		c.set(1)
		want(t, fast, 1)
		if fast.query.state.Response == nil {
			t.Error("the state is lost")
		}
		want(t, slow, 1)
		c.set(1) // equal
		wantNone(t, fast, time.Second)
		if fast.query.state.Response != nil {
			t.Error("an equal state is kept")
		}
		want(t, listen(t.Context(), 0), 1)
		fast.Close()
		fast.Close()
	})
}

// TestLeft wants no State for a client that has left, and was the last one.
func TestLeft(t *testing.T) {
	inBubble(t, func(t *testing.T, c *catalogue, listen func(context.Context, time.Duration) *Listener) {
		ctx, leave := context.WithCancel(t.Context())
		slow, fast := listen(ctx, 0), listen(t.Context(), 0)
		want(t, slow, 0)
		want(t, fast, 0)
		c.set(1)
		want(t, fast, 1)
		leave()
		fast.Close()
		slow.Close()
		if state, err := slow.Next(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, %v", state.Response, err)
		}
	})
}

// TestHanging ends listeners soon when the database does not answer at all.
func TestHanging(t *testing.T) {
	inBubble(t, func(t *testing.T, c *catalogue, listen func(context.Context, time.Duration) *Listener) {
		l := listen(t.Context(), 0)
		want(t, l, 0)
		c.hang.Store(true)
		begun := time.Now()
		if state, err := l.Next(t.Context()); !model.IsCode(err, model.Unavailable) {
			t.Errorf("got %v, %v", state.Response, err)
		}
		if took := time.Since(begun); took > checkInterval+maxFailing {
			t.Errorf("it ended after %s", took)
		}
	})
}

// TestPanic ends the listeners of a query whose run panics.
func TestPanic(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &catalogue{changed: make(chan struct{})}
		hub := NewHub(context.Background(), &pipeline.Pipeline{Catalogue: c}, c.follow)
		l := hub.Listen(t.Context(), Query{Run: func(context.Context, model.Revision) (State, error) { panic("run") }}, 0)
		if _, err := l.Next(t.Context()); !model.IsCode(err, model.Internal) {
			t.Errorf("got %v", err)
		}
		l.Close()
		hub.Wait()
	})
}

// Package webhooks sends changes to HTTP endpoints by Standard Webhooks 1.0.0
// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md).
//
// Each endpoint gets the changes in their order, one in a request, and each at least once. The next change waits for
// a 2xx response to the one before. Several servers share the endpoints by leases.
package webhooks

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"library-catalogue/graph/model"
	"library-catalogue/task"
)

// Endpoints stores the endpoints and their leases. Methods that return a *model.Webhook return nil if the lease is
// lost or, for Lease, if no endpoint is due.
type Endpoints interface {
	List(ctx context.Context) ([]*model.Webhook, error)
	// Position returns the position after all changes committed so far.
	Position(ctx context.Context) (string, error)
	// ForgetLeases ends the leases of earlier processes if no other server shares the database.
	ForgetLeases(ctx context.Context) error
	// Lease leases the endpoint that is due and was leased least recently.
	Lease(ctx context.Context, holder string, lease time.Duration) (*model.Webhook, error)
	// Delivered moves the endpoint's position behind a delivered change, and extends the lease.
	Delivered(ctx context.Context, w *model.Webhook, holder, position string, lease time.Duration) (*model.Webhook,
		error)
	// Extend extends the lease, and moves the position past changes of other types.
	Extend(ctx context.Context, w *model.Webhook, holder, position string, lease time.Duration) (*model.Webhook, error)
	// Failed records a failed attempt and ends the lease. The next attempt is due after delay, or never if disabled has
	// a reason.
	Failed(ctx context.Context, w *model.Webhook, holder, message string, delay time.Duration, disabled string) error
	// Release ends a lease.
	Release(ctx context.Context, id model.ID, holder string) error
}

// Feed has the changes.
type Feed interface {
	Changes(ctx context.Context, args model.ChangeArgs) (*model.ChangePage, error)
	Follow(ctx context.Context, args model.ChangeArgs, admit func(context.Context) (release func(), err error),
		fn func(context.Context, *model.ChangePage) error) error
}

// Config configures a Sender.
type Config struct {
	Endpoints Endpoints
	Feed      Feed
	// Background runs fn, and returns false on a closed store. Closing it ends life and waits for fn.
	Background func(fn func(life context.Context)) bool
	Private    bool         // allows private addresses and http
	Logger     *slog.Logger // nil means no log
}

// times are the times of a Sender. Tests shorten them.
type times struct {
	poll   time.Duration   // between two looks for endpoints without a lease
	lease  time.Duration   // longer than a request takes and than idle
	idle   time.Duration   // without a change, the lease is extended after it
	turn   time.Duration   // then another server may get the lease
	delays []time.Duration // after failed attempts
}

// defaultTimes has the delays of Standard Webhooks 1.0.0, section "Deliverability and reliability".
var defaultTimes = times{
	poll: time.Second, lease: 2 * sendTimeout, idle: 5 * time.Second, turn: time.Minute,
	delays: []time.Duration{
		5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour,
		14 * time.Hour,
		20 * time.Hour, 24 * time.Hour,
	},
}

// Sender sends the changes of a feed to the endpoints that it leases.
type Sender struct {
	Config
	client  *Client
	process string // in the holders of leases
	times   times
	metrics *metrics

	forgotten bool // the leases of earlier processes, by Run
}

// New returns a Sender. Run starts it.
func New(cfg Config) *Sender {
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	host, _ := os.Hostname() // only informs operators
	return &Sender{
		Config: cfg, client: NewClient(cfg.Private), times: defaultTimes, metrics: newMetrics(),
		process: fmt.Sprintf("%s %d", host, os.Getpid()),
	}
}

// Run sends until ctx ends. It then waits for the requests in flight, and releases the leases.
func (s *Sender) Run(ctx context.Context) {
	var turns sync.WaitGroup
	defer turns.Wait()
	failing := false
	for wait := time.Duration(0); task.Wait(ctx, wait, nil); {
		// Each turn is a holder of its own, so that it cannot release the lease of a later one.
		holder := s.process + " " + rand.Text()
		var w *model.Webhook
		err := task.Run(ctx, func() (err error) { // so that a panic does not end the sender
			w, err = s.lease(ctx, holder)
			return err
		})
		if err != nil && !failing && ctx.Err() == nil {
			s.Logger.WarnContext(ctx, "webhooks wait for the database", "error", err)
		}
		failing = err != nil
		wait = s.times.poll
		if w != nil {
			turns.Add(1)
			if !s.Background(func(life context.Context) {
				defer turns.Done()
				s.turn(ctx, life, w, holder)
			}) {
				turns.Done()
			}
			wait /= 10 // look for the next endpoint soon; not at once, so that another server may lease it
		}
	}
}

// lease leases an endpoint that is due. Before the first it forgets the leases of an earlier process, so that a server
// that starts again need not wait until they expire.
func (s *Sender) lease(ctx context.Context, holder string) (*model.Webhook, error) {
	if !s.forgotten {
		if err := s.Endpoints.ForgetLeases(ctx); err != nil {
			return nil, err
		}
		s.forgotten = true
	}
	return s.Endpoints.Lease(ctx, holder, s.times.lease)
}

// Package eventstream counts the streams of each caller, ends them, and writes server-sent events.
package eventstream

import (
	"context"
	"errors"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"library-catalogue/edge/admission"
	"library-catalogue/edge/caller"
	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/model"
	"library-catalogue/task"
)

// DefaultMax is the default maximum number of open streams.
const DefaultMax = 2_000

// maxPerCaller is the maximum number of open streams of one caller.
const maxPerCaller = 100

// Causes of an ended stream.
var (
	ErrStopping     = model.Errorf(model.Unavailable, "The server is shutting down. Connect again.")
	ErrTokenExpired = model.Errorf(model.Unauthenticated, "The token has expired. Get a new one.")
	// ErrReplaced ends a stream when another caller with fewer streams opens one and the server is full.
	ErrReplaced = model.Errorf(model.Unavailable,
		"The server has too many open subscriptions and event streams, and you have most of them. Connect again later.")
)

var (
	errTooMany = model.Errorf(model.RateLimited,
		"A caller may have %d open subscriptions and event streams. Close one first.", maxPerCaller)
	errFull = model.Errorf(model.Unavailable,
		"The server has too many open subscriptions and event streams. Try again later.")
)

// Streams counts the open subscriptions and event streams. It is safe for concurrent use.
type Streams struct {
	max      int
	stopping context.Context
	stop     context.CancelFunc
	cut      *prometheus.CounterVec // reason

	mu      sync.Mutex
	open    int
	callers map[caller.Key]map[*stream]bool
	running sync.WaitGroup // streams and sockets; no Add after stop
}

type stream struct{ cancel context.CancelCauseFunc }

// New returns a Streams for at most max open streams.
func New(max int) *Streams {
	s := &Streams{max: max, callers: map[caller.Key]map[*stream]bool{},
		cut: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "catalogue_streams_cut_total",
			Help: "Subscriptions and event streams that the server ended, by reason (slow, token, shutdown, full).",
		}, []string{"reason"})}
	s.stopping, s.stop = context.WithCancel(context.Background())
	for _, reason := range []string{slow, token, shutdown, full} {
		s.cut.WithLabelValues(reason)
	}
	return s
}

// Shutdown ends all streams and sockets, and waits for them until ctx ends.
func (s *Streams) Shutdown(ctx context.Context) error {
	s.mu.Lock()
	s.stop()
	s.mu.Unlock()
	ended := task.Go(ctx, func() error {
		s.running.Wait()
		return nil
	})
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Count returns the number of open streams.
func (s *Streams) Count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// Stopping returns a context that ends when Shutdown begins.
func (s *Streams) Stopping() context.Context { return s.stopping }

// Hold makes Shutdown wait for a socket until release is called. The error is ErrStopping.
func (s *Streams) Hold() (release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping.Err() != nil {
		return nil, ErrStopping
	}
	s.running.Add(1)
	return s.running.Done, nil
}

// Open counts a stream of the caller in ctx. The stream's context ends when the caller's token expires, the server
// stops, or another caller takes its place, with ErrTokenExpired, ErrStopping or ErrReplaced as its cause. The
// connection of ctx is exempt from the limits of admission.Listener until the stream ends. The error is RateLimited or
// Unavailable.
//
// Call end once, with the error that ended the stream. It is nil if the client left or the stream is complete.
func (s *Streams) Open(ctx context.Context) (_ context.Context, end func(error), err error) {
	who := caller.Of(ctx)
	opened, open := ctx, &stream{}
	ctx, open.cancel = context.WithCancelCause(ctx)
	if err := s.add(who, open); err != nil {
		open.cancel(nil)
		return nil, nil, err
	}
	telemetry.RequestOf(ctx).Stream.Store(true)
	release := admission.Exempt(opened)
	ctx, expire := UntilExpiry(ctx)
	ignore := task.OnDone(s.stopping, func() { open.cancel(ErrStopping) })
	return ctx, func(err error) {
		if err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
			err = context.Cause(ctx)
		}
		ignore()
		open.cancel(nil)
		expire()
		release()
		s.remove(who, open, reasonOf(err))
	}, nil
}

// validInterval is the time between two checks that the session of a stream has not ended.
const validInterval = time.Second

// UntilExpiry returns a context that ends with ErrTokenExpired when the token in ctx expires or its session ends, if
// there is one.
func UntilExpiry(ctx context.Context) (context.Context, context.CancelFunc) {
	p, err := model.CallerOf(ctx)
	if err != nil || p.Expires.IsZero() {
		return context.WithCancel(ctx)
	}
	ctx, cancel := context.WithDeadlineCause(ctx, p.ValidUntil(), ErrTokenExpired)
	stillValid := model.StillValid(ctx)
	if stillValid == nil {
		return ctx, cancel
	}
	ctx, end := context.WithCancelCause(ctx)
	task.Go(ctx, func() error {
		tick := time.NewTicker(validInterval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return nil
			case <-tick.C:
			}
			if !stillValid(ctx) && ctx.Err() == nil {
				end(ErrTokenExpired)
			}
		}
	})
	return ctx, func() { end(nil); cancel() }
}

func (s *Streams) add(who caller.Key, added *stream) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopping.Err() != nil:
		return ErrStopping
	case len(s.callers[who]) >= maxPerCaller:
		return errTooMany
	case s.open >= s.max && !s.replace(who):
		return errFull
	}
	s.open++
	if s.callers[who] == nil {
		s.callers[who] = map[*stream]bool{}
	}
	s.callers[who][added] = true
	s.running.Add(1)
	return nil
}

// replace ends a stream of the caller with most streams. It returns false if who would then have as many.
func (s *Streams) replace(who caller.Key) bool {
	var most map[*stream]bool
	for _, streams := range s.callers {
		if len(streams) > len(most) {
			most = streams
		}
	}
	if len(most) <= len(s.callers[who])+1 {
		return false
	}
	for victim := range most {
		victim.cancel(ErrReplaced)
		delete(most, victim) // s.open counts it until it has ended
		return true
	}
	return false
}

func (s *Streams) remove(who caller.Key, ended *stream, reason string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running.Done()
	s.open--
	if delete(s.callers[who], ended); len(s.callers[who]) == 0 {
		delete(s.callers, who)
	}
	if reason != "" {
		s.cut.WithLabelValues(reason).Inc()
	}
}

// Values of the label reason.
const (
	slow     = "slow"
	token    = "token"
	shutdown = "shutdown"
	full     = "full"
)

// reasonOf returns the label for the error that ended a stream, or "" if the server did not cut it.
func reasonOf(err error) string {
	e, ours := errors.AsType[*model.Error](err)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return slow // the client did not take a message
	case !ours:
		return ""
	case e == ErrTokenExpired:
		return token
	case e == ErrStopping:
		return shutdown
	case e == ErrReplaced:
		return full
	case e.Code == model.Unavailable:
		return slow // the feed has more changes than the client takes
	}
	return ""
}

// Serve opens a stream and calls fn to send its events. fn's context ends with the stream's, or when an event cannot be
// sent. If Serve returns an error, it has written nothing.
func (s *Streams) Serve(w http.ResponseWriter, r *http.Request, fn func(context.Context, *Writer) error) error {
	ctx, end, err := s.Open(r.Context())
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	out := newWriter(ctx, w, cancel)
	defer func() { // also after a panic
		_, _ = out.close() // before net/http takes the response back
		cancel(nil)
		end(err)
	}()
	err = fn(ctx, out)
	begun, failure := out.close()
	if failure != nil {
		err = failure
	}
	if begun {
		return nil
	}
	if cause, ok := errors.AsType[*model.Error](context.Cause(ctx)); ok {
		err = cause
	}
	return err
}

package serve

import (
	"context"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"syscall"
	"time"

	"library-catalogue/edge/admission"
	"library-catalogue/edge/telemetry"
	"library-catalogue/server"
	"library-catalogue/task"
)

const (
	// defaultDrainWait is the time for load balancers to stop sending requests: kubelet and HAProxy need
	// some seconds.
	defaultDrainWait = 5 * time.Second

	// drainTimeout bounds running requests after that. It is the longest time that an operation takes; slower
	// clients are cut off.
	drainTimeout = 30 * time.Second
)

// stopFlags configure the stop of the server.
type stopFlags struct {
	DrainWait *time.Duration `env:"CATALOGUE_DRAIN_WAIT" placeholder:"TIME" help:"Delay between failing /readyz and closing the listener on SIGTERM (default: 5s; for catalogue.db 0s)."`
}

// running is a server that accepts connections.
type running struct {
	*server.Server
	listener       net.Listener
	maxConnections int
	observer       *telemetry.Observer
	drainWait      time.Duration
	sent           <-chan error // closed when no webhook is being sent, after the end of run's context
	log            *slog.Logger
}

// run serves until ctx ends, and then stops in three steps:
//
//  1. /readyz fails.
//  2. After drainWait the listener closes.
//  3. run returns when all requests and webhooks have ended, after drainTimeout, or at a signal from again.
func (s *running) run(ctx context.Context, again <-chan os.Signal) error {
	failed := task.Go(ctx, func() error { return s.Serve(admission.Listener(s.listener, s.maxConnections)) })
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.observer.Stopping()
	s.log.Info("stopping; a second signal stops at once", "wait", s.drainWait.String())
	select {
	case err := <-failed:
		return err
	case <-again:
		return s.Close()
	case <-time.After(s.drainWait):
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	task.Go(drain, func() error {
		select {
		case <-again:
			cancel()
		case <-drain.Done():
		}
		return nil
	})
	if err := s.Shutdown(drain); err != nil && drain.Err() == nil {
		return err
	}
	select {
	case <-s.sent:
	case <-drain.Done():
	}
	if drain.Err() == nil {
		return nil
	}
	s.log.Warn("stopped with requests running")
	return s.Close()
}

// secondSignal returns a channel of the signals after the one that ended ctx.
func secondSignal(ctx context.Context) <-chan os.Signal {
	again := make(chan os.Signal, 1)
	task.OnDone(ctx, func() { signal.Notify(again, os.Interrupt, syscall.SIGTERM) })
	return again
}

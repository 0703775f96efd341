package serve

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"library-catalogue/edge/admission"
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

// run serves until ctx ends, and then stops in three steps:
//
//  1. /readyz fails.
//  2. After drainWait the listener closes.
//  3. run returns when all requests have ended and sent is closed, after drainTimeout, or at a signal from again.
func (p *process) run(ctx context.Context, srv *server.Server, sent <-chan error, again <-chan os.Signal) error {
	failed := task.Go(ctx, func() error { return srv.Serve(admission.Listener(p.listener, p.MaxConnections)) })
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	p.cfg.Observer.Stopping()
	p.log.Info("stopping; a second signal stops at once", "wait", p.DrainWait.String())
	select {
	case err := <-failed:
		return err
	case <-again:
		return srv.Close()
	case <-time.After(*p.DrainWait):
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
	if err := srv.Shutdown(drain); err != nil && drain.Err() == nil {
		return err
	}
	select {
	case <-sent:
	case <-drain.Done():
	}
	if drain.Err() == nil {
		return nil
	}
	p.log.Warn("stopped with requests running")
	return srv.Close()
}

// secondSignal returns a channel of the signals after the one that ended ctx.
func secondSignal(ctx context.Context) <-chan os.Signal {
	again := make(chan os.Signal, 1)
	task.OnDone(ctx, func() { signal.Notify(again, os.Interrupt, syscall.SIGTERM) })
	return again
}

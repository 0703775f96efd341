package serve

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"library-catalogue/server/admission"
	"library-catalogue/server/telemetry"
)

const (
	// defaultDrainWait is the time that a load balancer has to notice that it must
	// send nobody any more: kubelet and HAProxy alike need some seconds for that.
	defaultDrainWait = 5 * time.Second

	// drainTimeout bounds the requests under way after that: as long as the server
	// works on an answer at most. Whose client takes it no faster is cut off.
	drainTimeout = 30 * time.Second
)

// stopFlags say how the server stops.
type stopFlags struct {
	DrainWait *time.Duration `env:"CATALOGUE_DRAIN_WAIT" placeholder:"TIME" help:"After SIGTERM /readyz answers 503, and only after this time no more connections are taken, so that load balancers have sent everybody elsewhere (default: 5s; for catalogue.db 0s)."`
}

// service is a server on its listener.
type service struct {
	*http.Server
	listener       net.Listener
	maxConnections int
	observer       *telemetry.Observer
	drainWait      time.Duration
	log            *slog.Logger
}

// run answers until ctx ends, and then stops: it is not ready any more, after
// drainWait it takes no more connections, and it ends when all requests under way
// are answered, after drainTimeout, or when something comes from again.
func (s *service) run(ctx context.Context, again <-chan os.Signal) error {
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(admission.Listener(s.listener, s.maxConnections)) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	s.observer.Stopping()
	s.log.Info("stopping: a second signal ends it at once", "wait", s.drainWait.String())
	select {
	case err := <-failed:
		return err
	case <-again:
		return s.Close()
	case <-time.After(s.drainWait):
	}
	drain, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	go func() {
		select {
		case <-again:
			cancel()
		case <-drain.Done():
		}
	}()
	if err := s.Shutdown(drain); err == nil || drain.Err() == nil {
		return err
	}
	s.log.Warn("stopped before every client had its answer")
	return s.Close()
}

// secondSignal returns a channel of the signals that come after ctx has ended with
// the first.
func secondSignal(ctx context.Context) <-chan os.Signal {
	again := make(chan os.Signal, 1)
	context.AfterFunc(ctx, func() { signal.Notify(again, os.Interrupt, syscall.SIGTERM) })
	return again
}

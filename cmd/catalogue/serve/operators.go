package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"library-catalogue/cmd/catalogue/cli"
	"library-catalogue/db"
	"library-catalogue/edge/auth"
	"library-catalogue/edge/telemetry"
	"library-catalogue/graph/model"
	"library-catalogue/server"
	"library-catalogue/task"
)

// operatorFlags configure metrics, traces and the slow log.
type operatorFlags struct {
	OpsAddr   string        `env:"CATALOGUE_OPS_ADDR" placeholder:"HOST:PORT" help:"Second address, for operators: /metrics, /debug/pprof/, /livez and /readyz (default: no metrics and no profiles)."`
	SlowQuery time.Duration `env:"CATALOGUE_SLOW_QUERY" default:"1s" help:"Log each request that spends this long in the database, with its statements; 0 disables it (default: ${default})."`
}

// observer returns the observer of the store and the keys.
func (f operatorFlags) observer(store *db.Store, verifier *auth.Verifier, tracing *telemetry.Tracing, log *slog.Logger) *telemetry.Observer {
	build := cli.ReadBuild()
	replicas := store.Replicas
	if replicas() == nil {
		replicas = nil
	}
	observer := telemetry.New(telemetry.Config{
		Logger: log,
		Checks: func(ctx context.Context) []model.Check {
			return append(store.Checks(ctx), verifier.Check())
		},
		Pools:    store.Pools(),
		Waiting:  store.Waiting,
		Panics:   store.Panics,
		Feed:     store.FeedStats,
		Replicas: replicas,
		Slow:     f.SlowQuery,
		Tracing:  tracing,
		Build:    telemetry.Build{Version: build.Version, Commit: build.Commit, Date: build.Date},
	})
	store.Observe(observer.Statement)
	return observer
}

// flushTimeout bounds the sending of the last traces, because the collector may be unreachable.
const flushTimeout = 5 * time.Second

// startTracing returns the tracing that the OTEL_ variables configure, or nil. stop sends the remaining spans.
func startTracing(ctx context.Context, store *db.Store, log *slog.Logger) (tracing *telemetry.Tracing, stop func(), err error) {
	tracing, err = telemetry.NewTracing(ctx, cli.ReadBuild().Version, store.System(), log)
	if tracing == nil {
		return nil, func() {}, err
	}
	return tracing, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
		defer cancel()
		if err := tracing.Shutdown(ctx); err != nil {
			log.Warn("send the last traces", "error", err)
		}
	}, nil
}

// listen serves operators at their address, if it is set, until stop is called.
func (f operatorFlags) listen(ctx context.Context, observer *telemetry.Observer, log *slog.Logger) (stop func(), err error) {
	if f.OpsAddr == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", f.OpsAddr)
	if err != nil {
		return nil, fmt.Errorf("%w: choose another address with --ops-addr", err)
	}
	srv := server.NewOperators(observer, log)
	served := task.Go(ctx, func() error {
		err := srv.Serve(listener)
		if !errors.Is(err, http.ErrServerClosed) {
			log.Error("the operators' server stopped", "error", err)
		}
		return err
	})
	log.Info("operators", "url", "http://"+cli.Reachable(listener.Addr().String()))
	return func() {
		_ = srv.Close()
		<-served
	}, nil
}

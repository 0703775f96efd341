package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"library-catalogue/db"
	"library-catalogue/graph/model"
	"library-catalogue/server"
	"library-catalogue/server/auth"
)

// operatorFlags say what operators see.
type operatorFlags struct {
	OpsAddr           string        `env:"CATALOGUE_OPS_ADDR" placeholder:"HOST:PORT" help:"Second address, for operators alone: /metrics, /debug/pprof/, /livez and /readyz. Without it there are no metrics and no profiles."`
	MetricsOperations []string      `env:"CATALOGUE_METRICS_OPERATIONS" placeholder:"NAME,…" help:"Names of GraphQL operations that metrics tell apart, beside those of trusted documents; others go by their root field."`
	SlowQuery         time.Duration `env:"CATALOGUE_SLOW_QUERY" default:"1s" help:"Log a request that spends this long in the database, with its statements; 0 logs none (default: ${default})."`
}

// observer makes what shows operators the store and the keys.
func (f operatorFlags) observer(store *db.Store, verifier *auth.Verifier, tracing *server.Tracing) *server.Observer {
	observer := server.NewObserver(server.ObserverConfig{
		Checks: func(ctx context.Context) []model.Check {
			return append(store.Checks(ctx), verifier.Check())
		},
		Pools:      store.Pools(),
		Waiting:    store.Waiting,
		Operations: f.MetricsOperations,
		Slow:       f.SlowQuery,
		Tracing:    tracing,
	})
	store.Observe(observer.Statement)
	return observer
}

// trace makes the tracing that the environment asks for, which may be none. stop
// sends what is left.
func trace(ctx context.Context, store *db.Store) (tracing *server.Tracing, stop func(), err error) {
	tracing, err = server.NewTracing(ctx, version(), store.System())
	if tracing == nil {
		return nil, func() {}, err
	}
	slog.SetDefault(slog.New(tracing.LogHandler(slog.Default().Handler())))
	return tracing, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
		defer cancel()
		if err := tracing.Shutdown(ctx); err != nil {
			slog.Warn("the last traces could not be sent", "error", err)
		}
	}, nil
}

// flushTimeout is how long the sending of the last traces may take.
const flushTimeout = 5 * time.Second

// listen answers operators at their address, if there is one, until stop is
// called.
func (f operatorFlags) listen(observer *server.Observer) (stop func(), err error) {
	if f.OpsAddr == "" {
		return func() {}, nil
	}
	listener, err := net.Listen("tcp", f.OpsAddr)
	if err != nil {
		return nil, fmt.Errorf("%w: choose another address with --ops-addr", err)
	}
	srv := observer.Server()
	go func() {
		if err := srv.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			slog.Error("the operators' address does not answer any more", "error", err)
		}
	}()
	slog.Info("operators", "url", "http://"+reachable(listener.Addr().String()))
	return func() { _ = srv.Close() }, nil
}

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
	MetricsOperations []string      `env:"CATALOGUE_METRICS_OPERATIONS" placeholder:"NAME,…" help:"Names of GraphQL operations that metrics tell apart; others go by their root field."`
	SlowQuery         time.Duration `env:"CATALOGUE_SLOW_QUERY" default:"1s" help:"Log a request that spends this long in the database, with its statements; 0 logs none (default: ${default})."`
}

// observer makes what shows operators the store and the keys.
func (f operatorFlags) observer(store *db.Store, verifier *auth.Verifier) *server.Observer {
	observer := server.NewObserver(server.ObserverConfig{
		Checks: func(ctx context.Context) []model.Check {
			return append(store.Checks(ctx), verifier.Check())
		},
		Pools:      store.Pools(),
		Operations: f.MetricsOperations,
		Slow:       f.SlowQuery,
	})
	store.Observe(observer.Statement)
	return observer
}

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

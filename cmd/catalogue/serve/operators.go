package serve

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"library-catalogue/cmd/catalogue/cli"
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

// observe starts log, metrics and traces of the store and the keys.
func (p *process) observe(ctx context.Context) error {
	build := cli.ReadBuild()
	tracing, err := telemetry.NewTracing(ctx, build.Version, p.store.System(), p.log)
	if err != nil {
		return err
	}
	if tracing != nil {
		p.atEnd = append(p.atEnd, func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTimeout)
			defer cancel()
			if err := tracing.Shutdown(ctx); err != nil {
				p.log.Warn("send the last traces", "error", err)
			}
		})
	}
	replicas := p.store.Replicas
	if replicas() == nil {
		replicas = nil
	}
	p.cfg.Observer = telemetry.New(telemetry.Config{
		Logger: p.log,
		Checks: func(ctx context.Context) []model.Check {
			return append(p.store.Checks(ctx), p.verifier.Check())
		},
		Pools:    p.store.Pools(),
		Waiting:  p.store.Waiting,
		Panics:   p.store.Panics,
		Feed:     p.store.FeedStats,
		Replicas: replicas,
		Slow:     p.SlowQuery,
		Tracing:  tracing,
		Build:    telemetry.Build{Version: build.Version, Commit: build.Commit, Date: build.Date},
	})
	p.store.Observe(p.cfg.Observer.Statement)
	return p.cfg.Observer.Register(p.cfg.Streams)
}

// flushTimeout bounds the sending of the last traces, because the collector may be unreachable.
const flushTimeout = 5 * time.Second

// listenForOperators serves operators at their address, if it is set.
func (p *process) listenForOperators(ctx context.Context) error {
	if p.OpsAddr == "" {
		return nil
	}
	listener, err := net.Listen("tcp", p.OpsAddr)
	if err != nil {
		return fmt.Errorf("%w: choose another address with --ops-addr", err)
	}
	srv := server.NewOperators(p.cfg.Observer, p.log)
	served := task.Go(ctx, func() error {
		err := srv.Serve(listener)
		if !errors.Is(err, http.ErrServerClosed) {
			p.log.Error("the operators' server stopped", "error", err)
		}
		return err
	})
	p.log.Info("operators", "url", "http://"+cli.Reachable(listener.Addr().String()))
	p.atEnd = append(p.atEnd, func() {
		_ = srv.Close()
		<-served
	})
	return nil
}

package server

import (
	"context"
	"database/sql"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
)

// ObserverConfig says what operators want to see.
type ObserverConfig struct {
	Checks     func(context.Context) []model.Check // what must hold for requests to be answered
	Pools      map[string]*sql.DB                  // connections, for their figures
	Waiting    func() time.Duration                // for how long the database has owed an answer by now; nil: none is asked
	Operations []string                            // names of GraphQL operations that metrics tell apart
	Slow       time.Duration                       // time in the database from which a request is logged as slow; 0: none is
	Tracing    *Tracing                            // nil: there are no traces
}

// Observer shows operators what the server does: by its log, its metrics and
// its checks. It serves one Handler.
type Observer struct {
	health  *health
	metrics *metrics
	names   []string
	slow    time.Duration
	tracing *Tracing
}

// NewObserver makes an Observer.
func NewObserver(cfg ObserverConfig) *Observer {
	health := &health{checks: cfg.Checks}
	return &Observer{health, newMetrics(health, cfg), cfg.Operations, cfg.Slow, cfg.Tracing}
}

// Statement notes an SQL statement that has ended.
func (o *Observer) Statement(ctx context.Context, s stats.Statement) {
	o.metrics.statement(s)
	if o.tracing != nil {
		o.tracing.statement(ctx, s)
	}
}

// Server makes the server of the operators' address: health, metrics for
// Prometheus, and profiles (net/http/pprof). It is not for everybody.
func (o *Observer) Server() *http.Server {
	mux := http.NewServeMux()
	o.health.routes(mux)
	mux.Handle("GET /metrics", promhttp.HandlerFor(o.metrics.registry, promhttp.HandlerOpts{Registry: o.metrics.registry}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return listening(mux, 0) // a profile takes as long as its reader says
}

// around goes around every request: it gives it an id, notes what it is and what
// it costs, logs it, and answers 500 in place of a panic. begin gives a request what
// else it carries.
func (o *Observer) around(begin func(context.Context) context.Context, next http.Handler) http.Handler {
	observed := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		id := requestID(r.Header.Get("X-Request-Id"))
		ctx, statements := stats.With(begin(r.Context()))
		ctx, request := model.WithStats(ctx)
		request.RequestID = id
		w.Header()["X-Request-Id"] = []string{id}
		out := &recorder{ResponseWriter: w, stats: request, statements: statements, request: r}
		o.metrics.inFlight.Inc()
		defer func() {
			failure := recover()
			if failure != nil && failure != http.ErrAbortHandler {
				request.AddPanic()
				slog.ErrorContext(ctx, "panic", "value", failure, "stack", string(debug.Stack()), "request_id", id)
				if out.status == 0 {
					answerPanic(out, r, id)
					failure = nil
				} else {
					failure = http.ErrAbortHandler // half an answer must not look whole
				}
			}
			o.metrics.inFlight.Dec()
			o.answered(ctx, r, out, time.Since(start), id, failure != nil)
			if failure != nil {
				panic(failure)
			}
		}()
		next.ServeHTTP(out, r.WithContext(ctx))
		if out.status == 0 {
			out.WriteHeader(http.StatusOK) // as net/http would, but noted
		}
	})
	if o.tracing != nil {
		return o.tracing.requests(observed)
	}
	return observed
}

func answerPanic(w http.ResponseWriter, r *http.Request, id string) {
	body := `{"success":false,"message":"Internal server error","data":null}`
	if r.URL.Path == graphQLPath {
		body = `{"errors":[{"message":"Internal server error","extensions":{"code":"INTERNAL","requestId":` + strconv.Quote(id) + `}}]}`
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Del("Content-Length")
	w.WriteHeader(http.StatusInternalServerError)
	_, _ = w.Write([]byte(body))
}

// nameByPattern names a request after the route that took it, if nothing better
// is known.
func nameByPattern(r *http.Request) {
	if stats := model.StatsOf(r.Context()); stats.Operation() == nil && r.Pattern != "" {
		stats.SetOperation(&model.Operation{Label: r.Pattern})
	}
}

// Package telemetry reports the server's state to operators: log, metrics, traces and health checks. The folder
// ops has alert rules and a dashboard.
package telemetry

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
	"library-catalogue/task"
)

// Config configures an Observer.
type Config struct {
	Logger   *slog.Logger                        // nil: no log
	Checks   func(context.Context) []model.Check // health checks of /readyz; nil: none
	Pools    map[string]*sql.DB                  // connection pools by name
	Waiting  func() time.Duration                // age of the oldest pending statement; nil: not measured
	Feed     func() stats.Feed                   // state of the feed of changes; nil: not exported
	Panics   func() int64                        // recovered panics of background tasks; nil: not counted
	Replicas func() *stats.Replicas              // state of the replicas; nil: no replicas
	Slow     time.Duration                       // minimum database time of a request in the slow log; 0: no slow log
	Tracing  *Tracing                            // nil: no traces
	Build    Build
}

// Build describes the source of the program.
type Build struct {
	Version string `json:"version,omitempty"`
	Commit  string `json:"releaseId,omitempty"`
	Date    string `json:"date,omitempty"` // time of the commit
}

// Observer records the requests and statements of one server. It is safe for concurrent use.
type Observer struct {
	log     *slog.Logger
	health  *health
	metrics *metrics
	slow    time.Duration
	tracing *Tracing
	sources bool // tell clients the source of a response
}

// New returns an Observer.
func New(cfg Config) *Observer {
	log := cfg.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	health := &health{checks: cfg.Checks, build: cfg.Build, log: log}
	return &Observer{log, health, newMetrics(health, cfg), cfg.Slow, cfg.Tracing, cfg.Replicas != nil}
}

// Reporting returns a context whose tasks report panics to the log and the metrics.
func (o *Observer) Reporting(ctx context.Context) context.Context {
	return task.WithReport(ctx, o.reportPanic)
}

// Register adds the metrics of c. A panic in its Collect, which runs in a goroutine of the registry, omits them.
func (o *Observer) Register(c prometheus.Collector) error {
	return o.metrics.registry.Register(recovering{c, o.Reporting(context.Background())})
}

// recovering is a collector that may panic.
type recovering struct {
	prometheus.Collector
	ctx context.Context // reports panics
}

func (r recovering) Collect(out chan<- prometheus.Metric) {
	_ = task.Run(r.ctx, func() error { // it is reported
		r.Collector.Collect(out)
		return nil
	})
}

// Statement records a completed SQL statement.
func (o *Observer) Statement(ctx context.Context, s stats.Statement) {
	o.metrics.statement(s)
	if o.tracing != nil {
		o.tracing.statement(ctx, s)
	}
}

// Endpoints has the functions that depend on the endpoint of a request.
type Endpoints struct {
	Name    func(*http.Request) string                            // returns GraphQL, REST or Other
	Fail    func(http.ResponseWriter, *http.Request, error)       // writes an error in the endpoint's format
	Headers func(r *http.Request, header http.Header, status int) // sets the headers of every response
}

// Values of the label endpoint.
const (
	GraphQL = "graphql"
	REST    = "rest"
	Other   = "other"
)

// Middleware gives each request an id and a Request record, logs it, and turns a panic into a 500 response.
func (o *Observer) Middleware(endpoints Endpoints) func(http.Handler) http.Handler {
	return func(next http.Handler) http.Handler {
		var observed http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			o.serve(next, w, r, endpoints)
		})
		if o.tracing != nil {
			observed = o.tracing.requests(observed, endpoints.Name)
		}
		return observed
	}
}

func (o *Observer) serve(next http.Handler, w http.ResponseWriter, r *http.Request, endpoints Endpoints) {
	begun := time.Now()
	ctx, statements := stats.With(r.Context())
	ctx, request := WithRequest(ctx, requestID(r.Header.Get("X-Request-Id")))
	ctx = o.Reporting(ctx)
	r = r.WithContext(ctx)
	w.Header()["X-Request-Id"] = []string{request.ID}
	out := &recorder{ResponseWriter: w, request: request, statements: statements, sources: o.sources}
	out.headers = func(status int) { endpoints.Headers(r, w.Header(), status) }
	o.metrics.inFlight.Inc()
	defer func() {
		failure := recover()
		if err, _ := failure.(error); failure != nil && !errors.Is(err, http.ErrAbortHandler) {
			reported := task.Recovered(ctx, failure)
			if out.status == 0 {
				out.Header().Del("Content-Length")
				endpoints.Fail(out, r, reported)
				failure = nil
			} else {
				failure = http.ErrAbortHandler // abort, so that the client notices the incomplete response
			}
		}
		o.metrics.inFlight.Dec()
		o.completed(r, out, endpoints.Name(r), time.Since(begun), failure != nil)
		if failure != nil {
			panic(failure)
		}
	}()
	next.ServeHTTP(out, r)
	if out.status == 0 {
		out.WriteHeader(http.StatusOK) // as net/http would, but recorded
	}
}

// reportPanic logs and counts a panic of a request or of its tasks, which may end later.
func (o *Observer) reportPanic(ctx context.Context, p *task.PanicError) {
	o.metrics.panics.Inc()
	task.Log(ctx, o.log, p, "request_id", RequestOf(ctx).ID)
}

// Package telemetry shows operators what the server does: by its log, its metrics,
// its traces and its checks. What they are to make of it stands in ops: the rules of
// alerts and a dashboard.
package telemetry

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
)

// Config says what operators want to see.
type Config struct {
	Logger     *slog.Logger                        // nil: nothing is logged
	Checks     func(context.Context) []model.Check // what must hold for requests to be answered
	Pools      map[string]*sql.DB                  // connections, for their figures
	Waiting    func() time.Duration                // for how long the database has owed an answer by now; nil: none is asked
	Panics     func() int64                        // how many panics beside the requests were caught; nil: none is asked
	Operations []string                            // names of GraphQL operations that metrics tell apart
	Slow       time.Duration                       // time in the database from which a request is logged as slow; 0: none is
	Tracing    *Tracing                            // nil: there are no traces
	Build      Build                               // what runs
}

// Build is what the program was made from.
type Build struct {
	Version string `json:"version,omitempty"`
	Commit  string `json:"releaseId,omitempty"`
	Date    string `json:"date,omitempty"` // of the commit
}

// Observer notes what the server does. It serves one server.
type Observer struct {
	log        *slog.Logger
	health     *health
	metrics    *metrics
	operations []string
	slow       time.Duration
	tracing    *Tracing
}

// New returns an Observer.
func New(cfg Config) *Observer {
	log := cfg.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	health := &health{checks: cfg.Checks, build: cfg.Build, log: log}
	return &Observer{log, health, newMetrics(health, cfg), cfg.Operations, cfg.Slow, cfg.Tracing}
}

// Knows reports whether metrics tell the GraphQL operations of a name apart.
func (o *Observer) Knows(operation string) bool { return slices.Contains(o.operations, operation) }

// Register adds a part's own metrics.
func (o *Observer) Register(part prometheus.Collector) error {
	return o.metrics.registry.Register(part)
}

// Statement notes an SQL statement that has ended.
func (o *Observer) Statement(ctx context.Context, s stats.Statement) {
	o.metrics.statement(s)
	if o.tracing != nil {
		o.tracing.statement(ctx, s)
	}
}

// Endpoints says how requests are told apart and refused, and what all answers have.
type Endpoints struct {
	Name    func(*http.Request) string                            // of a request's endpoint: GraphQL, REST or Other
	Fail    func(http.ResponseWriter, *http.Request, error)       // answers 500, in the endpoint's way
	Headers func(r *http.Request, header http.Header, status int) // sets headers of every answer
}

// The endpoints, as metrics name them.
const (
	GraphQL = "graphql"
	REST    = "rest"
	Other   = "other"
)

// Middleware goes around every request: it gives it an id, keeps its record, logs
// it, and answers 500 in place of a panic.
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
	r = r.WithContext(ctx)
	w.Header()["X-Request-Id"] = []string{request.ID}
	out := &recorder{ResponseWriter: w, request: request, statements: statements}
	out.headers = func(status int) { endpoints.Headers(r, w.Header(), status) }
	o.metrics.inFlight.Inc()
	defer func() {
		failure := recover()
		if err, _ := failure.(error); failure != nil && !errors.Is(err, http.ErrAbortHandler) {
			request.Panics.Add(1)
			o.log.ErrorContext(ctx, "panic", "value", failure, "stack", string(debug.Stack()), "request_id", request.ID)
			if out.status == 0 {
				out.Header().Del("Content-Length")
				endpoints.Fail(out, r, errPanic)
				failure = nil
			} else {
				failure = http.ErrAbortHandler // half an answer must not look whole
			}
		}
		o.metrics.inFlight.Dec()
		o.answered(r, out, endpoints.Name(r), time.Since(begun), failure != nil)
		if failure != nil {
			panic(failure)
		}
	}()
	next.ServeHTTP(out, r)
	if out.status == 0 {
		out.WriteHeader(http.StatusOK) // as net/http would, but noted
	}
}

// errPanic answers a request whose handler panicked.
var errPanic = model.Errorf(model.Internal, "Internal server error")

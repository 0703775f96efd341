package telemetry

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"library-catalogue/db/stats"
)

// metrics are the figures for Prometheus. Every label has few values, whatever
// clients send.
type metrics struct {
	registry *prometheus.Registry

	requests   *prometheus.CounterVec   // endpoint, operation, code
	seconds    *prometheus.HistogramVec // endpoint, operation
	inFlight   prometheus.Gauge
	statements *prometheus.HistogramVec // endpoint
	executions *prometheus.CounterVec   // executor
	errors     *prometheus.CounterVec   // code
	tokens     *prometheus.CounterVec   // reason
	panics     prometheus.Counter
	aborted    prometheus.Counter

	statementSeconds *prometheus.HistogramVec // command
	faults           *prometheus.CounterVec   // fault
}

// seconds of the classic buckets: the quickest answers come from memory, and the
// slowest from the last moment before the deadline.
var secondsBuckets = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

func newMetrics(health *health, cfg Config) *metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(checksCollector{health}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewBuildInfoCollector())
	registered := promauto.With(registry)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return registered.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	// There are classic buckets alone: from a histogram that had native ones too, a
	// Prometheus that takes those would leave out the classic ones, which the dashboard
	// and the alert rules ask for.
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return registered.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	m := &metrics{
		registry: registry,
		requests: counter("catalogue_requests_total",
			"Requests by endpoint (graphql, rest, other), operation and HTTP status.", "endpoint", "operation", "code"),
		seconds: histogram("catalogue_request_duration_seconds",
			"Time from a request to the end of its answer. Refusals for the rate, which may be delayed, are left out.", secondsBuckets, "endpoint", "operation"),
		inFlight: registered.NewGauge(prometheus.GaugeOpts{Name: "catalogue_requests_in_flight",
			Help: "Requests that are being answered."}),
		statements: histogram("catalogue_request_statements",
			"SQL statements of a request.", []float64{0, 1, 2, 3, 5, 10, 25, 50, 100, 1000}, "endpoint"),
		executions: counter("catalogue_graphql_operations_total",
			"GraphQL operations by what gave the answer: the plan, the reference executor or the cache.", "executor"),
		errors: counter("catalogue_graphql_errors_total",
			"Errors in GraphQL answers by extensions.code.", "code"),
		tokens: counter("catalogue_tokens_refused_total",
			"Tokens that were not accepted, by reason.", "reason"),
		panics: registered.NewCounter(prometheus.CounterOpts{Name: "catalogue_panics_total", Help: "Panics that were caught."}),
		aborted: registered.NewCounter(prometheus.CounterOpts{Name: "catalogue_answers_aborted_total",
			Help: "Answers that broke off in their middle, by a failure or because the client had gone."}),
		statementSeconds: histogram("catalogue_db_statement_duration_seconds",
			"Time of an SQL statement by its command, the wait for a connection included.", secondsBuckets, "command"),
		faults: counter("catalogue_db_faults_total",
			"SQL statements that failed by the database's fault, by kind.", "fault"),
	}
	registered.NewGaugeVec(prometheus.GaugeOpts{Name: "catalogue_build_info",
		Help: "1, with what the program was made from."}, []string{"version", "commit", "date"}).
		WithLabelValues(cfg.Build.Version, cfg.Build.Commit, cfg.Build.Date).Set(1)
	for name, pool := range cfg.Pools {
		registry.MustRegister(collectors.NewDBStatsCollector(pool, name))
	}
	if cfg.Waiting != nil {
		registered.NewGaugeFunc(prometheus.GaugeOpts{Name: "catalogue_db_longest_wait_seconds",
			Help: "For how long PostgreSQL has owed an answer by now. The wait for a connection is not in it."},
			func() float64 { return cfg.Waiting().Seconds() })
	}
	if cfg.Panics != nil {
		registered.NewCounterFunc(prometheus.CounterOpts{Name: "catalogue_background_panics_total",
			Help: "Panics beside the requests that were caught."},
			func() float64 { return float64(cfg.Panics()) })
	}
	// What has not happened yet is 0, so that the first time is a rise.
	for _, fault := range stats.Faults {
		m.faults.WithLabelValues(string(fault))
	}
	for _, executor := range []string{executorPlan, executorReference, executorCache} {
		m.executions.WithLabelValues(executor)
	}
	return m
}

// What answers a GraphQL operation.
const (
	executorPlan      = "plan"
	executorReference = "reference"
	executorCache     = "cache"
)

// DeclareErrors counts these codes of errors in GraphQL answers from 0 on, so that
// the first one is a rise.
func (o *Observer) DeclareErrors(codes ...string) {
	for _, code := range codes {
		o.metrics.errors.WithLabelValues(code)
	}
}

// commands are what statements begin with; others are "OTHER".
var commands = map[string]bool{
	"SELECT": true, "INSERT": true, "UPDATE": true, "DELETE": true, "WITH": true, "BEGIN": true, "COMMIT": true,
}

func (m *metrics) statement(s stats.Statement) {
	if s.Shared {
		return // counted when it was run
	}
	command, _, _ := strings.Cut(s.Text, " ")
	if !commands[command] {
		command = "OTHER"
	}
	m.statementSeconds.WithLabelValues(command).Observe(s.Took.Seconds())
	if s.Fault != "" {
		m.faults.WithLabelValues(string(s.Fault)).Inc()
	}
}

// request counts a request that was answered.
func (m *metrics) request(endpoint string, out *recorder, took time.Duration) {
	label := Other
	if operation := out.request.Operation.Load(); operation != nil {
		label = operation.Label
	}
	m.requests.WithLabelValues(endpoint, label, strconv.Itoa(out.status)).Inc()
	if out.status != http.StatusTooManyRequests {
		m.seconds.WithLabelValues(endpoint, label).Observe(took.Seconds())
	}
	m.statements.WithLabelValues(endpoint).Observe(float64(out.statements.Statements()))
	m.panics.Add(float64(out.request.Panics.Load()) + float64(out.statements.Panics()))
	for _, code := range out.request.Errors() {
		m.errors.WithLabelValues(code).Inc()
	}
	if reason := out.request.TokenRefusal; reason != "" {
		m.tokens.WithLabelValues(reason).Inc()
	}
	if endpoint != GraphQL || out.request.Operation.Load() == nil {
		return
	}
	executor := executorReference
	switch {
	case out.request.Cached.Load():
		executor = executorCache
	case out.request.Planned.Load():
		executor = executorPlan
	}
	m.executions.WithLabelValues(executor).Inc()
}

// Metrics answers with the figures for Prometheus.
func (o *Observer) Metrics() http.Handler {
	return promhttp.HandlerFor(o.metrics.registry, promhttp.HandlerOpts{Registry: o.metrics.registry})
}

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

// metrics are the metrics for Prometheus. Clients cannot add values to a label.
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

// secondsBuckets range from a response out of the cache to one at the deadline.
var secondsBuckets = []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

func newMetrics(health *health, cfg Config) *metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(checksCollector{health}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewBuildInfoCollector())
	registered := promauto.With(registry)
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return registered.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	// Histograms have classic buckets only. If they had native buckets too, Prometheus could drop the classic
	// ones, which the dashboard and the alert rules query.
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return registered.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}
	m := &metrics{
		registry: registry,
		requests: counter("catalogue_requests_total",
			"Requests by endpoint (graphql, rest, other), operation and HTTP status.", "endpoint", "operation", "code"),
		seconds: histogram("catalogue_request_duration_seconds",
			"Time from a request to the end of its response, without rate-limited requests (429) and streams.",
			secondsBuckets, "endpoint", "operation"),
		inFlight: registered.NewGauge(prometheus.GaugeOpts{Name: "catalogue_requests_in_flight",
			Help: "Requests in progress."}),
		statements: histogram("catalogue_request_statements",
			"SQL statements per request, without streams.", []float64{0, 1, 2, 3, 5, 10, 25, 50, 100, 1000},
			"endpoint"),
		executions: counter("catalogue_graphql_operations_total",
			"GraphQL operations by executor (plan, reference, cache).", "executor"),
		errors: counter("catalogue_graphql_errors_total",
			"Errors in GraphQL responses by extensions.code.", "code"),
		tokens: counter("catalogue_tokens_refused_total",
			"Refused tokens by reason.", "reason"),
		panics: registered.NewCounter(
			prometheus.CounterOpts{Name: "catalogue_panics_total", Help: "Recovered panics in requests."}),
		aborted: registered.NewCounter(prometheus.CounterOpts{Name: "catalogue_answers_aborted_total",
			Help: "Responses that ended early because of a failure or a closed connection."}),
		statementSeconds: histogram("catalogue_db_statement_duration_seconds",
			"Time of an SQL statement by command, including the wait for a connection.", secondsBuckets, "command"),
		faults: counter("catalogue_db_faults_total",
			"SQL statements that failed because of the database, by kind of fault.", "fault"),
	}
	registered.NewGaugeVec(prometheus.GaugeOpts{Name: "catalogue_build_info",
		Help: "Always 1; the labels describe the build."}, []string{"version", "commit", "date"}).
		WithLabelValues(cfg.Build.Version, cfg.Build.Commit, cfg.Build.Date).Set(1)
	for name, pool := range cfg.Pools {
		registry.MustRegister(collectors.NewDBStatsCollector(pool, name))
	}
	if cfg.Waiting != nil {
		registered.NewGaugeFunc(prometheus.GaugeOpts{Name: "catalogue_db_longest_wait_seconds",
			Help: "Time since the oldest pending PostgreSQL statement was sent, without the wait for a connection."},
			func() float64 { return cfg.Waiting().Seconds() })
	}
	if cfg.Feed != nil {
		gauge := func(name, help string, value func(stats.Feed) float64) {
			registered.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, func() float64 {
				return value(cfg.Feed())
			})
		}
		gauge("catalogue_changes_log_bytes", "Size of the log of changes, measured each minute.",
			func(f stats.Feed) float64 { return float64(f.LogBytes) })
		gauge("catalogue_changes_lag_seconds", "Time since the feed of changes could last be read, 0 if it works.",
			func(f stats.Feed) float64 { return f.Lag.Seconds() })
		gauge("catalogue_changes_subscribers", "Subscribers of the feed of changes.", func(f stats.Feed) float64 {
			return float64(f.Subscribers)
		})
		registered.NewCounterFunc(prometheus.CounterOpts{Name: "catalogue_changes_cut_total",
			Help: "Subscribers that took changes too slowly and were cut."}, func() float64 {
			return float64(cfg.Feed().Cut)
		})
	}
	if cfg.Replicas != nil {
		registry.MustRegister(replicasCollector(cfg.Replicas))
	}
	if cfg.Panics != nil {
		registered.NewCounterFunc(prometheus.CounterOpts{Name: "catalogue_background_panics_total",
			Help: "Recovered panics in background tasks."},
			func() float64 { return float64(cfg.Panics()) })
	}
	// Counters start at 0, so that rate() sees the first event.
	for _, fault := range stats.Faults {
		m.faults.WithLabelValues(string(fault))
	}
	for _, executor := range []string{executorPlan, executorReference, executorCache} {
		m.executions.WithLabelValues(executor)
	}
	return m
}

// Values of the label executor.
const (
	executorPlan      = "plan"
	executorReference = "reference"
	executorCache     = "cache"
)

// DeclareErrors exports these codes of GraphQL errors with the value 0, so that rate() sees the first error.
func (o *Observer) DeclareErrors(codes ...string) {
	for _, code := range codes {
		o.metrics.errors.WithLabelValues(code)
	}
}

// commands are the values of the label command; other statements count as "OTHER".
var commands = map[string]bool{
	"SELECT": true, "INSERT": true, "UPDATE": true, "DELETE": true, "WITH": true, "BEGIN": true, "COMMIT": true,
}

func (m *metrics) statement(s stats.Statement) {
	if s.Shared {
		return // counted by the request that ran it
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

// request counts a completed request.
func (m *metrics) request(endpoint string, out *recorder, took time.Duration) {
	label := Other
	if operation := out.request.Operation.Load(); operation != nil {
		label = operation.Label
	}
	m.requests.WithLabelValues(endpoint, label, strconv.Itoa(out.status)).Inc()
	stream := out.request.Stream.Load()
	if out.status != http.StatusTooManyRequests && !stream {
		m.seconds.WithLabelValues(endpoint, label).Observe(took.Seconds())
	}
	if !stream {
		m.statements.WithLabelValues(endpoint).Observe(float64(out.statements.Statements()))
	}
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

// Metrics serves the metrics in Prometheus' format.
func (o *Observer) Metrics() http.Handler {
	return promhttp.HandlerFor(o.metrics.registry, promhttp.HandlerOpts{Registry: o.metrics.registry})
}

package server

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
	"library-catalogue/server/graphqlhttp"
)

// metrics are the figures for Prometheus. Every label has few values, whatever
// clients send.
type metrics struct {
	registry *prometheus.Registry

	requests   *prometheus.CounterVec   // face, operation, code
	seconds    *prometheus.HistogramVec // face, operation
	inFlight   prometheus.Gauge
	statements *prometheus.HistogramVec // face
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

// histogram gives the options of a histogram, with classic buckets alone: from one
// that had native ones too, a Prometheus that takes those would leave out the
// classic ones, which the dashboard and the alert rules ask for.
func histogram(name, help string, buckets []float64) prometheus.HistogramOpts {
	return prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}
}

func newMetrics(health *health, cfg ObserverConfig) *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: counter("catalogue_requests_total",
			"Requests by face (graphql, rest, other), operation and HTTP status.", "face", "operation", "code"),
		seconds: prometheus.NewHistogramVec(histogram("catalogue_request_duration_seconds",
			"Time from a request to the end of its answer. Refusals for the rate, which may be held back, are left out.", secondsBuckets), []string{"face", "operation"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "catalogue_requests_in_flight",
			Help: "Requests that are being answered."}),
		statements: prometheus.NewHistogramVec(histogram("catalogue_request_statements",
			"SQL statements of a request.", []float64{0, 1, 2, 3, 5, 10, 25, 50, 100, 1000}), []string{"face"}),
		executions: counter("catalogue_graphql_operations_total",
			"GraphQL operations by what gave the answer: the plan, the reference executor or the cache.", "executor"),
		errors: counter("catalogue_graphql_errors_total",
			"Errors in GraphQL answers by extensions.code.", "code"),
		tokens: counter("catalogue_tokens_refused_total",
			"Tokens that were not accepted, by reason.", "reason"),
		panics: prometheus.NewCounter(prometheus.CounterOpts{Name: "catalogue_panics_total", Help: "Panics that were caught."}),
		aborted: prometheus.NewCounter(prometheus.CounterOpts{Name: "catalogue_answers_aborted_total",
			Help: "Answers that broke off in their middle, by a failure or because the client had gone."}),
		statementSeconds: prometheus.NewHistogramVec(histogram("catalogue_db_statement_duration_seconds",
			"Time of an SQL statement by its command, the wait for a connection included.", secondsBuckets), []string{"command"}),
		faults: counter("catalogue_db_faults_total",
			"SQL statements that failed by the database's fault, by kind.", "fault"),
	}
	m.registry.MustRegister(m.requests, m.seconds, m.inFlight, m.statements, m.executions, m.errors, m.tokens, m.panics, m.aborted,
		m.statementSeconds, m.faults, checksCollector{health},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewBuildInfoCollector())
	for name, pool := range cfg.Pools {
		m.registry.MustRegister(collectors.NewDBStatsCollector(pool, name))
	}
	if cfg.Waiting != nil {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "catalogue_db_longest_wait_seconds",
			Help: "For how long PostgreSQL has owed an answer by now. The wait for a connection is not in it."},
			func() float64 { return cfg.Waiting().Seconds() }))
	}
	// What has not happened yet is 0, so that the first time is a rise.
	for _, code := range model.Codes {
		m.errors.WithLabelValues(graphqlhttp.ErrorCode(code))
	}
	for _, fault := range stats.Faults {
		m.faults.WithLabelValues(string(fault))
	}
	for _, executor := range []string{executorPlan, executorReference, executorCache} {
		m.executions.WithLabelValues(executor)
	}
	return m
}

// What gives the answer of a GraphQL operation.
const (
	executorPlan      = "plan"
	executorReference = "reference"
	executorCache     = "cache"
)

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

var tooManyRequests = strconv.Itoa(http.StatusTooManyRequests)

// request counts a request that was answered.
func (m *metrics) request(face, operation, code string, took time.Duration, request *model.Stats, statements int) {
	m.requests.WithLabelValues(face, operation, code).Inc()
	if code != tooManyRequests {
		m.seconds.WithLabelValues(face, operation).Observe(took.Seconds())
	}
	m.statements.WithLabelValues(face).Observe(float64(statements))
	m.panics.Add(float64(request.Panics()))
	for _, code := range request.Errors() {
		m.errors.WithLabelValues(code).Inc()
	}
	if reason := request.TokenRefusal(); reason != "" {
		m.tokens.WithLabelValues(reason).Inc()
	}
	if face != faceGraphQL || request.Operation() == nil {
		return
	}
	executor := executorReference
	switch {
	case request.Cached():
		executor = executorCache
	case request.Planned():
		executor = executorPlan
	}
	m.executions.WithLabelValues(executor).Inc()
}

// checksCollector runs the checks of /readyz when the metrics are asked for.
type checksCollector struct{ health *health }

var checkDesc = prometheus.NewDesc("catalogue_check",
	"How a check of /readyz ended: 1 for its status (pass, warn, fail), 0 for the others.", []string{"check", "status"}, nil)

// Describe implements prometheus.Collector.
func (checksCollector) Describe(out chan<- *prometheus.Desc) { out <- checkDesc }

// Collect implements prometheus.Collector.
func (c checksCollector) Collect(out chan<- prometheus.Metric) {
	for _, check := range c.health.run(context.Background()) {
		for _, status := range []model.CheckStatus{model.Pass, model.Warn, model.Fail} {
			value := 0.0
			if status == check.Status {
				value = 1
			}
			out <- prometheus.MustNewConstMetric(checkDesc, prometheus.GaugeValue, value, check.Name, string(status))
		}
	}
}

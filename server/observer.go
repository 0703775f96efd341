package server

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"library-catalogue/graph/model"
)

// ObserverConfig says what operators want to see.
type ObserverConfig struct {
	Checks     func(context.Context) []model.Check // what must hold for requests to be answered
	Pools      map[string]*sql.DB                  // connections, for their figures
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
	return &Observer{health, newMetrics(health, cfg.Pools), cfg.Operations, cfg.Slow, cfg.Tracing}
}

// Statement notes an SQL statement that has ended.
func (o *Observer) Statement(ctx context.Context, s model.Statement) {
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

// The faces, as metrics name them.
const (
	faceGraphQL = "graphql"
	faceREST    = "rest"
	faceOther   = "other"
)

func faceOf(r *http.Request) string {
	switch {
	case r.URL.Path == graphQLPath:
		return faceGraphQL
	case inAPI(r):
		return faceREST
	}
	return faceOther
}

// answered notes a request that has been answered.
func (o *Observer) answered(ctx context.Context, r *http.Request, out *recorder, took time.Duration, id string) {
	stats := out.stats
	face, label, name := faceOf(r), "other", ""
	operation := stats.Operation()
	if operation != nil {
		label, name = operation.Label, operation.Name
	}
	o.metrics.request(face, label, strconv.Itoa(out.status), took, stats)
	if o.tracing != nil {
		o.tracing.answered(ctx, face, operation, id)
	}

	level := slog.LevelInfo
	if face == faceOther && out.status < http.StatusBadRequest {
		level = slog.LevelDebug // probes come all the time
	}
	attrs := make([]slog.Attr, 0, 10)
	attrs = append(attrs, slog.String("method", r.Method), slog.String("path", clip(r.URL.Path)), slog.Int("status", out.status),
		slog.Float64("took_ms", milliseconds(took)), slog.Int("statements", stats.Statements()), slog.String("request_id", id))
	if name != "" {
		attrs = append(attrs, slog.String("operation", name))
	}
	if errors := stats.Errors(); errors != nil { // GraphQL answers them with status 200
		attrs = append(attrs, slog.String("errors", strings.Join(errors, " ")))
	}
	if reason := stats.TokenRefusal(); reason != "" {
		attrs = append(attrs, slog.String("token_refused", reason))
	}
	slog.LogAttrs(ctx, level, "request", attrs...)

	if o.slow > 0 && stats.DatabaseTime() >= o.slow {
		logSlow(ctx, r, operation, stats, took, id)
	}
}

// maxText is how many bytes are logged of a text that may be long.
const maxText = 500

// clip cuts a text for the log.
func clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}

// logSlow tells of a request that spent long in the database, or waiting for a
// connection to it.
func logSlow(ctx context.Context, r *http.Request, operation *model.Operation, stats *model.Stats, took time.Duration, id string) {
	attrs := []slog.Attr{slog.String("method", r.Method), slog.String("path", clip(r.URL.Path))}
	if operation != nil {
		attrs = append(attrs, slog.String("operation", operation.Name), slog.String("label", operation.Label))
		if operation.Document != "" {
			hash := sha256.Sum256([]byte(operation.Document)) // as persisted queries name it
			attrs = append(attrs, slog.String("document_sha256", hex.EncodeToString(hash[:])))
		}
	}
	var slowest []string
	for _, s := range stats.Slowest() {
		text := clip(strings.Join(strings.Fields(s.Text), " "))
		slowest = append(slowest, fmt.Sprintf("%.3f ms: %s", milliseconds(s.Took), text))
	}
	attrs = append(attrs, slog.Float64("took_ms", milliseconds(took)), slog.Float64("database_ms", milliseconds(stats.DatabaseTime())),
		slog.Int("statements", stats.Statements()), slog.Any("slowest", slowest), slog.String("request_id", id))
	slog.LogAttrs(ctx, slog.LevelWarn, "slow query", attrs...)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// nameByPattern names a request after the route that took it, if nothing better
// is known.
func nameByPattern(r *http.Request) {
	if stats := model.StatsOf(r.Context()); stats.Operation() == nil && r.Pattern != "" && r.Pattern != graphQLPath {
		stats.SetOperation(&model.Operation{Label: r.Pattern})
	}
}

// known tells whether metrics may have the name of a GraphQL operation.
func (o *Observer) known(name string) bool { return slices.Contains(o.names, name) }

package telemetry

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"
)

// completed records a request after its response; aborted means that the response ended early.
func (o *Observer) completed(r *http.Request, out *recorder, endpoint string, took time.Duration, aborted bool) {
	o.metrics.request(endpoint, out, took)
	if aborted {
		o.metrics.aborted.Inc()
	}
	if o.tracing != nil {
		o.tracing.completed(r.Context(), endpoint, out, aborted)
	}
	level := slog.LevelInfo
	if endpoint == Other && out.status < http.StatusBadRequest {
		level = slog.LevelDebug // probes are frequent
	}
	if o.log.Enabled(r.Context(), level) {
		o.log.LogAttrs(r.Context(), level, "request", out.attrs(r, took, aborted)...)
	}
	if o.slow > 0 && !out.request.Stream.Load() && out.statements.DatabaseTime() >= o.slow {
		o.logSlow(r, out, took)
	}
}

// attrs returns the attributes of a request's log line.
func (w *recorder) attrs(r *http.Request, took time.Duration, aborted bool) []slog.Attr {
	attrs := make([]slog.Attr, 0, 10)
	attrs = append(attrs, slog.String("method", r.Method), slog.String("path", Truncate(r.URL.Path)),
		slog.Int("status", w.status),
		slog.Float64("took_ms", milliseconds(took)), slog.Int("statements", w.statements.Statements()),
		slog.String("request_id", w.request.ID))
	if operation := w.request.Operation.Load(); operation != nil && operation.Name != "" {
		attrs = append(attrs, slog.String("operation", operation.Name))
	}
	if aborted {
		attrs = append(attrs, slog.Bool("aborted", true))
	}
	if errors := w.request.Errors(); errors != nil { // most GraphQL errors have status 200 or 294
		attrs = append(attrs, slog.String("errors", strings.Join(errors, " ")))
	}
	if reason := w.request.TokenRefusal; reason != "" {
		attrs = append(attrs, slog.String("token_refused", reason))
	}
	return attrs
}

// logSlow logs a request with much database time, which includes the wait for a connection.
func (o *Observer) logSlow(r *http.Request, out *recorder, took time.Duration) {
	attrs := []slog.Attr{slog.String("method", r.Method), slog.String("path", Truncate(r.URL.Path))}
	if operation := out.request.Operation.Load(); operation != nil {
		attrs = append(attrs, slog.String("operation", operation.Name), slog.String("label", operation.Label))
		if operation.Document != "" {
			hash := sha256.Sum256([]byte(operation.Document)) // the hash of persisted queries
			attrs = append(attrs, slog.String("document_sha256", hex.EncodeToString(hash[:])))
		}
	}
	var slowest []string
	for _, s := range out.statements.Slowest() {
		text := Truncate(strings.Join(strings.Fields(s.Text), " "))
		slowest = append(slowest, fmt.Sprintf("%.3f ms: %s", milliseconds(s.Took), text))
	}
	attrs = append(attrs, slog.Float64("took_ms", milliseconds(took)),
		slog.Float64("database_ms", milliseconds(out.statements.DatabaseTime())),
		slog.Int("statements", out.statements.Statements()), slog.Any("slowest", slowest),
		slog.String("request_id", out.request.ID))
	o.log.LogAttrs(r.Context(), slog.LevelWarn, "slow query", attrs...)
}

const maxTextBytes = 500

// Truncate shortens a text for the log.
func Truncate(text string) string {
	if len(text) <= maxTextBytes {
		return text
	}
	return strings.ToValidUTF8(text[:maxTextBytes], "") + "…"
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

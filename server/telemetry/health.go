package telemetry

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/singleflight"

	"library-catalogue/graph/model"
)

// health runs the checks. Who asks while they run gets their results too, so
// that many who ask cost the database no more than one.
type health struct {
	log    *slog.Logger
	checks func(context.Context) []model.Check // nil: there are none
	build  Build
	flight singleflight.Group

	stopping atomic.Bool

	mu   sync.Mutex
	last map[string]model.CheckStatus
}

// run returns the results of the checks.
func (h *health) run(ctx context.Context) []model.Check {
	if h.checks == nil {
		return nil
	}
	results, _, _ := h.flight.Do("", func() (any, error) {
		results := h.checks(context.WithoutCancel(ctx)) // others may wait longer
		h.logChanges(ctx, results)
		return results, nil
	})
	return results.([]model.Check)
}

// logChanges logs the checks whose result is another than the last time.
func (h *health) logChanges(ctx context.Context, results []model.Check) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, check := range results {
		before, known := h.last[check.Name]
		if check.Status == before || !known && check.Status == model.Pass {
			continue
		}
		if h.last == nil {
			h.last = map[string]model.CheckStatus{}
		}
		h.last[check.Name] = check.Status
		level := map[model.CheckStatus]slog.Level{model.Pass: slog.LevelInfo, model.Warn: slog.LevelWarn, model.Fail: slog.LevelError}[check.Status]
		attrs := []slog.Attr{slog.String("check", check.Name), slog.String("status", string(check.Status))}
		if check.Output != "" {
			attrs = append(attrs, slog.String("output", check.Output))
		}
		if check.Err != nil {
			attrs = append(attrs, slog.Any("error", check.Err))
		}
		h.log.LogAttrs(ctx, level, "check", attrs...)
	}
}

// checkResult is the answer to /readyz in the words of the Internet-Draft
// draft-inadarei-api-health-check-06.
type checkResult struct {
	Status model.CheckStatus      `json:"status"`
	Output string                 `json:"output,omitempty"`
	Checks map[string]checkResult `json:"checks,omitempty"`
}

// Stopping makes Readyz answer 503 from now on.
func (o *Observer) Stopping() { o.health.stopping.Store(true) }

// Readyz answers whether requests can be answered, 503 where not, and how each
// check ended. A warning does not make the server unready.
func (o *Observer) Readyz(w http.ResponseWriter, r *http.Request) {
	all := struct {
		checkResult
		Build
	}{checkResult{Status: model.Pass, Checks: map[string]checkResult{}}, o.health.build}
	if o.health.stopping.Load() {
		all.Status, all.Output = model.Fail, "The server is stopping."
	}
	for _, check := range o.health.run(r.Context()) {
		all.Checks[check.Name] = checkResult{Status: check.Status, Output: check.Output}
		if all.Status == model.Pass || check.Status == model.Fail {
			all.Status = check.Status
		}
	}
	body, err := json.Marshal(all)
	if err != nil {
		panic(err) // it is made of strings
	}
	w.Header().Set("Content-Type", "application/health+json")
	if all.Status == model.Fail {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = w.Write(append(body, '\n'))
}

// Livez answers that the process answers.
func Livez(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n"))
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

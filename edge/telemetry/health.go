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
	"library-catalogue/task"
)

// health runs the checks. Concurrent requests share one run, so that probes cannot load the database.
type health struct {
	log    *slog.Logger
	checks func(context.Context) []model.Check // nil: no checks
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
		var results []model.Check
		err := task.Run(ctx, func() error {
			results = h.checks(context.WithoutCancel(ctx)) // other requests may wait longer
			return nil
		})
		if err != nil {
			results = []model.Check{
				{Name: "checks", Status: model.Fail, Output: "The checks failed. The server's log has the cause.",
					Err: err}}
		}
		h.logChanges(ctx, results)
		return results, nil
	})
	return results.([]model.Check)
}

// logChanges logs each check with a new status.
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
		level := map[model.CheckStatus]slog.Level{model.Pass: slog.LevelInfo, model.Warn: slog.LevelWarn,
			model.Fail: slog.LevelError}[check.Status]
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

// checkResult is part of the response of /readyz (draft-inadarei-api-health-check-06).
type checkResult struct {
	Status model.CheckStatus      `json:"status"`
	Output string                 `json:"output,omitempty"`
	Checks map[string]checkResult `json:"checks,omitempty"`
}

// Stopping makes Readyz respond with 503 from now on.
func (o *Observer) Stopping() { o.health.stopping.Store(true) }

// Readyz responds with the result of each check. The status is 503 if a check fails or after
// Stopping; a warning keeps it at 200.
func (o *Observer) Readyz(w http.ResponseWriter, r *http.Request) {
	all := struct {
		checkResult
		Build
	}{checkResult{Status: model.Pass, Checks: map[string]checkResult{}}, o.health.build}
	if o.health.stopping.Load() {
		all.Status, all.Output = model.Fail, "The server is shutting down."
	}
	for _, check := range o.health.run(r.Context()) {
		all.Checks[check.Name] = checkResult{Status: check.Status, Output: check.Output}
		if all.Status == model.Pass || check.Status == model.Fail {
			all.Status = check.Status
		}
	}
	body, err := json.Marshal(all)
	if err != nil {
		panic(err) // all values are strings
	}
	w.Header().Set("Content-Type", "application/health+json")
	if all.Status == model.Fail {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = w.Write(append(body, '\n'))
}

// Livez responds with 200 while the process runs.
func Livez(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n"))
}

// checksCollector exports the checks of /readyz. It runs them on each scrape.
type checksCollector struct{ health *health }

var checkDesc = prometheus.NewDesc("catalogue_check",
	"Result of a check of /readyz: 1 for its current status (pass, warn, fail), 0 for the others.",
	[]string{"check", "status"}, nil)

func (checksCollector) Describe(out chan<- *prometheus.Desc) { out <- checkDesc }

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

package webhooks

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"library-catalogue/graph/model"
)

// Values of the label outcome.
const (
	outcomeDelivered  = "delivered"
	outcomeRefused    = "refused"    // a response other than 2xx
	outcomeUnanswered = "unanswered" // no response
)

// metrics are the metrics that the Sender writes.
type metrics struct{ deliveries *prometheus.CounterVec }

func newMetrics() *metrics {
	m := &metrics{prometheus.NewCounterVec(prometheus.CounterOpts{Name: "catalogue_webhook_deliveries_total",
		Help: "Requests to webhooks by outcome (delivered, refused, unanswered)."}, []string{"outcome"})}
	for _, outcome := range []string{outcomeDelivered, outcomeRefused, outcomeUnanswered} {
		m.deliveries.WithLabelValues(outcome) // counters start at 0, so that rate() sees the first event
	}
	return m
}

var (
	lagDesc = prometheus.NewDesc("catalogue_webhook_lag_seconds",
		"Age of the oldest change that an enabled webhook has not got.", []string{"webhook"}, nil)
	disabledDesc = prometheus.NewDesc("catalogue_webhook_disabled",
		"1 if a webhook is disabled, otherwise 0.", []string{"webhook"}, nil)
)

// Describe implements prometheus.Collector.
func (s *Sender) Describe(out chan<- *prometheus.Desc) {
	s.metrics.deliveries.Describe(out)
	out <- lagDesc
	out <- disabledDesc
}

// collectTimeout bounds the reading of the lags.
const collectTimeout = 2 * time.Second

// Collect implements prometheus.Collector. It reads the lags from the database, so that all servers report the same.
func (s *Sender) Collect(out chan<- prometheus.Metric) {
	s.metrics.deliveries.Collect(out)
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
	defer cancel()
	all, _ := s.Endpoints.List(ctx) // the checks report a database that fails
	for _, w := range all {
		id, disabled := w.ID.String(), 0.0
		if w.Disabled != "" {
			disabled = 1
		} else if page,
			err := s.Feed.Changes(ctx, model.ChangeArgs{Types: w.Types, After: &w.Position, First: 1}); err == nil {
			lag := 0.0
			if len(page.Nodes) > 0 {
				lag = max(0, time.Since(time.UnixMicro(int64(page.Nodes[0].At))).Seconds())
			}
			out <- prometheus.MustNewConstMetric(lagDesc, prometheus.GaugeValue, lag, id)
		}
		out <- prometheus.MustNewConstMetric(disabledDesc, prometheus.GaugeValue, disabled, id)
	}
}

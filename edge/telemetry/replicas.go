package telemetry

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"library-catalogue/db/stats"
)

// WithStatements returns a context with a new record of statements, for reads in the background.
func WithStatements(ctx context.Context) context.Context {
	ctx, _ = stats.With(ctx)
	return ctx
}

// WithoutPrimary reports whether the response to a request may lack recent changes, because there is no primary.
func WithoutPrimary(ctx context.Context) bool { return stats.Of(ctx).WithoutPrimary() }

// IsLate reports whether the response to a request may lack recent changes, because a late replica served it.
func IsLate(ctx context.Context) bool { return stats.Of(ctx).Lag() > 0 }

// replicasCollector exports the state of the replicas.
type replicasCollector func() *stats.Replicas

var (
	replicaUpDesc = prometheus.NewDesc("catalogue_replica_up",
		"1 if the replica serves reads, 0 if it is passed over.", []string{"replica"}, nil)
	replicaLagDesc = prometheus.NewDesc("catalogue_replica_lag_seconds",
		"Age of the oldest change that the replica lacks, 0 for none.", []string{"replica"}, nil)
	replicaReadsDesc = prometheus.NewDesc("catalogue_replica_reads_total",
		"Reads that the replica served.", []string{"replica"}, nil)
	replicaPassedOverDesc = prometheus.NewDesc("catalogue_replica_passed_over_total",
		"Medium and heavy reads that the primary served, because no replica had all changes, or one failed.", nil, nil)
)

func (replicasCollector) Describe(out chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{replicaUpDesc, replicaLagDesc, replicaReadsDesc, replicaPassedOverDesc} {
		out <- desc
	}
}

func (c replicasCollector) Collect(out chan<- prometheus.Metric) {
	state := c()
	counter, gauge := prometheus.CounterValue, prometheus.GaugeValue
	for _, r := range state.Each {
		up := 0.0
		if r.Up {
			up = 1
		}
		out <- prometheus.MustNewConstMetric(replicaUpDesc, gauge, up, r.Name)
		out <- prometheus.MustNewConstMetric(replicaLagDesc, gauge, r.Lag.Seconds(), r.Name)
		out <- prometheus.MustNewConstMetric(replicaReadsDesc, counter, float64(r.Reads), r.Name)
	}
	out <- prometheus.MustNewConstMetric(replicaPassedOverDesc, counter, float64(state.PassedOver))
}

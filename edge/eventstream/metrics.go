package eventstream

import "github.com/prometheus/client_golang/prometheus"

var openDesc = prometheus.NewDesc("catalogue_streams_open", "Open subscriptions and event streams.", nil, nil)

// Describe implements prometheus.Collector.
func (s *Streams) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(s, out) }

// Collect implements prometheus.Collector.
func (s *Streams) Collect(out chan<- prometheus.Metric) {
	out <- prometheus.MustNewConstMetric(openDesc, prometheus.GaugeValue, float64(s.Count()))
	s.cut.Collect(out)
}

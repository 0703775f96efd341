package respcache

import "github.com/prometheus/client_golang/prometheus"

var (
	hitsDesc   = prometheus.NewDesc("catalogue_cache_hits_total", "Responses served from the cache.", nil, nil)
	missesDesc = prometheus.NewDesc("catalogue_cache_misses_total", "Responses that were not in the cache or stale.",
		nil, nil)
	bytesDesc    = prometheus.NewDesc("catalogue_cache_bytes", "Memory used by the cache.", nil, nil)
	revisionDesc = prometheus.NewDesc("catalogue_revision",
		"Last revision read. A commit increases it by 1 to 16,777,216.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c *Cache) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, out) }

// Collect implements prometheus.Collector.
func (c *Cache) Collect(out chan<- prometheus.Metric) {
	counter, gauge := prometheus.CounterValue, prometheus.GaugeValue
	out <- prometheus.MustNewConstMetric(hitsDesc, counter, float64(c.hits.Load()))
	out <- prometheus.MustNewConstMetric(missesDesc, counter, float64(c.misses.Load()))
	out <- prometheus.MustNewConstMetric(bytesDesc, gauge, float64(c.responses.Weight()))
	out <- prometheus.MustNewConstMetric(revisionDesc, gauge, float64(c.lastRevision.Load()))
}

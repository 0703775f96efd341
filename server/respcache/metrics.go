package respcache

import "github.com/prometheus/client_golang/prometheus"

var (
	hitsDesc     = prometheus.NewDesc("catalogue_cache_hits_total", "Answers given from the cache.", nil, nil)
	missesDesc   = prometheus.NewDesc("catalogue_cache_misses_total", "Answers that were not in the cache, or out of date.", nil, nil)
	bytesDesc    = prometheus.NewDesc("catalogue_cache_bytes", "Memory that the answers in the cache take.", nil, nil)
	revisionDesc = prometheus.NewDesc("catalogue_revision", "Revision of the catalogue that was seen last. A change moves it by 1 to 16,777,216.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c *Cache) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, out) }

// Collect implements prometheus.Collector.
func (c *Cache) Collect(out chan<- prometheus.Metric) {
	counter, gauge := prometheus.CounterValue, prometheus.GaugeValue
	out <- prometheus.MustNewConstMetric(hitsDesc, counter, float64(c.hits.Load()))
	out <- prometheus.MustNewConstMetric(missesDesc, counter, float64(c.misses.Load()))
	out <- prometheus.MustNewConstMetric(bytesDesc, gauge, float64(c.answers.WeightedSize()))
	out <- prometheus.MustNewConstMetric(revisionDesc, gauge, float64(c.revision.Load()))
}

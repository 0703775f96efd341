package telemetry_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"library-catalogue/edge/telemetry"
	"library-catalogue/server/servertest"
)

// panicking is a collector that panics.
type panicking struct{}

func (panicking) Describe(out chan<- *prometheus.Desc) {
	out <- prometheus.NewDesc("test", "A test.", nil, nil)
}
func (panicking) Collect(chan<- prometheus.Metric) { panic("on purpose") }

// TestPanickingCollector reads the other metrics.
func TestPanickingCollector(t *testing.T) {
	t.Parallel()
	log := &servertest.Log{}
	observer := telemetry.New(telemetry.Config{Logger: log.Logger()})
	servertest.Must(t, observer.Register(panicking{}))
	answer := httptest.NewRecorder()
	observer.Metrics().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	if answer.Code != 200 || !strings.Contains(answer.Body.String(), "catalogue_panics_total") || !log.Has(`value="on purpose"`) {
		t.Errorf("%d %.500s\n%s", answer.Code, answer.Body, log)
	}
}

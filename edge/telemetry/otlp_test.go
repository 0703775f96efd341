package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// transport is an http.RoundTripper.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

var discard = slog.New(slog.DiscardHandler)

// newTestExporter returns an exporter whose requests reply gets.
func newTestExporter(t *testing.T, reply transport) *otlptrace.Exporter {
	t.Helper()
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://collector/v1/traces")
	e, err := newExporter(t.Context(), discard, otlptracehttp.WithHTTPClient(&http.Client{Transport: reply}))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

var oneSpan = []sdktrace.ReadOnlySpan{tracetest.SpanStub{Name: "one"}.Snapshot()}

// TestOTLPRequest sends spans with the settings of the specification.
func TestOTLPRequest(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=other")
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "api-key = a%20b,tenant=1")
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	var got tracepb.TracesData
	e := newTestExporter(t, func(r *http.Request) (*http.Response, error) {
		for name, want := range map[string]string{
			"Api-Key": "a b", "Tenant": "1", "Content-Type": "application/x-protobuf",
		} {
			if value := r.Header.Get(name); value != want {
				t.Errorf("%s: %q, want %q", name, value, want)
			}
		}
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(unpacked)
		if err != nil {
			return nil, err
		}
		return reply(http.StatusOK, nil), proto.Unmarshal(body, &got)
	})
	err := e.ExportSpans(t.Context(), oneSpan)
	if err != nil || len(got.ResourceSpans) != 1 || got.ResourceSpans[0].ScopeSpans[0].Spans[0].Name != "one" {
		t.Errorf("%v, %v", &got, err)
	}
}

func reply(status int, body []byte) *http.Response {
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Body: io.NopCloser(bytes.NewReader(body)),
		Header: http.Header{"Content-Type": {"application/x-protobuf"}, "Retry-After": {"7"}},
	}
}

// TestOTLPReplies: a busy collector is asked again after its Retry-After, and another error or rejected spans are an
// error.
func TestOTLPReplies(t *testing.T) {
	partial := []byte("\x0a\x08\x08\x03\x12\x04full")
	for name, tt := range map[string]struct {
		replies  []*http.Response
		min, max time.Duration // time of the retries
		want     string        // "" means success
	}{
		"busy": {
			// The library waits 2.5 to 7.5 s and then 3.75 to 11.25 s, or longer for Retry-After.
			[]*http.Response{reply(503, nil), reply(429, nil), reply(200, nil)}, 14 * time.Second, 18750 * time.Millisecond, "",
		},
		"bad":       {[]*http.Response{reply(400, []byte("no spans"))}, 0, 0, "Bad Request (body: no spans)"},
		"partial":   {[]*http.Response{reply(200, partial)}, 0, 0, "full (3 spans rejected)"},
		"malformed": {[]*http.Response{reply(200, partial[:4])}, 0, 0, "proto"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := newTestExporter(t, func(*http.Request) (*http.Response, error) {
					if len(tt.replies) == 0 {
						return nil, errors.New("asked too often")
					}
					next := tt.replies[0]
					tt.replies = tt.replies[1:]
					return next, nil
				})
				begun := time.Now()
				err := e.ExportSpans(t.Context(), oneSpan)
				if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%v, want %q", err, tt.want)
				}
				if took := time.Since(begun); took < tt.min || took > tt.max || len(tt.replies) > 0 {
					t.Errorf("took %v, want %v to %v; %d replies left", took, tt.min, tt.max, len(tt.replies))
				}
			})
		})
	}
}

// TestOTLPStop: Shutdown ends the wait for the next attempt.
func TestOTLPStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := newTestExporter(t, func(*http.Request) (*http.Response, error) { return reply(503, nil), nil })
		done := make(chan error, 1)
		go func() { done <- e.ExportSpans(t.Context(), oneSpan) }()
		synctest.Wait()
		begun := time.Now()
		if err := e.Shutdown(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
		if err := <-done; err == nil || time.Since(begun) > 0 {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
	})
}

// TestOTLPSettings trusts the certificate of a collector that the system does not, and refuses invalid settings
// without quoting a secret.
func TestOTLPSettings(t *testing.T) {
	collector := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer collector.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: collector.Certificate().Raw})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", file)
	e, err := newExporter(t.Context(), discard)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.ExportSpans(t.Context(), oneSpan); err != nil {
		t.Error(err)
	}
	if err := e.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_CERTIFICATE": file + "x", "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": file,
		"OTEL_EXPORTER_OTLP_TIMEOUT": "soon", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "hunter2",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			_, err := newExporter(t.Context(), discard)
			if err == nil || !strings.Contains(err.Error(), name) || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%s=%s: %v", name, value, err)
			}
		})
	}
}

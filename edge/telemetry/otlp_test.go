package telemetry

import (
	"bytes"
	"compress/gzip"
	"encoding/pem"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// transport is an http.RoundTripper.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }

func newTestClient(t *testing.T, endpoint string) *otlpClient {
	t.Helper()
	u, err := url.Parse(endpoint)
	if err != nil {
		t.Fatal(err)
	}
	c, err := newOTLPClient(u)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var oneSpan = []*tracepb.ResourceSpans{{SchemaUrl: "one"}}

// TestOTLPRequest sends spans with the settings of the specification.
func TestOTLPRequest(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=other")
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "api-key = a%20b,tenant=1")
	t.Setenv("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip")
	t.Setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "2500")
	c := newTestClient(t, "http://collector/v1/traces")
	if c.http.Timeout != 2500*time.Millisecond {
		t.Errorf("timeout %v", c.http.Timeout)
	}
	var got tracepb.TracesData
	c.http.Transport = transport(func(r *http.Request) (*http.Response, error) {
		for name, want := range map[string]string{"Api-Key": "a b", "Tenant": "1", "Content-Type": "application/x-protobuf"} {
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
	if err := c.UploadTraces(t.Context(), oneSpan); err != nil || len(got.ResourceSpans) != 1 || got.ResourceSpans[0].SchemaUrl != "one" {
		t.Errorf("%v, %v", &got, err)
	}
}

func reply(status int, body []byte) *http.Response {
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Body: io.NopCloser(bytes.NewReader(body)),
		Header: http.Header{"Content-Type": {"application/x-protobuf"}, "Retry-After": {"7"}},
	}
}

// TestOTLPReplies: a busy collector is asked again, another error is returned, and rejected spans are an error.
func TestOTLPReplies(t *testing.T) {
	partial := []byte("\x0a\x08\x08\x03\x12\x04full")
	for name, tt := range map[string]struct {
		replies []*http.Response
		took    time.Duration
		want    string // "" means success
	}{
		"busy":      {[]*http.Response{reply(503, nil), reply(429, nil), reply(200, nil)}, 7*time.Second + 10*time.Second, ""},
		"bad":       {[]*http.Response{reply(400, []byte("no spans"))}, 0, "Bad Request: no spans"},
		"partial":   {[]*http.Response{reply(200, partial)}, 0, "rejected 3 spans: full"},
		"malformed": {[]*http.Response{reply(200, partial[:4])}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newTestClient(t, "http://me:hunter2@collector/v1/traces")
				c.http.Transport = transport(func(*http.Request) (*http.Response, error) {
					if len(tt.replies) == 0 {
						return nil, errors.New("asked too often")
					}
					next := tt.replies[0]
					tt.replies = tt.replies[1:]
					return next, nil
				})
				begun := time.Now()
				err := c.UploadTraces(t.Context(), oneSpan)
				if (err == nil) != (tt.want == "") || err != nil && (!strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter2")) {
					t.Errorf("%v, want %q", err, tt.want)
				}
				if took := time.Since(begun); took != tt.took || len(tt.replies) > 0 {
					t.Errorf("took %v, want %v; %d replies left", took, tt.took, len(tt.replies))
				}
			})
		})
	}
}

// TestOTLPStop: Stop ends the wait for the next attempt.
func TestOTLPStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTestClient(t, "http://collector/v1/traces")
		c.http.Transport = transport(func(*http.Request) (*http.Response, error) { return reply(503, nil), nil })
		done := make(chan error, 1)
		go func() { done <- c.UploadTraces(t.Context(), oneSpan) }()
		synctest.Wait()
		begun := time.Now()
		if err := c.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-done; err == nil || time.Since(begun) > 0 {
			t.Errorf("%v after %v", err, time.Since(begun))
		}
	})
}

// TestOTLPCertificate trusts the certificate of a collector that the system does not.
func TestOTLPCertificate(t *testing.T) {
	collector := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer collector.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: collector.Certificate().Raw})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", file)
	c := newTestClient(t, collector.URL)
	if err := c.UploadTraces(t.Context(), oneSpan); err != nil {
		t.Error(err)
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	for name, value := range map[string]string{
		"OTEL_EXPORTER_OTLP_CERTIFICATE": file + "x", "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": file,
		"OTEL_EXPORTER_OTLP_TIMEOUT": "soon", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "key",
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(name, value)
			if _, err := newOTLPClient(new(url.URL)); err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s=%s: %v", name, value, err)
			}
		})
	}
}

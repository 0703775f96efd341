package telemetry

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"library-catalogue/task"
)

const (
	otlpTimeout   = 10 * time.Second // of one request; the specification's default
	firstPause    = 5 * time.Second  // before the second attempt; it doubles until the deadline of the batch
	maxReplyBytes = 64 << 10
)

// otlpClient implements otlptrace.Client: it sends spans by OTLP over HTTP (opentelemetry.io/docs/specs/otlp).
// It replaces otlptracehttp, which links gRPC for messages of HTTP: 107 packages, 7 % of the first build.
type otlpClient struct {
	endpoint *url.URL
	header   http.Header
	http     http.Client
	life     context.Context // canceled by Stop
	end      context.CancelFunc
}

// otlpVariable returns the name and value of a setting, which may be for traces alone.
func otlpVariable(setting string) (name, value string) {
	name = "OTEL_EXPORTER_OTLP_TRACES_" + setting
	if os.Getenv(name) == "" {
		name = "OTEL_EXPORTER_OTLP_" + setting
	}
	return name, strings.TrimSpace(os.Getenv(name))
}

// newOTLPClient returns a client for a collector, configured by the variables of the specification.
func newOTLPClient(endpoint *url.URL) (*otlpClient, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	c := &otlpClient{endpoint: endpoint, header: http.Header{}, http: http.Client{Transport: transport, Timeout: otlpTimeout}}
	c.life, c.end = context.WithCancel(context.Background())
	name, headers := otlpVariable("HEADERS")
	for pair := range strings.SplitSeq(headers, ",") {
		key, value, found := strings.Cut(pair, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if err != nil || !found && pair != "" {
			return nil, fmt.Errorf("%s must be like name=value,name=value, percent-encoded", name)
		}
		if found {
			c.header.Set(strings.TrimSpace(key), value)
		}
	}
	c.header.Set("Content-Type", "application/x-protobuf")
	if _, compression := otlpVariable("COMPRESSION"); compression == "gzip" {
		c.header.Set("Content-Encoding", compression)
	}
	if name, timeout := otlpVariable("TIMEOUT"); timeout != "" {
		ms, err := strconv.Atoi(timeout)
		if err != nil || ms <= 0 {
			return nil, fmt.Errorf("%s must be a number of milliseconds", name)
		}
		c.http.Timeout = time.Duration(ms) * time.Millisecond
	}
	var err error
	transport.TLSClientConfig, err = otlpTLS()
	return c, err
}

// otlpTLS returns the certificates of the collector and of this client; nil means the system's and none.
func otlpTLS() (*tls.Config, error) {
	name, file := otlpVariable("CERTIFICATE")
	_, certificate := otlpVariable("CLIENT_CERTIFICATE")
	_, key := otlpVariable("CLIENT_KEY")
	if file == "" && certificate == "" {
		return nil, nil
	}
	config := new(tls.Config)
	if file != "" {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading the file of %s: %w", name, err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("%s must name a PEM file with certificates", name)
		}
	}
	if certificate != "" {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("reading OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY: %w", err)
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return config, nil
}

func (c *otlpClient) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client. It cancels running requests.
func (c *otlpClient) Stop(context.Context) error {
	c.end()
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. It repeats a request that the collector could not serve now.
func (c *otlpClient) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	// TracesData has the same encoding as ExportTraceServiceRequest.
	body, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: spans})
	if err != nil {
		return err
	}
	if c.header.Get("Content-Encoding") != "" {
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		_, _ = w.Write(body) // a Buffer never fails
		_ = w.Close()
		body = packed.Bytes()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer task.OnDone(c.life, cancel)()
	for pause := firstPause; ; pause *= 2 {
		after, err := c.send(ctx, body)
		if after < 0 {
			return err
		}
		select {
		case <-time.After(max(after, pause)):
		case <-ctx.Done():
			return err
		}
	}
}

// send sends one request. A retry is useful after the returned time; a negative time means that it is not.
func (c *otlpClient) send(ctx context.Context, body []byte) (after time.Duration, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint.String(), bytes.NewReader(body))
	if err != nil {
		return -1, err
	}
	request.Header = c.header
	response, err := c.http.Do(request)
	switch {
	case os.IsTimeout(err):
		return 0, err
	case err != nil:
		return -1, err
	}
	defer response.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(response.Body, maxReplyBytes))
	switch response.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		seconds, _ := strconv.ParseUint(response.Header.Get("Retry-After"), 10, 16)
		after = time.Duration(seconds) * time.Second
	default:
		after = -1
	}
	switch {
	case response.StatusCode < 200 || response.StatusCode > 299:
		return after, fmt.Errorf("the collector at %s returned %s: %s", c.endpoint.Redacted(), response.Status, cmp.Or(Truncate(string(reply)), "(empty)"))
	case err == nil && response.Header.Get("Content-Type") == "application/x-protobuf":
		err = partialSuccess(reply)
	}
	return -1, err
}

// partialSuccess returns an error if the collector's ExportTraceServiceResponse says that it rejected spans.
func partialSuccess(reply []byte) error {
	field := func(message []byte, want protowire.Number) (value []byte) {
		for len(message) > 0 {
			number, kind, n := protowire.ConsumeTag(message)
			size := protowire.ConsumeFieldValue(number, kind, message[max(n, 0):])
			if n < 0 || size < 0 {
				return nil
			}
			if number == want {
				value = message[n : n+size]
			}
			message = message[n+size:]
		}
		return value
	}
	result, _ := protowire.ConsumeBytes(field(reply, 1))
	rejected, _ := protowire.ConsumeVarint(field(result, 1))
	text, _ := protowire.ConsumeBytes(field(result, 2))
	if rejected == 0 && len(text) == 0 {
		return nil
	}
	return fmt.Errorf("the collector rejected %d spans: %s", rejected, text)
}

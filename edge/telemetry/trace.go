package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"library-catalogue/db/stats"
)

// Tracing sends spans of requests, GraphQL operations and SQL statements to an OpenTelemetry collector. Attributes
// follow OpenTelemetry's semantic conventions.
type Tracing struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
	system   string // db.system.name
}

// NewTracing returns a Tracing configured by the OTEL_* variables of the OpenTelemetry specification. It returns
// nil if neither OTEL_EXPORTER_OTLP_ENDPOINT nor OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is set, or tracing is disabled.
// The only protocol is http/protobuf. database is postgresql or sqlite. Failures to send are logged.
func NewTracing(ctx context.Context, version, database string, log *slog.Logger) (*Tracing, error) {
	variable, endpoint := otlpVariable("ENDPOINT")
	if endpoint == "" || strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") ||
		os.Getenv("OTEL_TRACES_EXPORTER") == "none" {
		return nil, nil
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil ||
		u.RawQuery != "" {
		return nil, fmt.Errorf("%s must be an http or https URL without credentials, such as http://localhost:4318 "+
			"(credentials belong in %sHEADERS)", variable, otlpPrefix)
	}
	const protocol = "http/protobuf"
	if _, p := otlpVariable("PROTOCOL"); p != "" && p != protocol {
		return nil, fmt.Errorf("%sPROTOCOL %s is not supported: set it to %s, and use the collector's port for it "+
			"(often 4318)", otlpPrefix, p, protocol)
	}
	exporter, err := newExporter(ctx, log)
	if err != nil {
		return nil, err
	}
	res, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "catalogue"),
			attribute.String("service.version", version)),
		resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("reading OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("tracing", "error", Truncate(err.Error())) }))
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(res))
	return &Tracing{provider: provider, tracer: provider.Tracer("library-catalogue/server"), system: database}, nil
}

// Shutdown sends the remaining spans and stops the exporter.
func (t *Tracing) Shutdown(ctx context.Context) error { return t.provider.Shutdown(ctx) }

// requests starts a span for each request, except probes. It continues the trace of a traceparent header
// (www.w3.org/TR/trace-context).
func (t *Tracing) requests(next http.Handler, endpoint func(*http.Request) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if endpoint(r) == Other {
			next.ServeHTTP(w, r)
			return
		}
		scheme := "http"
		if r.TLS != nil {
			scheme = "https"
		}
		host, _, _ := net.SplitHostPort(r.Host)
		peer, _, _ := net.SplitHostPort(r.RemoteAddr)
		forwarded, _, _ := strings.Cut(r.Header.Get("X-Forwarded-For"), ",")
		ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, span := t.tracer.Start(ctx, r.Method+" "+r.URL.Path, trace.WithSpanKind(trace.SpanKindServer),
			trace.WithAttributes(
				attribute.String("http.request.method", r.Method), attribute.String("url.scheme", scheme),
				attribute.String("url.path", r.URL.Path),
				attribute.String("server.address", cmp.Or(host, r.Host)),
				attribute.String("network.peer.address", peer),
				attribute.String("client.address", cmp.Or(strings.TrimSpace(forwarded), peer)),
				attribute.String("user_agent.original", r.UserAgent()),
				attribute.String("network.protocol.version", strings.TrimPrefix(r.Proto, "HTTP/"))))
		defer span.End()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// completed adds the attributes of a completed request to its span; aborted means that the response ended early.
func (t *Tracing) completed(ctx context.Context, endpoint string, out *recorder, aborted bool) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(attribute.String("catalogue.request_id", out.request.ID),
		attribute.Int("http.response.status_code", out.status))
	if aborted || out.status >= http.StatusInternalServerError {
		span.SetStatus(otelcodes.Error, "")
	}
	if operation := out.request.Operation.Load(); endpoint == REST && operation != nil {
		_, route, _ := strings.Cut(operation.Label, " ")
		span.SetName(operation.Label)
		span.SetAttributes(attribute.String("http.route", route))
	}
}

// statement adds the span of a completed statement to the span in ctx, if there is one.
func (t *Tracing) statement(ctx context.Context, s stats.Statement) {
	if !trace.SpanFromContext(ctx).IsRecording() {
		return
	}
	command, _, _ := strings.Cut(s.Text, " ")
	_, span := t.tracer.Start(ctx, command, trace.WithTimestamp(s.Begun), trace.WithSpanKind(trace.SpanKindClient),
		trace.WithAttributes(
			attribute.String("db.system.name", t.system), attribute.String("db.operation.name", command),
			attribute.String("db.query.text", s.Text)))
	if s.Fault != "" {
		span.SetStatus(otelcodes.Error, string(s.Fault))
		span.SetAttributes(attribute.String("error.type", string(s.Fault)))
	}
	span.End(trace.WithTimestamp(s.Begun.Add(s.Took)))
}

// StartOperation starts the span of a GraphQL operation. end ends it with the reason of a failure; "" means
// success.
func (o *Observer) StartOperation(
	ctx context.Context, kind, name string,
) (_ context.Context, end func(failure string)) {
	if o.tracing == nil {
		return ctx, func(string) {}
	}
	ctx, span := o.tracing.tracer.Start(ctx, strings.TrimSpace(kind+" "+name), trace.WithAttributes(
		attribute.String("graphql.operation.type", kind), attribute.String("graphql.operation.name", name)))
	return ctx, func(failure string) {
		if failure != "" {
			span.SetStatus(otelcodes.Error, failure)
		}
		span.End()
	}
}

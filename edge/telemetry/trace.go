package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"

	"go.opentelemetry.io/contrib/instrumentation/net/http/otelhttp"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	otelcodes "go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
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
	variable := "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	if os.Getenv(variable) == "" {
		variable = "OTEL_EXPORTER_OTLP_ENDPOINT"
	}
	endpoint := os.Getenv(variable)
	if endpoint == "" || strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || os.Getenv("OTEL_TRACES_EXPORTER") == "none" {
		return nil, nil
	}
	if u, err := url.Parse(endpoint); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" { // the exporter would send to localhost
		return nil, fmt.Errorf("%s must be an http or https URL, such as http://localhost:4318", variable)
	}
	const protocol = "http/protobuf"
	if p := cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"), os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"), protocol); p != protocol {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL %s is not supported: set it to %s, and use the collector's port for it (often 4318)", p, protocol)
	}
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("starting the trace exporter: %w", err)
	}
	res, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(attribute.String("service.name", "catalogue"), attribute.String("service.version", version)),
		resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("reading OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Warn("tracing", "error", err) }))
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(res))
	return &Tracing{provider: provider, tracer: provider.Tracer("library-catalogue/server"), system: database}, nil
}

// Shutdown sends the remaining spans and stops the exporter.
func (t *Tracing) Shutdown(ctx context.Context) error { return t.provider.Shutdown(ctx) }

// requests starts a span for each request, except probes. It continues the trace of a traceparent header
// (www.w3.org/TR/trace-context).
func (t *Tracing) requests(next http.Handler, endpoint func(*http.Request) string) http.Handler {
	return otelhttp.NewHandler(next, "",
		otelhttp.WithTracerProvider(t.provider),
		otelhttp.WithPropagators(propagation.TraceContext{}),
		otelhttp.WithFilter(func(r *http.Request) bool { return endpoint(r) != Other }),
		otelhttp.WithSpanNameFormatter(func(_ string, r *http.Request) string { return r.Method + " " + r.URL.Path }))
}

// completed adds the attributes of a completed request to its span.
func (t *Tracing) completed(ctx context.Context, endpoint string, request *Request) {
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(attribute.String("catalogue.request_id", request.ID))
	if operation := request.Operation.Load(); endpoint == REST && operation != nil {
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
	_, span := t.tracer.Start(ctx, command, trace.WithTimestamp(s.Begun), trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(
		attribute.String("db.system.name", t.system), attribute.String("db.operation.name", command), attribute.String("db.query.text", s.Text)))
	if s.Fault != "" {
		span.SetStatus(otelcodes.Error, string(s.Fault))
		span.SetAttributes(attribute.String("error.type", string(s.Fault)))
	}
	span.End(trace.WithTimestamp(s.Begun.Add(s.Took)))
}

// StartOperation starts the span of a GraphQL operation. end ends it with the reason of a failure; "" means
// success.
func (o *Observer) StartOperation(ctx context.Context, kind, name string) (_ context.Context, end func(failure string)) {
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

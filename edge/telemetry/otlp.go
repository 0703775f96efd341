package telemetry

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"strings"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
)

const otlpPrefix = "OTEL_EXPORTER_OTLP_"

// otlpVariable returns the name and value of a setting, which may be for traces alone.
func otlpVariable(setting string) (name, value string) {
	name = otlpPrefix + "TRACES_" + setting
	if os.Getenv(name) == "" {
		name = otlpPrefix + setting
	}
	return name, strings.TrimSpace(os.Getenv(name))
}

// newExporter returns an exporter to a collector by OTLP over HTTP (opentelemetry.io/docs/specs/otlp), configured by
// the variables of the specification. An invalid value is an error; otlptracehttp alone would log and ignore it.
func newExporter(ctx context.Context, log *slog.Logger, options ...otlptracehttp.Option) (*otlptrace.Exporter, error) {
	certificate, hasCertificate := otlpVariable("CLIENT_CERTIFICATE")
	key, hasKey := otlpVariable("CLIENT_KEY")
	if (hasCertificate == "") != (hasKey == "") {
		return nil, fmt.Errorf("set both %s and %s, or neither", certificate, key)
	}
	var problems strings.Builder
	otel.SetLogger(
		logr.FromSlogHandler(slog.NewTextHandler(&problems, &slog.HandlerOptions{ReplaceAttr: withoutValues})))
	exporter, err := otlptracehttp.New(ctx, options...)
	otel.SetLogger(logr.FromSlogHandler(log.Handler()))
	switch {
	case err != nil:
		return nil, fmt.Errorf("starting the trace exporter: %w", err)
	case problems.Len() > 0:
		return nil, fmt.Errorf("one of %s is invalid: %s", strings.Join(otlpVariables(), ", "),
			strings.TrimSpace(problems.String()))
	}
	return exporter, nil
}

// withoutValues keeps the cause of a record, and removes the value of a variable, which may be a secret.
func withoutValues(_ []string, a slog.Attr) slog.Attr {
	switch a.Key {
	case slog.MessageKey, "err", "file":
		return a
	}
	return slog.Attr{}
}

// otlpVariables returns the names of the variables that are set.
func otlpVariables() (names []string) {
	for _, variable := range os.Environ() {
		if name, value, _ := strings.Cut(variable, "="); strings.HasPrefix(name, otlpPrefix) && value != "" {
			names = append(names, name)
		}
	}
	return names
}

package server

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"library-catalogue/db/stats"
	"library-catalogue/graph/model"
)

// The faces, as metrics name them.
const (
	faceGraphQL = "graphql"
	faceREST    = "rest"
	faceOther   = "other"
)

func faceOf(r *http.Request) string {
	switch {
	case r.URL.Path == graphQLPath:
		return faceGraphQL
	case inAPI(r):
		return faceREST
	}
	return faceOther
}

// answered notes a request that has been answered, or whose answer was aborted
// in its middle.
func (o *Observer) answered(ctx context.Context, r *http.Request, out *recorder, took time.Duration, id string, aborted bool) {
	face, label, name := faceOf(r), "other", ""
	operation := out.stats.Operation()
	if operation != nil {
		label, name = operation.Label, operation.Name
	}
	o.metrics.request(face, label, strconv.Itoa(out.status), took, out.stats, out.statements.Statements())
	if aborted {
		o.metrics.aborted.Inc()
	}
	if o.tracing != nil {
		o.tracing.answered(ctx, face, operation, id)
	}

	level := slog.LevelInfo
	if face == faceOther && out.status < http.StatusBadRequest {
		level = slog.LevelDebug // probes come all the time
	}
	if handler := slog.Default().Handler(); handler.Enabled(ctx, level) {
		record := slog.NewRecord(time.Now(), level, "request", 0) // it is always this place: nobody needs the source
		record.AddAttrs(appendAttrs(make([]slog.Attr, 0, 10), r, out, name, took, id, aborted)...)
		_ = handler.Handle(ctx, record) // as slog does
	}

	if o.slow > 0 && out.statements.DatabaseTime() >= o.slow {
		logSlow(ctx, r, operation, out.statements, took, id)
	}
}

// appendAttrs appends what the log tells of a request.
func appendAttrs(attrs []slog.Attr, r *http.Request, out *recorder, name string, took time.Duration, id string, aborted bool) []slog.Attr {
	attrs = append(attrs, slog.String("method", r.Method), slog.String("path", clip(r.URL.Path)), slog.Int("status", out.status),
		slog.Float64("took_ms", milliseconds(took)), slog.Int("statements", out.statements.Statements()), slog.String("request_id", id))
	if name != "" {
		attrs = append(attrs, slog.String("operation", name))
	}
	if aborted {
		attrs = append(attrs, slog.Bool("aborted", true))
	}
	if errors := out.stats.Errors(); errors != nil { // GraphQL answers them with status 200
		attrs = append(attrs, slog.String("errors", strings.Join(errors, " ")))
	}
	if reason := out.stats.TokenRefusal(); reason != "" {
		attrs = append(attrs, slog.String("token_refused", reason))
	}
	return attrs
}

// maxText is how many bytes are logged of a text that may be long.
const maxText = 500

// clip cuts a text for the log.
func clip(text string) string {
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}

// logSlow tells of a request that spent long in the database, or waiting for a
// connection to it.
func logSlow(ctx context.Context, r *http.Request, operation *model.Operation, statements *stats.Record, took time.Duration, id string) {
	attrs := []slog.Attr{slog.String("method", r.Method), slog.String("path", clip(r.URL.Path))}
	if operation != nil {
		attrs = append(attrs, slog.String("operation", operation.Name), slog.String("label", operation.Label))
		if operation.Document != "" {
			hash := sha256.Sum256([]byte(operation.Document)) // as persisted queries name it
			attrs = append(attrs, slog.String("document_sha256", hex.EncodeToString(hash[:])))
		}
	}
	var slowest []string
	for _, s := range statements.Slowest() {
		text := clip(strings.Join(strings.Fields(s.Text), " "))
		slowest = append(slowest, fmt.Sprintf("%.3f ms: %s", milliseconds(s.Took), text))
	}
	attrs = append(attrs, slog.Float64("took_ms", milliseconds(took)), slog.Float64("database_ms", milliseconds(statements.DatabaseTime())),
		slog.Int("statements", statements.Statements()), slog.Any("slowest", slowest), slog.String("request_id", id))
	slog.LogAttrs(ctx, slog.LevelWarn, "slow query", attrs...)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

package telemetry_test

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"library-catalogue/db/dbtest/catalogtest"
	"library-catalogue/edge/telemetry"
	"library-catalogue/server"
	"library-catalogue/server/servertest"
)

// span is one that arrived at a collector.
type span struct {
	name, trace, id, parent string
	attributes              map[string]string
	failed                  bool
}

// collect lets what is started from now on send its traces to a collector. stop
// sends what is left and gives them.
func collect(t *testing.T) (spans func() []span) {
	t.Helper()
	var mu sync.Mutex
	var got []span
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		var export tracepb.TracesData
		if err := proto.Unmarshal(body, &export); err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s: %v", r.URL, err)
		}
		mu.Lock()
		defer mu.Unlock()
		for _, resource := range export.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				for _, s := range scope.Spans {
					attributes := map[string]string{}
					for _, a := range s.Attributes {
						attributes[a.Key] = a.Value.GetStringValue()
						if n := a.Value.GetIntValue(); n != 0 {
							attributes[a.Key] = strconv.FormatInt(n, 10)
						}
					}
					for _, a := range resource.Resource.Attributes {
						attributes[a.Key] = a.Value.GetStringValue()
					}
					hex := func(b []byte) string { return fmt.Sprintf("%x", b) }
					got = append(got, span{s.Name, hex(s.TraceId), hex(s.SpanId), hex(s.ParentSpanId), attributes, s.Status.GetCode() != 0})
				}
			}
		}
	}))
	t.Cleanup(collector.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	return func() []span {
		mu.Lock()
		defer mu.Unlock()
		return got
	}
}

// TestTraces sends the spans of requests to a collector.
func TestTraces(t *testing.T) {
	catalogtest.Each(t, func(t *testing.T, url string) {
		spans := collect(t)
		c := servertest.Serve(t, url)
		c.Shelves(t)
		tracing, err := telemetry.NewTracing(t.Context(), "v1", c.Store.System(), c.Log.Logger())
		servertest.Must(t, err)
		logger := slog.New(telemetry.LogHandler(c.Log.Logger().Handler()))
		observer := telemetry.New(telemetry.Config{Logger: logger, Checks: c.Store.Checks, Tracing: tracing})
		c.Store.Observe(observer.Statement)
		c.Reconfigure(t, server.Config{Observer: observer})
		const trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
		c.Do(http.MethodPost, "/graphql", `{"query":"query Shelf { books { nodes { name genre { name } } } }"}`, "traceparent: 00-"+trace+"-"+parent+"-01")
		c.Do(http.MethodGet, "/api/books/1", "")
		c.Do(http.MethodGet, "/readyz", "")
		servertest.Must(t, tracing.Shutdown(t.Context()))
		system := map[bool]string{true: "sqlite", false: "postgresql"}[strings.HasPrefix(url, "sqlite")]
		byName := map[string][]span{}
		for _, s := range spans() {
			byName[s.name] = append(byName[s.name], s)
			if s.attributes["service.name"] != "catalogue" || s.attributes["service.version"] != "v1" {
				t.Errorf("%s is of %v", s.name, s.attributes)
			}
		}
		request, operation, read, item := byName["POST /graphql"], byName["query Shelf"], byName["SELECT"], byName["GET /api/books/{id}"]
		if len(request) != 1 || len(operation) != 1 || len(read) < 2 || len(item) != 1 {
			t.Fatalf("the spans are %+v", spans())
		}
		if request[0].trace != trace || request[0].parent != parent || request[0].attributes["catalogue.request_id"] != "test" {
			t.Errorf("the request: %+v", request[0])
		}
		for name, want := range map[string]string{"http.request.method": "GET", "url.path": "/api/books/1", "http.response.status_code": "200"} {
			if got := item[0].attributes[name]; got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		if operation[0].parent != request[0].id || operation[0].attributes["graphql.operation.type"] != "query" {
			t.Errorf("the operation: %+v", operation[0])
		}
		if item[0].attributes["http.route"] != "/api/books/{id}" || item[0].parent != "" {
			t.Errorf("the request by REST: %+v", item[0])
		}
		inOperation := 0
		for _, s := range read {
			if s.parent == operation[0].id {
				inOperation++
			}
			if s.attributes["db.system.name"] != system || !strings.HasPrefix(s.attributes["db.query.text"], "SELECT") {
				t.Errorf("a statement: %+v", s)
			}
		}
		if inOperation == 0 {
			t.Errorf("no statement belongs to the operation: %+v", read)
		}
		for name := range byName {
			if strings.Contains(name, "readyz") {
				t.Error("a probe is traced")
			}
		}
		if line := "msg=request method=POST path=/graphql"; !c.Log.Has("trace_id="+trace) || c.Log.Find(line+`.*trace_id=`+trace) == "" {
			t.Errorf("the log does not name the trace: %s", c.Log.Find(line))
		}
	})
}

// TestNoTraces: without an endpoint nothing is made, and a protocol that is not
// there is refused.
func TestNoTraces(t *testing.T) {
	for name, value := range map[string]string{"OTEL_SDK_DISABLED": "true", "OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": ""} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://localhost:4318")
			t.Setenv(name, value)
			if tracing, err := telemetry.NewTracing(t.Context(), "v1", "sqlite", slog.New(slog.DiscardHandler)); tracing != nil || err != nil {
				t.Errorf("%v, %v", tracing, err)
			}
		})
	}
	for _, endpoint := range []string{"zz:::", "localhost:4318", "http://", "ftp://localhost", "http://me:hunter2@collector:4318"} {
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
		if _, err := telemetry.NewTracing(t.Context(), "v1", "sqlite", slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "OTEL_EXPORTER_OTLP_ENDPOINT must be") ||
			strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", endpoint, err)
		}
	}
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://localhost:4317")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	if _, err := telemetry.NewTracing(t.Context(), "v1", "sqlite", slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), "http/protobuf") {
		t.Errorf("grpc: %v", err)
	}
}
